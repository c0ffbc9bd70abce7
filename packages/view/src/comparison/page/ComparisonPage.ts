/** A comparison as one HTML file without a script: the sums, each step with a bar for both recordings, and the settings that differ. */
import { dark, light } from "../../drawing/Colors.ts"
import { headCell, heading, page, paragraph, table } from "../../page/StillPage.ts"
import { markup } from "../../text/Escape.ts"
import type { Comparison, Pair } from "../Comparison.ts"
import type { Step } from "../steps.ts"
import { cellOf, changed, divergenceOf, exactness, type Labels, stepOf, sums, turnsOf } from "../ComparisonWords.ts"

/** The options of `make`. */
interface Options extends Labels {
  /** The title of the page; by default the names of both recordings. */
  readonly title?: string
}

/** The most steps in the page. A browser lays out so many rows in a second. */
const most = 5000

/** Makes the text of the page. The first step that differs is marked, and has the anchor `#divergence`. */
export const make = (comparison: Comparison, { title, ...labels }: Options): string =>
  page(
    title ?? `${labels.first} and ${labels.second}`,
    [
      `<style>${style}</style>`,
      table(
        "Both runs",
        [{ heading: "" }, { heading: labels.first }, { heading: labels.second }, { heading: "Difference" }],
        sums(comparison)
      ),
      `<p class="divergence">${markup(divergenceOf(comparison, labels))}${comparison.divergence === undefined ? "" : ' <a href="#divergence">Go to it</a>'}</p>`,
      ...(exactness(comparison) === "" ? [] : [paragraph(exactness(comparison))]),
      heading("Steps"),
      stepTable(comparison, labels),
      ...changed(comparison).flatMap(([title, lines]) => [
        heading(title),
        `<pre tabindex="0">${lines.map(({ sign, text }) => `<span class="${classes[sign]}">${markup(`${sign} ${text}`)}</span>`).join("\n")}</pre>`
      ])
    ].join("\n")
  )

const classes = { "=": "same", "≠": "changed", "-": "first", "+": "second", " ": "same" } as const

const words = { "=": "same", "≠": "different", "-": "only in the first", "+": "only in the second" } as const

const stepTable = ({ divergence, first, pairs, second }: Comparison, labels: Labels): string => {
  const whole = Math.max(first.lasted, second.lasted, 1)
  const rows = pairs.slice(0, most).map((pair, index) => rowOf(pair, index === divergence, whole))
  const left = pairs.length - most
  const head = ["", "Turn", "Step", "Time", labels.first, labels.second].map((cell) => headCell(cell))
  const caption = "The steps of both runs, paired by tool and arguments"
  return [
    `<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="steps"><caption>${caption}. ${markup(`Upper bar: ${labels.first}; lower bar: ${labels.second}.`)}</caption>`,
    `<thead><tr>${head.join("")}</tr></thead><tbody>`,
    ...rows,
    "</tbody></table></div>",
    ...(left > 0 ? [paragraph(`${left} more steps are not in this page.`)] : [])
  ].join("\n")
}

const rowOf = (pair: Pair, isDivergence: boolean, whole: number): string => {
  const mark = isDivergence ? ' id="divergence" aria-current="true"' : ""
  const cells = [
    `<td class="sign" aria-label="${words[pair.sign]}">${pair.sign}</td>`,
    `<td class="number">${markup(turnsOf(pair))}</td>`,
    `<th scope="row">${markup(stepOf(pair))}</th>`,
    `<td>${bars(pair, whole)}</td>`,
    `<td>${markup(cellOf(pair.first))}</td>`,
    `<td>${markup(cellOf(pair.second))}</td>`
  ]
  return `<tr class="${classes[pair.sign]}"${mark}>${cells.join("")}</tr>`
}

/** Two bars, one below the other, on the same axis of time. */
const bars = ({ first, second }: Pair, whole: number): string =>
  `<svg viewBox="0 0 240 16" width="240" height="16" aria-hidden="true">${bar(first, 1, "first", whole)}${bar(second, 9, "second", whole)}</svg>`

const bar = (step: Step | undefined, y: number, side: string, whole: number): string => {
  if (step === undefined) return ""
  const x = (step.began / whole) * 240
  const width = Math.max(2, ((step.lasted ?? 0) / whole) * 240)
  return `<rect class="${side}${step.failures > 0 ? " failed" : ""}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="6"/>`
}

const variables = ({ failed, model, tool }: typeof light): string =>
  `--first:${model};--second:${tool};--failed:${failed}`

const style = [
  `:root{${variables(light)}}`,
  `@media screen and (prefers-color-scheme:dark){:root{${variables(dark)}}}`,
  ".divergence{font-weight:600}",
  ".steps th[scope=row]{font-weight:400;overflow-wrap:anywhere}",
  ".sign{font-weight:700}",
  "rect.first{fill:var(--first)}rect.second{fill:var(--second)}rect.failed{stroke:var(--failed);stroke-width:1.5}",
  "tr.first,tr.second,tr.changed{background:var(--raised)}",
  "tr[aria-current]{outline:3px solid var(--failed);outline-offset:-3px}",
  "pre{white-space:pre-wrap;overflow-wrap:anywhere}span.first{color:var(--failed)}span.second{color:var(--second)}"
].join("")
