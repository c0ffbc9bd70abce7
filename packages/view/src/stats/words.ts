/**
 * The sentences, columns and rows that the text, the drawing and the page of statistics share.
 *
 * @internal
 */
import type { Stats } from "./Stats.ts"
import { noVerdict } from "../recording/Incidents.ts"
import { amount } from "../recording/Totals.ts"
import { count, decided, duration } from "../text/Words.ts"

type ErrorStats = Stats["errors"][number]

type ToolStats = Stats["tools"][number]

export const figure = (value: number): string => value.toLocaleString("en-US")

/** Whether all prices are known, so that the statistics compare money. Otherwise they compare tokens. */
export const isPriced = ({ recovery, unpriced, work }: Stats): boolean =>
  unpriced === 0 && work.cost + recovery.cost > 0

/** The share of recovery in all spending, from 0 to 1: of the money if all prices are known, otherwise of the tokens. */
export const shareOf = (stats: Stats): number => {
  const { recovery, work } = stats
  const [spent, all] = isPriced(stats)
    ? [recovery.cost, recovery.cost + work.cost]
    : [recovery.tokens, recovery.tokens + work.tokens]
  return all === 0 ? 0 : spent / all
}

/** A share in per cent. `0 %` means exactly none, and `100 %` exactly all; values close to them read `< 0.1 %` and `> 99.9 %`. */
export const percent = (share: number): string => {
  const value = share * 100
  if (value > 0 && value < 0.1) return "< 0.1 %"
  if (value < 100 && value > 99.9) return "> 99.9 %"
  return `${Number(value.toFixed(1))} %`
}

const spent = (spending: Stats["work"], withMoney: boolean): string =>
  [
    count(spending.attempts, "attempt"),
    ...(isUnknown(spending)
      ? ["spending unknown"]
      : [amount(spending, false), ...(withMoney ? [paid(amount(spending, true))] : [])])
  ].join(", ")

const paid = (money: string): string => (money === "unknown" ? "cost unknown" : money)

/** Whether nothing is known of what attempts have used. */
export const isUnknown = ({ attempts, unknown }: Stats["work"]): boolean => attempts > 0 && unknown === attempts

/** The sums of the statistics, as sentences. */
export const sentences = (stats: Stats): ReadonlyArray<string> => {
  const { events, problems, recordings, recovery, runs, toolCalls, turns, unpriced, verdicts, waitMillis, work } = stats
  const endings = [
    [runs.completed, "completed"],
    [runs.failed, "failed"],
    [runs.interrupted, "interrupted"],
    [runs.suspended, "suspended"],
    [runs.unfinished, "without an end"]
  ] as const
  const ended = endings.filter(([many]) => many > 0).map(([many, how]) => `${figure(many)} ${how}`)
  const withMoney = work.cost + recovery.cost > 0
  return [
    `${count(recordings, "recording")}, ${count(events, "event")}${problems === 0 ? "" : `, ${count(problems, "problem")} in them`}.`,
    `Runs: ${ended.length === 0 ? "none" : ended.join(", ")}${runs.children === 0 ? "" : `; ${count(runs.children, "child run")}`}.`,
    `${count(turns, "turn")}, ${count(toolCalls, "tool call")}, ${count(verdicts, "verdict")}, ${duration(waitMillis)} of waits.`,
    `Work: ${spent(work, withMoney)}.`,
    `Recovery: ${spent(recovery, withMoney)}${isUnknown(recovery) ? "" : `, which is ${percent(shareOf(stats))} of all ${isPriced(stats) ? "money" : "tokens"}`}.`,
    ...(withMoney && unpriced > 0 ? [`Prices are not known in ${count(unpriced, "recording")}.`] : [])
  ]
}

/** A verdict in words, or that there was none. */
export const verdictName = (verdict: string, gaveUp: boolean): string =>
  verdict === noVerdict ? "no row" : decided(verdict, gaveUp)

const verdicts = (all: ErrorStats["healedBy"]): string =>
  all
    .map(({ byModel, count, gaveUp, verdict }) => {
      return `${verdictName(verdict, gaveUp)}${byModel ? " → model" : ""} ${figure(count)}`
    })
    .join(", ")

/** The columns of the table of errors. */
export const errorColumns = [
  { heading: "layer" },
  { heading: "error" },
  { heading: "failures", isNumber: true },
  { heading: "incidents", isNumber: true },
  { heading: "healed", isNumber: true },
  { heading: "healed by" },
  { heading: "lost after" }
] as const

/** The errors, the most frequent first. */
export const byFrequency = ({ errors }: Stats): ReadonlyArray<ErrorStats> =>
  errors.toSorted((a, b) => b.incidents - a.incidents || b.failures - a.failures)

/** A row of the table for each error, the most frequent first. */
export const errorRows = (stats: Stats): ReadonlyArray<ReadonlyArray<string>> =>
  byFrequency(stats).map(({ failures, healed, healedBy, incidents, layer, lostAfter, tag }) => [
    layer,
    tag,
    figure(failures),
    figure(incidents),
    `${figure(healed)} (${percent(healed / incidents)})`,
    verdicts(healedBy),
    verdicts(lostAfter)
  ])

/** The columns of the table of tools. */
export const toolColumns = [
  { heading: "tool" },
  { heading: "calls", isNumber: true },
  { heading: "with failures", isNumber: true },
  { heading: "healed", isNumber: true }
] as const

/** The tools, those with the most failing calls first. */
export const byFailures = ({ tools }: Stats): ReadonlyArray<ToolStats> =>
  tools.toSorted((a, b) => b.withFailures - a.withFailures || b.calls - a.calls)

/** A row of the table for each tool, those with the most failing calls first. */
export const toolRows = (stats: Stats): ReadonlyArray<ReadonlyArray<string>> =>
  byFailures(stats).map(({ calls, healed, tool, withFailures }) => [
    tool,
    figure(calls),
    figure(withFailures),
    withFailures === 0 ? "" : `${figure(healed)} (${percent(healed / withFailures)})`
  ])

/** The tools that had failing calls and never healed, those with the most failing calls first. */
export const neverHealed = ({ tools }: Stats): ReadonlyArray<ToolStats> =>
  tools
    .filter(({ healed, withFailures }) => withFailures > 0 && healed === 0)
    .toSorted((a, b) => b.withFailures - a.withFailures)

/** One sentence about the tools that never heal. */
export const neverLine = (stats: Stats): string => {
  const never = neverHealed(stats).map(({ tool, withFailures }) => `${tool} (${count(withFailures, "failing call")})`)
  return never.length === 0 ? "Every tool that failed has healed at least once." : `Never healed: ${never.join(", ")}.`
}
