/** Draws a scene as one SVG. The file needs no script and no other file. It is light or dark by the setting of its reader. */
import { markup } from "../text/Escape.ts"
import { inner } from "./Figure.ts"
import { sheet, whole } from "./Layout.ts"
import type { Scene } from "../scene/Scene.ts"
import { figure } from "./Style.ts"
import { sentenceOf } from "../recording/Outcome.ts"
import { amount } from "../recording/Totals.ts"
import { clip, count, duration } from "../text/Words.ts"

/** The options of `draw`. */
interface Options {
  /** The width in pixels; 1,000 by default. The height follows from the lanes. */
  readonly width?: number
  /** The title of the picture; by default the agents of the runs without a parent in the recording. */
  readonly title?: string
}

/**
 * Draws a scene as the text of one SVG. The number of boxes is bounded by the width in pixels, and not by the number of events: boxes
 * narrower than a pixel are joined.
 */
export const draw = (scene: Scene, options?: Options): string => {
  const width = Math.max(320, options?.width ?? 1000)
  const drawn = sheet(scene)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 ${width} ${drawn.height}" width="${width}" height="${drawn.height}">`,
    `<title id="k-title">${markup(options?.title ?? titleOf(scene))}</title>`,
    `<desc id="k-desc">${markup(describe(scene))}</desc>`,
    `<style>${figure}</style>`,
    `<rect class="k-paper" width="100%" height="100%"/>`,
    inner(drawn, width, whole(drawn)),
    "</svg>"
  ].join("")
}

/**
 * The title of a picture without a title of its own: the number of runs, and the names of their agents.
 *
 * @internal
 */
export const titleOf = (scene: Scene): string => {
  const agents = scene.tracks.filter(({ depth }) => depth === 0).map(({ agent }) => agent)
  if (agents.length === 0) return "No run"
  const named = agents
    .slice(0, 3)
    .map((agent) => clip(agent, 40))
    .join(", ")
  return `${scene.totals.runs === 1 ? "A run" : count(scene.totals.runs, "run")} of ${named}${agents.length > 3 ? ` and ${agents.length - 3} more` : ""}`
}

/**
 * Describes a scene in sentences, for readers who do not see the picture: its outcome, then its sums.
 *
 * @internal
 */
export const describe = ({ from, outcome, problems, to, totals }: Scene): string =>
  [
    ...(outcome === undefined ? [] : [sentenceOf(outcome)]),
    `${duration(to - from)} from beginning to end.`,
    `${count(totals.turns, "turn")}, ${count(totals.work.attempts + totals.recovery.attempts, "attempt")} of models, ${count(totals.toolCalls, "tool call")}.`,
    `${count(totals.modelFailures + totals.toolFailures, "failure")}, ${totals.sendFailures > 0 ? `${count(totals.sendFailures, "failed send")}, ` : ""}${count(totals.verdicts, "verdict")}, ${duration(totals.waited)} of waits.`,
    `Spent on recovery: ${amount(totals.recovery, totals.isPriced)}. Spent on work: ${amount(totals.work, totals.isPriced)}.`,
    ...problems.map(({ line, says }) => (line === undefined ? says : `Line ${line}: ${says}`)).slice(0, 5)
  ].join(" ")
