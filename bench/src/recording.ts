/**
 * Keeps what was measured: in `recorded.json` and `history.jsonl`, for `npm run bench:check`, as the tables of
 * `docs/reports/performance.md`, and as those of `docs/performance.md`, which have the main figures.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Figure, format, isMissed, noiseOf, type RecordedRow, type Results } from "./figures.ts"
import { remember } from "./history.ts"
import { summary } from "./summary.ts"

const folder = fileURLToPath(new URL("..", import.meta.url))
const recordedPath = join(folder, "recorded.json")
const begin = "<!-- figures: written by `npm run bench:record` -->"
const end = "<!-- end of figures -->"

export const recorded = (): ReadonlyArray<RecordedRow> =>
  existsSync(recordedPath) ? JSON.parse(readFileSync(recordedPath, "utf8")) : []

/** Rows that were not run this time stay as they were. */
export const record = (results: Results): void => {
  const { cores, date, node, processor } = results
  const at = `${date}, Node ${node}, ${cores} cores (${processor})`
  const names = new Set(results.rows.map(({ row }) => row))
  const rows = [...recorded().filter(({ row }) => !names.has(row)), ...results.rows.map((row) => ({ ...row, at }))]
  writeFileSync(recordedPath, `${JSON.stringify(rows, undefined, 2)}\n`)
  const { stdout } = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" })
  remember(stdout.trim(), results)
  write("reports/performance.md", tables(rows))
  write("performance.md", summary(rows))
}

/** Writes what stands between the marks of a page. */
const write = (name: string, figures: string): void => {
  const page = join(folder, "../docs", name)
  const text = readFileSync(page, "utf8")
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/${name} has lost its marks`)
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${figures}\n${text.slice(to)}`)
}

const tables = (rows: ReadonlyArray<RecordedRow>): string =>
  rows
    .map(({ at, figures, row }) => `### ${row[0]?.toUpperCase()}${row.slice(1)}\n\n${at}.\n\n${tableOf(figures)}`)
    .join("\n")

const tableOf = (figures: ReadonlyArray<Figure>): string =>
  ["| | | laps differ by | target |", "| --- | ---: | ---: | --- |", ...figures.map(lineOf), ""].join("\n")

const lineOf = (figure: Figure): string => {
  const { least, most, name, unit, value } = figure
  const target = most !== undefined ? `at most ${most}` : least !== undefined ? `at least ${least}` : ""
  const verdict = target === "" ? "" : isMissed(figure) ? `**${target}: missed**` : `${target}: met`
  return `| ${name} | ${format(value)} ${unit} | ${noiseOf(figure)} | ${verdict} |`
}
