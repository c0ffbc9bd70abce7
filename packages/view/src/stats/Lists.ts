/**
 * The lists of statistics that begin with what was lost: what ended runs, what healed failures, what never helped, and which errors have no
 * row.
 *
 * @internal
 */
import { noVerdict } from "../recording/Incidents.ts"
import type { Cell, Column } from "../page/StillPage.ts"
import type { Stats } from "./Stats.ts"
import { percentile } from "./healing.ts"
import { instant } from "./overTime.ts"
import { figure, percent, verdictName } from "./words.ts"
import { clip, count, duration, money } from "../text/Words.ts"

type Ended = Stats["ended"][number]

/** A list of the text and of the page: a title, what it says if it is empty, and a table. */
export interface List {
  readonly title: string
  readonly caption: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  /** What is said in place of an empty table. */
  readonly nothing: string
}

/** Where the report of an example is, if there is one. */
export type ReportOf = (example: Ended["example"]) => string | undefined

/** All runs without a parent, with any end. */
export const totalOf = ({ runs }: Stats): number =>
  runs.completed + runs.failed + runs.interrupted + runs.suspended + runs.unfinished

/** What matters first: `66 of 200 runs failed (33 %).` */
export const headline = (stats: Stats): string => {
  const total = totalOf(stats)
  if (total === 0) return "There is no run."
  return `${figure(stats.runs.failed)} of ${count(total, "run")} failed (${percent(stats.runs.failed / total)}).`
}

/** The entries of what ended runs, the most frequent first. */
export const endings = ({ ended }: Stats): ReadonlyArray<Ended> =>
  ended.toSorted((a, b) => b.runs - a.runs || b.example.at - a.example.at)

/** The agent, and the tool if a call failed: `refund-desk › refund`. */
export const locationOf = ({ agent, tool }: { readonly agent: string; readonly tool?: string }): string =>
  tool === undefined ? agent : `${agent} › ${tool}`

/** All lists, in order. `reportOf` says where the report of an example is. */
export const listsOf = (stats: Stats, reportOf: ReportOf = () => undefined): ReadonlyArray<List> => [
  endedList(stats, reportOf),
  healedList(stats),
  neverList(stats),
  unhandledList(stats)
]

const endedList = (stats: Stats, reportOf: ReportOf): List => ({
  title: "What ended runs",
  caption: "Runs that failed or were interrupted, by error and place",
  columns: [
    { heading: "error" },
    { heading: "where" },
    { heading: "runs", isNumber: true },
    { heading: "last seen" },
    { heading: "why" },
    { heading: "example" }
  ],
  rows: endings(stats).map((one) => {
    const { example, runs, tag } = one
    const report = reportOf(example)
    const named = example.file === undefined ? example.runId : example.file
    return [
      tag,
      locationOf(one),
      `${figure(runs)} (${percent(runs / totalOf(stats))})`,
      instant(example.at),
      example.reason,
      report === undefined ? named : { text: report, href: report }
    ]
  }),
  nothing: "No run failed."
})

const healedList = ({ healing }: Stats): List => ({
  title: "What was healed, and by what",
  caption: "Failures with a good end: the extra time in the middle, and of the slowest 5 %",
  columns: [
    { heading: "layer" },
    { heading: "error" },
    { heading: "healed by" },
    { heading: "incidents", isNumber: true },
    { heading: "attempts", isNumber: true },
    { heading: "extra time, p50", isNumber: true },
    { heading: "p95", isNumber: true },
    { heading: "cost", isNumber: true }
  ],
  rows: healing
    .toSorted((a, b) => b.incidents - a.incidents)
    .map((one) => [
      one.layer,
      one.tag,
      `${verdictName(one.verdict, false)}${one.byModel ? " → model" : ""}`,
      figure(one.incidents),
      figure(one.attempts),
      duration(percentile(one, 0.5)),
      duration(percentile(one, 0.95)),
      costOf(one)
    ]),
  nothing: "Nothing was healed."
})

/** The cost of recovery. What no provider has reported is not known, which is not 0. */
const costOf = ({ cost, unpriced }: Stats["healing"][number]): string =>
  unpriced === 0 ? money(cost) : cost === 0 ? "unknown" : `at least ${money(cost)}`

const neverList = ({ errors }: Stats): List => ({
  title: "Rows that never helped",
  caption: "Rows whose verdict was the last of incidents, and has healed none of them",
  columns: [{ heading: "layer" }, { heading: "error" }, { heading: "row" }, { heading: "lost", isNumber: true }],
  rows: errors.flatMap(({ healedBy, layer, lostAfter, tag }) => {
    const verdicts = new Set(lostAfter.map(({ verdict }) => verdict))
    return [...verdicts]
      .filter((verdict) => verdict !== noVerdict && !healedBy.some((one) => one.verdict === verdict))
      .map((verdict) => {
        const lost = lostAfter.reduce((sum, one) => sum + (one.verdict === verdict ? one.count : 0), 0)
        return [layer, tag, verdict, figure(lost)]
      })
  }),
  nothing: "Each row that was used has helped at least once."
})

const unhandledList = ({ unhandled }: Stats): List => ({
  title: "Errors without a row",
  caption: "Failures about which no table has decided, and a row that would have gone on",
  columns: [
    { heading: "layer" },
    { heading: "error" },
    { heading: "where" },
    { heading: "incidents", isNumber: true },
    { heading: "a row that would have gone on" }
  ],
  rows: unhandled
    .toSorted((a, b) => b.incidents - a.incidents)
    .map((one) => [one.layer, one.tag, locationOf(one), figure(one.incidents), one.row?.code ?? ""]),
  nothing: "Each error has a row."
})

/** The statistics of two sets of runs side by side. */
export const comparison = (before: Stats, after: Stats): List => {
  const lines: Array<readonly [string, (stats: Stats) => string]> = [
    ["runs", (stats) => figure(totalOf(stats))],
    ["failed", (stats) => shareOf(stats.runs.failed, totalOf(stats))],
    ["incidents", (stats) => figure(incidentsOf(stats))],
    ["healed", (stats) => shareOf(healedOf(stats), incidentsOf(stats))]
  ]
  const keys = new Map<string, Ended>()
  for (const one of [...endings(before), ...endings(after)]) keys.set(keyOf(one), one)
  for (const [key, one] of keys) {
    const runs = (stats: Stats) => stats.ended.reduce((sum, other) => sum + (keyOf(other) === key ? other.runs : 0), 0)
    lines.push([
      clip(`ended by ${one.tag} at ${locationOf(one)}`, 100),
      (stats) => shareOf(runs(stats), totalOf(stats))
    ])
  }
  return {
    title: "Before and after",
    caption: "Two sets of runs side by side",
    columns: [{ heading: "" }, { heading: "before", isNumber: true }, { heading: "after", isNumber: true }],
    rows: lines.map(([name, of]) => [name, of(before), of(after)]),
    nothing: ""
  }
}

const keyOf = (one: Ended): string => JSON.stringify([one.tag, locationOf(one)])

const shareOf = (part: number, all: number): string =>
  all === 0 ? figure(part) : `${figure(part)} (${percent(part / all)})`

const incidentsOf = ({ errors }: Stats): number => errors.reduce((sum, { incidents }) => sum + incidents, 0)

const healedOf = ({ errors }: Stats): number => errors.reduce((sum, { healed }) => sum + healed, 0)
