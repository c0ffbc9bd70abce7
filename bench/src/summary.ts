/** The main figures, in two tables that are read in two minutes: this library beside bare Effect, and beside other libraries. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Figure, format, isMissed, type RecordedRow, type Row } from "./figures.ts"

/** A line of the first table: what it says, and the names of its figures. `limit` has the target; without it, `ours` has. */
interface Line {
  readonly says: string
  readonly row: string
  readonly ours: string
  readonly floor: string
  readonly limit?: string
}

const lines: ReadonlyArray<Line> = [
  { says: "a happy turn", row: "happy turn", ours: "ours", floor: "bare Effect", limit: "ours to bare Effect" },
  { says: "its allocation", row: "allocation per happy turn", ours: "ours", floor: "bare Effect" },
  {
    says: "a happy turn with a listener and spans (floor: without)",
    row: "events consumed and spans on",
    ours: "a listener, and spans",
    floor: "no listener",
    limit: "with a listener and spans"
  },
  {
    says: "10,000 runs at once",
    row: "10000 runs at once",
    ours: "ours",
    floor: "bare Effect",
    limit: "wall, ours to bare Effect"
  },
  {
    says: "their memory",
    row: "10000 runs at once",
    ours: "ours, peak memory over idle",
    floor: "bare Effect, peak memory over idle",
    limit: "memory, ours to bare Effect"
  },
  {
    says: "a stream of 20,000 deltas (floor: a bare loop)",
    row: "a stream of 20000 deltas",
    ours: "ours",
    floor: "a bare loop",
    limit: "ours to a bare loop"
  },
  {
    says: "a hello agent in one file, gzip",
    row: "a bundled hello agent",
    ours: "ours, gzip",
    floor: "bare Effect, gzip"
  },
  {
    says: "its start and first call",
    row: "a bundled hello agent",
    ours: "ours, start and first call",
    floor: "bare Effect, start and first call"
  },
  {
    says: "the same with Node's compile cache",
    row: "a bundled hello agent",
    ours: "ours, the same with Node's compile cache",
    floor: "bare Effect, the same with Node's compile cache"
  },
  {
    says: "an import and the first call, without a bundler",
    row: "an import without a bundler, and the first call",
    ours: "ours",
    floor: "bare Effect"
  },
  {
    says: "the cold start of a worker, with its first answer",
    row: "the cold start of a worker, with its first answer",
    ours: "ours",
    floor: "bare Effect"
  }
]

/** The libraries of the second table: each by its package, and by what stands for it in the names of figures. */
const peers = {
  ai: "ai",
  effect: "effect/ai",
  "@openai/agents": "@openai/agents",
  "@langchain/langgraph": "@langchain/langgraph",
  "@mastra/core": "@mastra/core",
  openai: "openai SDK"
} as const

/** The columns of the second table: a row of figures, and what stands behind the name of a library in it. */
const columns = {
  "a happy turn": ["happy turn, ours and the peers", ""],
  "a tool fails twice": ["a tool fails twice, ours and the peers", ""],
  "hello agent, gzip": ["a bundled hello agent, ours and the peers", ", gzip"],
  "its import": ["a bundled hello agent, ours and the peers", ", start"]
} as const

type Rows = ReadonlyArray<Row>

const figure = (rows: Rows, row: string, name: string): Figure | undefined =>
  rows.find((one) => one.row === row)?.figures.find((one) => one.name === name)

const said = (found: Figure | undefined): string => (found ? `${format(found.value)} ${found.unit}` : "–")

const limitOf = (found: Figure | undefined): string => {
  if (found?.most === undefined) return ""
  const value = found.unit === "×" ? `${format(found.value)} ×, ` : ""
  return `${value}at most ${found.most}${isMissed(found) ? ": **missed**" : ""}`
}

const lineOf = (rows: Rows, { floor, limit, ours, row, says }: Line): string =>
  `| ${says} | ${said(figure(rows, row, floor))} | ${said(figure(rows, row, ours))} | ${limitOf(figure(rows, row, limit ?? ours))} |`

/** The versions of the packages that were installed to be compared with. */
const versions = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(fileURLToPath(new URL("../peers/package.json", import.meta.url)), "utf8")).dependencies

/** On which days and machines the rows of a table were measured. */
const machinesOf = (rows: ReadonlyArray<RecordedRow>, names: ReadonlyArray<string>): string =>
  [...new Set(rows.filter(({ row }) => names.includes(row)).map(({ at }) => at))].join("; ")

const cellsOf = (rows: Rows, library: string): string =>
  Object.values(columns)
    .map(([row, suffix]) => said(figure(rows, row, `${library}${suffix}`)))
    .join(" | ")

/** The table of all libraries: also what `npm run bench:peers` prints. */
export const besidePeers = (rows: Rows): string =>
  [
    `| | version | ${Object.keys(columns).join(" | ")} |`,
    `| --- | --- |${" ---: |".repeat(Object.keys(columns).length)}`,
    `| this library | | ${cellsOf(rows, "ours")} |`,
    ...Object.entries(peers).map(
      ([name, figures]) => `| ${figures} | ${versions()[name] ?? ""} | ${cellsOf(rows, figures)} |`
    )
  ].join("\n")

export const summary = (rows: ReadonlyArray<RecordedRow>): string => {
  const own = lines.map(({ row }) => row)
  const others = Object.values(columns).map(([row]) => row)
  return [
    "| | bare Effect | this library | limit |",
    "| --- | ---: | ---: | --- |",
    ...lines.map((line) => lineOf(rows, line)),
    "",
    `Measured: ${machinesOf(rows, own)}.`,
    "",
    "## Beside other libraries",
    "",
    "The same work with the same model, in a process for each library. “–” was not measured.",
    "",
    besidePeers(rows),
    "",
    `Measured: ${machinesOf(rows, others)}.`,
    ""
  ].join("\n")
}
