/** The legend of the outline: what the marks and bars mean that occur in a scene. */
import { broken, isFaded, shapeOf } from "../drawing/Figure.ts"
import type { Scene } from "../scene/Scene.ts"
import type { Mark, Part, Span, Tone } from "../scene/Shapes.ts"
import { element } from "./Element.ts"

/** A sign of the drawing: its SVG, its meaning, and the items that are drawn with it. */
export interface Sign {
  readonly inner: string
  readonly text: string
  readonly has: (item: Span | Mark) => boolean
}

const span = (inner: string, text: string, has: (span: Span) => boolean): Sign => ({
  inner,
  text,
  has: (item) => item.shape === "span" && has(item)
})

const bar = (fill: string, more = "") => `<rect class="k-${fill}${more}" x="1" y="1" width="20" height="12" rx="2"/>`

const line = (name: string, width: number, dashes: string) =>
  `<path class="${name}" stroke-width="${width}"${dashes} d="M1 7H21"/>`

const mark = (tone: Tone, text: string): Sign => ({
  inner: `<path class="k-${tone}" stroke-width="1.5" d="${shapeOf(tone, 11, 7, 5)}"/>`,
  text,
  has: (item) => item.shape === "mark" && item.tone === tone
})

const isPart = (part: Part) => (item: Span) => item.part === part

/** The signs of the drawing. */
export const signs: ReadonlyArray<Sign> = (() => {
  const { body, shard } = broken(1, 1, 20, 12)
  return [
    span(bar("model"), "model", ({ part }) => part === "attempt"),
    span(bar("tool"), "tool", ({ part }) => part === "call"),
    span(bar("transport"), "HTTP request", isPart("send")),
    span(bar("fixer"), "fixer", isPart("repair")),
    span(
      `<path class="k-failed k-pale" d="${body}"/><path class="k-failed" d="${shard}"/>`,
      "failed",
      ({ state }) => state === "failed"
    ),
    span(bar("failed"), "failed within a moment, or not run", ({ state }) => state === "failed" || state === "refused"),
    span(
      bar("tool", " k-unfinished"),
      "faded: interrupted, waiting, without an end, or it does not count",
      ({ state }) => isFaded(state)
    ),
    mark("mended", "healed: it goes on"),
    mark("tell", "the model reads the failure"),
    mark("lost", "given up"),
    mark("asked", "a person decides"),
    mark("note", "noted"),
    span(line("k-thread", 2, ' stroke-dasharray="4 3"'), "waits before an attempt", isPart("wait")),
    span(line("k-person", 3, ' stroke-dasharray="1 4"'), "waits for a person", isPart("approval"))
  ]
})()

const picture = (inner: string): SVGElement => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  for (const [key, value] of [
    ["viewBox", "0 0 22 14"],
    ["width", "22"],
    ["height", "14"],
    ["aria-hidden", "true"]
  ] as const)
    made.setAttribute(key, value)
  made.innerHTML = inner
  return made
}

/** Makes the legend: a list of the signs that occur, with their meanings. */
export const legend = ({ items }: Scene): HTMLElement => {
  const list = element("ul", { class: "legend", "aria-label": "Signs" })
  for (const { has, inner, text } of signs) if (items.some(has)) list.append(element("li", {}, picture(inner), text))
  return list
}
