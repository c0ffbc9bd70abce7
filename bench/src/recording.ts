/** Keeps what was measured: in `recorded.json`, for `npm run bench:check`, and as the tables of `docs/reports/performance.md`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Figure, format, isMissed, type Row } from "./figures.ts"

/** What was measured, and where. */
export interface Results {
  readonly date: string
  readonly node: string
  readonly cores: number
  readonly processor: string
  readonly rows: ReadonlyArray<Row>
}

const folder = fileURLToPath(new URL("..", import.meta.url))
export const recordedPath = join(folder, "recorded.json")
const page = join(folder, "../docs/reports/performance.md")
const begin = "<!-- figures: written by `npm run bench:record` -->"
const end = "<!-- end of figures -->"

export const recorded = (): Results | undefined =>
  existsSync(recordedPath) ? JSON.parse(readFileSync(recordedPath, "utf8")) : undefined

/** Rows that were not run this time stay as they were. */
export const record = (results: Results): void => {
  const names = new Set(results.rows.map(({ row }) => row))
  const rows = [...(recorded()?.rows.filter(({ row }) => !names.has(row)) ?? []), ...results.rows]
  const all = { ...results, rows }
  writeFileSync(recordedPath, `${JSON.stringify(all, undefined, 2)}\n`)
  const text = readFileSync(page, "utf8")
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error("docs/reports/performance.md has lost its marks")
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${tables(all)}\n${text.slice(to)}`)
}

const tables = ({ cores, date, node, processor, rows }: Results): string =>
  [
    `Node ${node}, ${cores} cores (${processor}), ${date}.`,
    ...rows.map(({ figures, row }) => `\n### ${row[0]?.toUpperCase()}${row.slice(1)}\n\n${tableOf(figures)}`)
  ].join("\n")

const tableOf = (figures: ReadonlyArray<Figure>): string =>
  ["| | | laps differ by | target |", "| --- | ---: | ---: | --- |", ...figures.map(lineOf), ""].join("\n")

const lineOf = (figure: Figure): string => {
  const { least, most, name, spread, unit, value } = figure
  const target = most !== undefined ? `at most ${most}` : least !== undefined ? `at least ${least}` : ""
  const verdict = target === "" ? "" : isMissed(figure) ? `**${target}: missed**` : `${target}: met`
  return `| ${name} | ${format(value)} ${unit} | ${spread === undefined ? "" : `${(spread * 100).toFixed(0)} %`} | ${verdict} |`
}
