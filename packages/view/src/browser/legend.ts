/** The legend of the timeline: what its marks and lines mean. */
import { broken, shapeOf } from "../drawing/Figure.ts"
import type { Tone } from "../scene/Shapes.ts"
import { element } from "./dom.ts"

const tones: ReadonlyArray<readonly [Tone, string]> = [
  ["mended", "mended: it goes on"],
  ["tell", "the model is told"],
  ["lost", "given up"],
  ["asked", "a person decides"],
  ["note", "noted"]
]

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

/** The signs of the drawing: the SVG of each, and its meaning. */
export const signs: ReadonlyArray<readonly [string, string]> = (() => {
  const { body, shard } = broken(1, 1, 20, 12)
  return [
    [`<path class="k-failed k-pale" d="${body}"/><path class="k-failed" d="${shard}"/>`, "failed"],
    ['<rect class="k-failed" x="1" y="1" width="20" height="12" rx="3"/>', "not run: refused or left out"],
    [
      '<rect class="k-tool k-unfinished" x="1" y="1" width="20" height="12" rx="3"/>',
      "faded: interrupted, waiting, without an end, or it does not count"
    ],
    ...tones.map(
      ([tone, text]) => [`<path class="k-${tone}" stroke-width="1.2" d="${shapeOf(tone, 11, 7, 5)}"/>`, text] as const
    ),
    ['<path class="k-thread" stroke-width="1.5" stroke-dasharray="4 3" d="M1 7H21"/>', "waits"],
    ['<path class="k-thread" stroke-width="1.5" stroke-dasharray="1 4" d="M1 7H21"/>', "waits for a person"],
    ['<path class="k-thread" stroke-width="3" d="M1 7H21"/>', "a fixer is at work"]
  ]
})()

/** Makes the legend: a list of the signs with their meanings. */
export const legend = (): HTMLElement => {
  const list = element("ul", { class: "legend", "aria-label": "Signs" })
  for (const [inner, text] of signs) list.append(element("li", {}, picture(inner), text))
  return list
}
