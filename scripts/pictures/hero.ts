/**
 * Draws the picture of the README: a table, a run that breaks and goes on, and the type of the agent. The rows are those of `story.ts`, and
 * what happens is read from the events of its run. The colours are those of all drawings.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Recording } from "@kintsugi/view"
import { dark, light, type Palette } from "../../packages/view/src/drawing/Colors.ts"
import { broken, shapeOf } from "../../packages/view/src/drawing/Figure.ts"
import { numberAt, textAt } from "../../packages/view/src/recording/Fields.ts"
import { markup } from "../../packages/view/src/text/Escape.ts"
import { duration } from "../../packages/view/src/text/Words.ts"
import { root } from "../files.ts"

/** The type of the agent: the errors that its table handles, and what is left. A test compares them with what the compiler infers. */
export const type = {
  handled: ["StaleIndex", "InvalidArgs", "DeserializationError", "CardDeclined"],
  left: ["Locked", "LlmError", "BudgetExceededError"]
} as const

/** A row of the table, as `story.ts` has it, and what it does. */
interface Row {
  readonly tag: string
  readonly code: string
  readonly says: string
}

const says: Readonly<Record<string, string>> = {
  StaleIndex: "try again, then tell the model",
  InvalidArgs: "a function or a model mends it",
  CardDeclined: "the model is told, and decides"
}

const rowsOf = (source: string): ReadonlyArray<Row> =>
  [...source.matchAll(/^ {6}(\w+): ((?:ladder|tell)\(.*\)),?$/gm)].map(([, tag = "", code = ""]) => ({
    tag,
    code,
    says: says[tag] ?? ""
  }))

/** A part of the run: a reply of the model, or a tool call with an end. */
type Part =
  | { readonly type: "model" | "result"; readonly label: string }
  /** A failure, the row that handled it, and what then happened. */
  | {
      readonly type: "failure"
      readonly label: string
      readonly tag: string
      readonly note: string
      readonly isWait: boolean
    }

const partsOf = ({ events }: Recording.Recording): ReadonlyArray<Part> => {
  const root = events[0]?.runId
  const own = events.filter(({ runId }) => runId === root)
  const replies = own.filter(({ type }) => type === "model-end")
  return own.flatMap((event, index): ReadonlyArray<Part> => {
    if (event.type === "model-end") {
      const label = event === replies[0] ? "model" : event === replies.at(-1) ? "✓ answer" : ""
      return [{ type: "model", label }]
    }
    const label = textAt(event, "tool") ?? ""
    if (event.type === "tool-end" && textAt(event, "use", "settlement", "kind") === "result")
      return [{ type: "result", label }]
    if (event.type !== "verdict") return []
    const fixed = own.slice(index).find(({ type }) => type === "fix-end")
    const delay = numberAt(event, "delay") ?? 0
    const verdict = textAt(event, "verdict")
    const note =
      verdict === "retry"
        ? `again in ${duration(delay)}`
        : verdict === "fix"
          ? `${textAt(
              own.slice(index).find(({ type }) => type === "fix-start"),
              "input"
            )} → ${textAt(fixed, "answer")}`
          : `“${textAt(event, "error", "message")}”`
    return [{ type: "failure", label, tag: textAt(event, "tag") ?? "", note, isWait: delay > 0 }]
  })
}

const rules = (palette: Palette): string =>
  [
    `text{fill:${palette.ink}}`,
    `.paper{fill:${palette.paper}}`,
    `.quiet{fill:${palette.quiet}}`,
    // a thread ends before a heading
    `.head{stroke:${palette.paper}}`,
    `.box{fill:${palette.raised};stroke:${palette.line}}`,
    `.model{fill:${palette.model}}`,
    `.tool{fill:${palette.tool}}`,
    `.shard{fill:${palette.failed}}`,
    `.body{fill:${palette.failed};fill-opacity:.25;stroke:${palette.failed}}`,
    `.error{fill:${palette.failed}}`,
    `.seam{fill:${palette.gold}}`,
    `.note{fill:${palette.goldInk}}`,
    `.gold,.thread{stroke:${palette.gold}}`,
    `.on{fill:${palette.onFill}}`
  ].join("")

const style =
  "text{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:13.5px}" +
  ".code{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px}" +
  ".head{font-size:12px;letter-spacing:.04em;paint-order:stroke;stroke-width:6px}.small{font-size:12.5px}.strong{font-weight:650}.gone{text-decoration:line-through}" +
  ".on{font-size:13px;font-weight:600}.on,.note{text-anchor:middle}.gold{fill:none;stroke-width:3}.wait{stroke-dasharray:6 4}.thread{fill:none;stroke-width:1.5}" +
  `${rules(light)}@media(prefers-color-scheme:dark){${rules(dark)}}`

const line = (x: number, y: number, name: string, text: string): string =>
  `<text class="${name}" x="${x}" y="${y}">${text}</text>`

/** The height of a part of the run. */
const high = 38

/** The width of a part, by its text. */
const widthOf = (part: Part, isWide: boolean): number => {
  const text = Math.ceil(part.label.length * 7.8)
  return part.type === "failure" ? text + (isWide ? 78 : 46) : part.label === "" ? 14 : text + 26
}

/** A part at some point, and the room that it takes. */
const drawn = (part: Part, x: number, y: number, width: number): string => {
  const middle = y + high / 2
  if (part.type !== "failure")
    return `<rect class="${part.type === "model" ? "model" : "tool"}" x="${x}" y="${y}" width="${width}" height="${high}" rx="4"/>${part.label === "" ? "" : line(x + width / 2, middle + 4.5, "on", part.label)}`
  const { body, shard } = broken(x, y, width, high)
  return [
    `<path class="body" d="${body}"/><path class="shard" d="${shard}"/>`,
    line(x + 12, middle + 4.5, "strong", markup(part.label)),
    `<path class="gold${part.isWait ? " wait" : ""}" d="M${x + width + 2} ${middle}H${x + width + joint}"/>`,
    `<path class="seam" d="${shapeOf("mended", x + width + 2, middle, 11)}"/>`
  ].join("")
}

/** The length of a seam between a failure and what comes after it. */
const joint = 42
const gap = 6

/** Draws parts in a line, and says where the seams are. */
const lineOf = (parts: ReadonlyArray<Part>, left: number, y: number, isWide: boolean) => {
  let x = left
  const seams: Array<{ readonly x: number; readonly part: Extract<Part, { readonly type: "failure" }> }> = []
  const shapes = parts.map((part) => {
    const width = widthOf(part, isWide)
    const shape = drawn(part, x, y, width)
    if (part.type === "failure") seams.push({ x: x + width + 2, part })
    x += width + (part.type === "failure" ? joint : gap)
    return shape
  })
  return { shapes, seams }
}

const heads = ["YOU WRITE A TABLE", "A RUN BREAKS, AND GOES ON", "THE TYPE SAYS WHAT IS LEFT"] as const
const gone = (names: ReadonlyArray<string>) =>
  names.map((name) => `<tspan class="quiet gone">${name}</tspan>`).join(" | ")
const left = ([first, ...others]: ReadonlyArray<string>) =>
  `<tspan class="strong error">${first}</tspan> | ${others.join(" | ")}`

/** The lines of a row, one bottom the other. */
const rowLines = ({ code, says, tag }: Row, x: number, y: number): ReadonlyArray<string> => [
  line(x, y, "code strong error", tag),
  line(x, y + 22, "code", markup(code)),
  line(x, y + 44, "quiet small", says)
]

const wide = (rows: ReadonlyArray<Row>, parts: ReadonlyArray<Part>) => {
  const columns = rows.map((_, index) => 54 + index * 274)
  const run = lineOf(parts, 30, 218, true)
  const [first = "", second = "", third = ""] = heads
  return {
    width: 880,
    height: 388,
    parts: [
      line(30, 32, "head quiet", first),
      '<rect class="box" x="30.5" y="44.5" width="819" height="88" rx="8"/>',
      ...rows.flatMap((row, index) => rowLines(row, columns[index] ?? 0, 72)),
      ...run.seams.map(({ part, x }) => {
        const from = (columns[rows.findIndex(({ tag }) => tag === part.tag)] ?? 0) + 176
        return `<path class="thread" d="M${from} 133C${from} 176 ${x} 180 ${x} 226"/>`
      }),
      line(30, 190, "head quiet", second),
      ...run.shapes,
      ...run.seams.map(({ part, x }) => line(x, 277, "note small", markup(part.note))),
      line(30, 318, "head quiet", third),
      line(30, 344, "code", `Effect&lt;string, ${gone(type.handled)} |`),
      line(155, 366, "code", `${left(type.left)}, Model&gt;`)
    ]
  }
}

const narrow = (rows: ReadonlyArray<Row>, parts: ReadonlyArray<Part>) => {
  // one line for each failure, with what comes after it
  const lines: Array<Array<Part>> = [[]]
  parts.forEach((part, index) => {
    if (part.type === "failure" && index > 1) lines.push([])
    lines.at(-1)?.push(part)
  })
  const top = 44 + rows.length * 84 + 34
  const bottom = top + 12 + lines.length * 72
  const runs = lines.map((one, index) => lineOf(one, 16, top + 14 + index * 72, false))
  const [first = "", second = "", third = ""] = heads
  return {
    width: 360,
    height: bottom + 44 + (type.handled.length + type.left.length + 2) * 22,
    parts: [
      line(16, 32, "head quiet", first),
      `<rect class="box" x="16.5" y="44.5" width="327" height="${rows.length * 84}" rx="8"/>`,
      ...rows.flatMap((row, index) => rowLines(row, 32, 72 + index * 84)),
      line(16, top, "head quiet", second),
      ...runs.flatMap(({ shapes }) => shapes),
      ...runs.flatMap(({ seams }, index) =>
        seams.map(({ part, x }) => line(Math.max(x, 100), top + 14 + index * 72 + 58, "note small", markup(part.note)))
      ),
      line(16, bottom + 18, "head quiet", third),
      line(16, bottom + 44, "code", "Effect&lt;string,"),
      ...type.handled.map((name, index) => line(32, bottom + 66 + index * 22, "code", `${gone([name])} |`)),
      ...type.left.map((name, index) =>
        line(
          32,
          bottom + 66 + (type.handled.length + index) * 22,
          "code",
          `${index === 0 ? `<tspan class="strong error">${name}</tspan>` : name}${index === type.left.length - 1 ? "," : " |"}`
        )
      ),
      line(16, bottom + 66 + (type.handled.length + type.left.length) * 22, "code", "Model&gt;")
    ]
  }
}

const listed = (names: ReadonlyArray<string>) => `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

/** What the picture shows, for those who do not see it. */
export const description =
  "A table has a row for each of three errors of tools. In a run each of them happens: the index is behind, and the tool runs again; " +
  "arguments are no JSON, and a function mends them; a card is declined, and the model is told. The run goes on to its answer. " +
  `The type of the agent has lost ${listed(type.handled)}. ${listed(type.left)} stay in it.`

/** Draws the picture: `wide` for a screen, or for a phone. */
export const draw = (recording: Recording.Recording, isWide: boolean): string => {
  const rows = rowsOf(readFileSync(join(root, "scripts/pictures/story.ts"), "utf8"))
  const { height, parts, width } = (isWide ? wide : narrow)(rows, partsOf(recording))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    '<title id="title">What Kintsugi does</title>',
    `<desc id="desc">${description}</desc>`,
    `<style>${style}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="10"/>`,
    ...parts,
    "</svg>",
    ""
  ].join("\n")
}
