/** A scene as one SVG, complete in itself: it needs no script and no other file, and is light or dark as its reader is. */
import * as Axis from "./axis.ts"
import { markup } from "./escape.ts"
import { type Box, boxesOf, type Dot, dotsOf, scaleOf, type Sheet, sheet, top, whole, type Window } from "./layout.ts"
import type { Scene } from "./Scene.ts"
import type { Layer, Track } from "./shapes.ts"
import { figure } from "./style.ts"
import { count, duration, money } from "./words.ts"

/** How it is drawn. */
export interface Options {
  /** In pixels; 1,000 by default. The height follows from the lanes. */
  readonly width?: number
  /** What the picture is called; by default the agents that nobody in the recording has started. */
  readonly title?: string
}

/** Draws all of a scene. However many events it has, the picture holds no more boxes than its pixels can show. */
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
 * What is drawn within the picture: the same in a page, where the style stands elsewhere, and titles would hide what a pointer shows.
 *
 * @internal
 */
export const inner = (drawn: Sheet, width: number, window: Window, isTitled = true): string => {
  const parts: Array<string> = []
  const { left, right, x } = scaleOf(width, window)
  for (const { drawn: at, label } of Axis.ticks(
    drawn.axis,
    Math.max(0, window.start),
    window.end,
    (right - left) / 90
  )) {
    const px = round(x(at))
    if (px < left - 1 || px > right + 1) continue
    parts.push(`<path class="k-axis" d="M${px} ${top - 6}V${drawn.height - 4}"/>`)
    parts.push(`<text class="k-quiet k-small" x="${px}" y="${top - 12}" text-anchor="middle">${label}</text>`)
  }
  for (const { end, from, start, to } of drawn.axis.breaks) {
    const [a, b] = [round(x(start)), round(x(end))]
    if (b < left || a > right) continue
    parts.push(
      `<rect class="k-raised" x="${a}" y="${top - 6}" width="${round(b - a)}" height="${drawn.height - top}"/>`
    )
    parts.push(
      `<text class="k-quiet k-small" text-anchor="middle" transform="translate(${round((a + b) / 2 + 3)} ${round((top + drawn.height) / 2)}) rotate(-90)">${duration(to - from)} later</text>`
    )
  }
  for (const { track, y } of drawn.headings) parts.push(heading(track, y))
  for (const { depth, height, layer, y } of drawn.captions)
    parts.push(
      `<text class="k-quiet k-small" x="${indent(depth) + 12}" y="${round(y + Math.min(height, 24) / 2 + 3.5)}">${names[layer]}</text>`
    )
  for (const row of drawn.rows)
    boxesOf(drawn, row, width, window, (box) => parts.push(boxed(drawn, box, left, isTitled)))
  for (const row of drawn.rows) dotsOf(drawn, row, width, window, (dot) => parts.push(dotted(drawn, dot, isTitled)))
  return parts.join("")
}

/** The layers in words. */
export const names: Readonly<Record<Layer, string>> = {
  run: "run",
  turn: "turns",
  model: "model",
  transport: "transport",
  tool: "tools",
  fixer: "fixing"
}

/** What a track is called besides its agent. */
export const kinds: Readonly<Record<Track["kind"], string>> = { run: "", fixer: "fixer ", agent: "sub-agent " }

/** Where the names of a track begin. */
export const indent = (depth: number): number => 8 + Math.min(depth, 5) * 10

const heading = ({ agent, depth, kind }: Track, y: number): string =>
  `<text class="k-text k-name" x="${indent(depth)}" y="${y + 4}">${kinds[kind] === "" ? "" : `<tspan class="k-quiet">${kinds[kind]}</tspan>`}${markup(fitting(agent, 200))}</text>`

const round = (pixels: number): number => Math.round(pixels * 100) / 100

/** A text that is about so wide at the most: letters are taken for 6 pixels, those of Asian scripts for 11. */
export const fitting = (text: string, width: number): string => {
  let used = 0
  let kept = ""
  for (const character of text) {
    used += (character.codePointAt(0) ?? 0) > 0x2e7f ? 11 : 6
    if (used > width) return kept.length < 2 ? "" : `${kept.slice(0, -1)}…`
    kept += character
  }
  return kept
}

const boxed = ({ scene }: Sheet, box: Box, left: number, isTitled: boolean): string => {
  const item = scene.items[box.item]
  const { height, part, state, y } = box
  const x = round(box.x)
  const width = round(box.width)
  const middle = round(y + height / 2)
  const label = markup(item?.label ?? "")
  const head = `<g data-item="${box.item}">${isTitled ? `<title>${label}</title>` : ""}`
  if (part === "wait" || part === "mending" || part === "approval") {
    const dashes = part === "approval" ? ' stroke-dasharray="1 4"' : part === "wait" ? ' stroke-dasharray="4 3"' : ""
    return `${head}<path class="k-thread" d="M${x} ${middle}H${round(x + width)}" stroke-width="${part === "mending" ? 3 : 1.5}"${dashes}/></g>`
  }
  const inset = box.layer === "turn" || height < 8 ? 0.5 : 1.5
  const fill = state === "failed" || state === "refused" ? "k-failed" : `k-${box.layer}`
  const faded =
    state === "open" || state === "interrupted" || state === "suspended" || state === "discarded" ? " k-open" : ""
  const shape = `<rect class="${fill}${faded}" x="${x}" y="${y + inset}" width="${width}" height="${round(height - 2 * inset)}" rx="${Math.min(3, width / 2)}"/>`
  const crack =
    state === "failed" && width > 7 && height > 8 ? cracked(x + width - 5, y + inset, height - 2 * inset) : ""
  const from = Math.max(x, left)
  const text =
    height < 13 || box.many > 1 ? "" : fitting(item?.label ?? "", x + width - from - (crack === "" ? 10 : 16))
  const on = box.layer === "turn" || box.layer === "run" ? "k-text" : "k-on"
  const caption =
    text === ""
      ? ""
      : `<text class="${on} k-small" x="${round(from + 5)}" y="${round(middle + 3.5)}">${markup(text)}</text>`
  return `${head}${shape}${crack}${caption}</g>`
}

/** A line through a piece, as through a cup. */
const cracked = (x: number, y: number, height: number): string =>
  `<path class="k-crack" stroke-width="1.3" d="M${round(x)} ${y}l2.5 ${round(height * 0.3)}l-3 ${round(height * 0.25)}l3.5 ${round(height * 0.2)}l-2 ${round(height * 0.25)}"/>`

const dotted = ({ scene }: Sheet, { height, item, many, tone, x, y }: Dot, isTitled: boolean): string => {
  const label = markup(
    many > 1
      ? `${count(many, "mark")}, among them: ${scene.items[item]?.label ?? ""}`
      : (scene.items[item]?.label ?? "")
  )
  const px = round(x)
  const size = Math.min(5, Math.max(3, height / 3))
  const reach = round(height / 2 + 1)
  const seam = tone === "mended" ? `<path class="k-thread" stroke-width="2" d="M${px} ${y - reach}V${y + reach}"/>` : ""
  return `<g data-item="${item}">${isTitled ? `<title>${label}</title>` : ""}${seam}<path class="k-${tone}" stroke-width="1.2" d="${shapeOf(tone, px, y, size)}"/></g>`
}

/** Each meaning has a shape of its own: colour is never the only difference. */
export const shapeOf = (tone: Dot["tone"], x: number, y: number, size: number): string => {
  const s = round(size)
  switch (tone) {
    case "mended":
      return `M${x} ${y - s}L${x + s} ${y}L${x} ${y + s}L${x - s} ${y}Z`
    case "lost":
      return `M${x - s} ${y - s}H${x + s}V${y + s}H${x - s}Z`
    case "asked":
      return `M${x} ${y - s}L${x + s} ${y + s}H${x - s}Z`
    default: {
      const r = tone === "told" ? s : round(s * 0.6)
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`
    }
  }
}

/** What the picture is called, where nobody says otherwise. */
export const titleOf = (scene: Scene): string => {
  const agents = scene.tracks.filter(({ depth }) => depth === 0).map(({ agent }) => agent)
  if (agents.length === 0) return "No run"
  const named = agents.slice(0, 3).join(", ")
  return `${count(scene.totals.runs, "run")} of ${named}${agents.length > 3 ? ` and ${agents.length - 3} more` : ""}`
}

/** The sums in sentences, for those who do not see the picture. */
export const describe = ({ from, problems, to, totals }: Scene): string =>
  [
    `${duration(to - from)} from beginning to end.`,
    `${count(totals.turns, "turn")}, ${count(totals.work.attempts + totals.recovery.attempts, "attempt")} of models, ${count(totals.toolCalls, "tool call")}.`,
    `${count(totals.modelFailures + totals.toolFailures, "failure")}, ${count(totals.verdicts, "verdict")}, ${duration(totals.waited)} of waits.`,
    totals.isPriced
      ? `${money(totals.recovery.cost)} spent on recovery, ${money(totals.work.cost)} on work.`
      : `${count(totals.recovery.tokens, "token")} spent on recovery, ${count(totals.work.tokens, "token")} on work.`,
    ...problems.map(({ line, says }) => (line === undefined ? says : `Line ${line}: ${says}`)).slice(0, 5)
  ].join(" ")
