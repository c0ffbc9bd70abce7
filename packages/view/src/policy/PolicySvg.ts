/**
 * A policy as one SVG. Each stack of layers has two strips over the same time: with every wait as short, and as long, as chance allows.
 * Between them each attempt has a thread: it begins somewhere along its thread.
 */
import * as Duration from "effect/Duration"
import type { Timeline } from "@kintsugi/core/Explanation"
import * as Axis from "../drawing/Axis.ts"
import { markup } from "../text/Escape.ts"
import type { View } from "./PolicyView.ts"
import { boundsLine, metOf, remarksOf, runLine, type Stack } from "./words.ts"
import { figure } from "../drawing/Style.ts"
import { fitting } from "../drawing/Figure.ts"

/** The options of `draw`. */
interface Options {
  /** The width in pixels; 960 by default. The height follows from the layers and from texts that take several lines. */
  readonly width?: number
}

const right = 30
/** The room for the names of layers, in pixels. */
const leftOf = (width: number): number => (width < 600 ? 96 : 150)
/** About how wide a letter is, in pixels. */
const letter = 6.2
const laneHeight = 28

/** Draws the stacks of a view as one SVG. One stack is under the other. */
export const draw = (view: View, { width = 960 }: Options = {}): string => {
  const parts: Array<string> = []
  let y = 18
  for (const stack of view.stacks) {
    const { height, shapes } = drawn(stack, y, width)
    parts.push(...shapes)
    y += height
  }
  if (view.run !== undefined) {
    const bounds = wrapped(runLine(view.run, Duration.toMillis(view.run.time)), (width - 24) / letter)
    parts.push(text("k-text k-name", 12, y, `a run of ${view.title}, at worst`))
    for (const [index, line] of bounds.entries()) parts.push(text("k-text", 12, y + 18 + 16 * index, line))
    y += 20 + 16 * bounds.length
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}">`,
    `<title id="k-title">${markup(view.title)}</title>`,
    `<desc id="k-desc">${markup(describe(view))}</desc>`,
    `<style>${figure}</style>`,
    '<rect class="k-paper" width="100%" height="100%"/>',
    ...parts,
    "</svg>"
  ].join("")
}

/** Describes the picture in sentences, for readers who do not see it. */
const describe = ({ run, stacks, title }: View): string =>
  [
    ...stacks.map((stack) => `${stack.title}, at worst: ${boundsLine(stack.bounds)}.`),
    ...(run === undefined ? [] : [`A run of ${title}, at worst: ${runLine(run, Duration.toMillis(run.time))}.`])
  ].join(" ")

const drawn = (
  stack: Stack,
  top: number,
  width: number
): { readonly shapes: ReadonlyArray<string>; readonly height: number } => {
  const { attempts, best, bounds, worst } = stack
  const end = Math.max(worst.end, 1)
  const left = leftOf(width)
  const lines = (words: string): ReadonlyArray<string> => wrapped(words, (width - 24) / letter)
  const x = (millis: number): number => hundredths(left + (millis / end) * (width - left - right))
  const varies = best.end !== worst.end
  const shapes: Array<string> = []
  let y = top
  const say = (style: string, words: string, height = 16) => {
    for (const line of lines(words)) {
      shapes.push(text(style, 12, y, line))
      y += height
    }
  }
  say("k-text k-name", `${stack.title}, if every attempt fails at once`, 15)
  say("k-quiet k-small", metOf(stack), 15)
  y += 12
  const strip = (label: string, timeline: Timeline) => {
    shapes.push(text("k-quiet", 12, y - 8, label))
    shapes.push(...timeline.lanes.flatMap((lane, index) => laneOf(lane, y + index * laneHeight, x, left)))
    y += timeline.lanes.length * laneHeight
  }
  const ticksAt = y
  if (varies) strip("best", best)
  if (varies) {
    const threads = attempts
      .slice(0, 300)
      .map(({ earliest, latest }) => `M${x(earliest)} ${y - 4}L${x(latest)} ${y + 32}`)
    shapes.push(`<path class="k-thread" stroke-width="1" stroke-opacity=".6" fill="none" d="${threads.join("")}"/>`)
    shapes.push(text("k-quiet", 12, y + 12, "left to chance"))
    y += 44
  }
  strip(varies ? "worst" : "waits", worst)
  // without a wait there is no time to measure
  const many = width < 600 ? 3 : 8
  const ticks = worst.end === 0 ? [] : Axis.ticks(Axis.make({ from: 0, to: end, gaps: [] }), 0, end, many)
  if (worst.end === 0) shapes.push(text("k-quiet k-small", left, y + 12, "no waits: each attempt follows at once"))
  shapes.unshift(
    ...ticks.flatMap(({ drawn, label }) => [
      `<path class="k-axis" d="M${x(drawn)} ${ticksAt - 4}V${y}"/>`,
      `<text class="k-quiet k-small" x="${x(drawn)}" y="${y + 12}" text-anchor="middle">${label}</text>`
    ])
  )
  y += 30
  for (const line of [`at worst: ${boundsLine(bounds)}`, ...remarksOf(stack)]) say("k-text", line)
  return { shapes, height: y + 22 - top }
}

/**
 * Draws a layer: its waits as threads, and its attempts as beads with their numbers. Attempts that begin on the same pixel share a bead.
 */
const laneOf = (
  { attempts, name, pauses }: Timeline["lanes"][number],
  y: number,
  x: (millis: number) => number,
  left: number
): ReadonlyArray<string> => {
  const middle = y + 12
  const waits = pauses.map(({ from, to }) => `M${x(from)} ${middle}H${x(to)}`)
  const beads = new Map<number, { first: number; last: number }>()
  for (const { at, number } of attempts) {
    const px = Math.round(x(at))
    const bead = beads.get(px)
    if (bead === undefined) beads.set(px, { first: number, last: number })
    else bead.last = number
  }
  let labelled = -Infinity
  return [
    text("k-text", 24, middle + 4, fitting(name, left - 40)),
    `<path class="k-thread" stroke-width="3" stroke-opacity=".45" fill="none" d="${waits.join("")}"/>`,
    ...[...beads].map(([px, { first, last }]) => {
      const label = first === last ? String(first) : first < last ? `${first}–${last}` : `${first}, ${last}`
      const isShown = px - labelled > 9 + 5 * label.length
      if (isShown) labelled = px
      const title = first === last ? `attempt ${first} of ${name}` : `attempts ${label} of ${name}`
      const caption = isShown
        ? `<text class="k-quiet k-small" x="${px}" y="${middle - 7}" text-anchor="middle">${label}</text>`
        : ""
      return `<g><title>${markup(title)}</title><circle class="k-model" cx="${px}" cy="${middle}" r="4"/>${caption}</g>`
    })
  ]
}

/** The lines of a text, each with about so many letters at most. */
const wrapped = (words: string, letters: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of words.split(" ")) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > letters) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

const text = (style: string, x: number, y: number, words: string): string =>
  `<text class="${style}" x="${x}" y="${y}">${markup(words)}</text>`

const hundredths = (pixels: number): number => Math.round(pixels * 100) / 100
