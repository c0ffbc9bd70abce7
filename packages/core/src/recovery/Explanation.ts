/** What a policy would do at worst, without running it: `Recovery.explain` computes it, `format` shows it to people. */
import * as Duration from "effect/Duration"

/** What each row of a policy does at worst, and the worst of all rows together. */
export interface Explanation {
  /** In the order of the table. */
  readonly rows: ReadonlyArray<Row>
  readonly worst: Worst
  /** What multiplies although nobody may have meant it. */
  readonly warning?: string
}

/** A row of the table, as a ladder. */
export interface Row {
  readonly key: string
  readonly rungs: ReadonlyArray<Rung>
}

/** One rung, and how often it may run something again. Rungs that can never be reached are not listed. */
export interface Rung {
  /** The verdict, with the name of its fixer; `when → …` for what a `when` chooses among. */
  readonly verdict: string
  /** The wait before each further attempt. */
  readonly waits: ReadonlyArray<Wait>
  /** The longest wait that a server may ask for in the place of a shorter one. */
  readonly maxHint: Duration.Duration
  readonly fixerRuns: number
  /** Of one run of the fixer, or of one compaction. */
  readonly modelCalls: number
  /** Waits and timeouts within one run of the fixer. */
  readonly fixerTime: Duration.Duration
  /** Whether the tool runs again after each run of the fixer, or the fixer's answer stands in for its result. */
  readonly isRunAgain: boolean
  /** How often the conversation may be shortened, and the model asked again; absent where the rung is no compaction. */
  readonly compactions?: number
  /** How often a handler may run something again, where it says so: the waits before that are not known. */
  readonly atMost?: number
  /** What is not known of this rung, so that nothing but its `atMost` and the caps of a call bound it; absent elsewhere. */
  readonly unknown?: string
}

/** The bounds of one wait: they differ where the schedule draws at random. */
export interface Wait {
  readonly least: Duration.Duration
  readonly most: Duration.Duration
}

/**
 * Bounds of one call over all scripts of failures. Where every rung is known there is a script that attains each of them.
 */
export interface Worst {
  /** Runs of what is guarded, the first included. */
  readonly attempts: number
  /** Where the cap of a call alone bounds the attempts: around a plain effect they are unbounded. Absent elsewhere. */
  readonly isUnbounded?: true
  /** Its transport sends each request once: the table takes its place. Absent elsewhere. */
  readonly isSentOnce?: true
  /** What the layer below does for these attempts: its own worst case each time, or one thing. */
  readonly requests: number
  readonly fixerRuns: number
  /** By fixers, and by what is guarded where that is known. */
  readonly modelCalls: number
  /** All waits together, as the schedules compute them. */
  readonly waits: Duration.Duration
  /** The same, when servers ask for as much as is granted, and the attempts themselves where it is known how long they take. */
  readonly time: Duration.Duration
}

/** What one run of an agent would do at worst. */
export interface Run {
  /** One call of its model, by the table of `onLlmError`. */
  readonly model: Explanation
  /** The model call that chooses among several skills, by the table of `Router.onLlmError`. */
  readonly routing?: Explanation
  /** One call of each tool, by the tables that guard it. */
  readonly tools: ReadonlyMap<string, Explanation>
  /** How often the model is asked again for an answer that does not fit the output schema; absent without one. */
  readonly outputRetries?: number
  readonly worst: WorstRun
}

/** Bounds of a run: what its budget admits, times what each turn and each call is at worst. */
export interface WorstRun extends Bounds {
  readonly turns: number
  readonly toolCalls: number
  readonly fixerRuns: number
}

/** What one run of any agent is at worst, also of one that is made of others. */
export interface Bounds {
  /** Of all its parts, their fixers and sub-agents included: each attempt of a single model is one. */
  readonly modelCalls: number
  /** What the transport sends for these, where it is known how often it sends again. */
  readonly requests: number
  /** All waits, when servers ask for as much as is granted, and the tools that have a timeout. */
  readonly time: Duration.Duration
}

/** The text tables of a run: its model's and its tools'. */
export const formatRun = ({ model, outputRetries = 0, routing, tools, worst }: Run): string => {
  const { fixerRuns, modelCalls, requests, time, toolCalls, turns } = worst
  const sections = [
    ...(routing === undefined || routing.rows.length === 0 ? [] : [`routing\n${format(routing)}`]),
    ...(model.rows.length === 0 && model.warning === undefined ? [] : [`model\n${format(model)}`]),
    ...[...tools]
      .filter(([, { rows, worst }]) => rows.length > 0 || worst.isUnbounded === true)
      .map(([name, tool]) => `tool ${name}\n${format(tool)}`)
  ]
  const bounds = [
    counted(turns, "turn"),
    ...(outputRetries === 0 ? [] : [`${counted(outputRetries, "time")} asked again for the output among them`]),
    counted(toolCalls, "tool call"),
    counted(modelCalls, "model call"),
    ...(requests === modelCalls ? [] : [counted(requests, "request")]),
    ...(fixerRuns === 0 ? [] : [counted(fixerRuns, "fixer run")]),
    Duration.isFinite(time) ? `${duration(time)} of waits and timeouts` : "waits unknown"
  ]
  return [...sections, `a run, at worst: ${bounds.join(", ")}`].join("\n\n")
}

/** The text table. */
export const format = ({ rows, warning, worst }: Explanation): string => {
  const head = ["row", "rung", "again", "waits", "fixer runs", "model calls"]
  const lines = rows.flatMap(({ key, rungs }) =>
    rungs.map((rung, index) => [index === 0 ? key : "", ...cells(rung, index)])
  )
  const table = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  const text = table.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
  return [
    ...(rows.length === 0 ? [] : [...text, ""]),
    `at worst: ${formatWorst(worst)}`,
    ...(warning === undefined ? [] : [`warning: ${warning}`])
  ].join("\n")
}

/** The bounds in one line. */
const formatWorst = ({ attempts, fixerRuns, isUnbounded, modelCalls, requests, time, waits }: Worst): string =>
  [
    `${counted(attempts, "attempt")}${isUnbounded === true ? " (the cap of a call; unbounded around a plain effect)" : ""}`,
    ...(requests === attempts ? [] : [counted(requests, "request")]),
    ...(fixerRuns === 0 ? [] : [counted(fixerRuns, "fixer run")]),
    ...(modelCalls === 0 ? [] : [counted(modelCalls, "model call")]),
    ...(Duration.isFinite(waits) ? [`${duration(waits)} of waits`] : ["waits unknown"]),
    ...(Duration.equals(time, waits) ? [] : [`${duration(time)} in all if servers ask for it`])
  ].join(", ")

const cells = (
  { atMost = 0, compactions = 0, fixerRuns, modelCalls, unknown, verdict, waits }: Rung,
  index: number
): ReadonlyArray<string> => [
  `${index + 1} ${verdict}`,
  numbered(atMost > 0 ? atMost : waits.length + fixerRuns + compactions),
  unknown ?? formatWaits(waits),
  numbered(fixerRuns),
  numbered((fixerRuns + compactions) * modelCalls)
]

/** What does not happen leaves its cell empty. */
const numbered = (count: number): string => (count === 0 ? "" : String(count))

const shownWaits = 6

const formatWaits = (waits: ReadonlyArray<Wait>): string => {
  if (waits.every(({ most }) => Duration.isZero(most))) return ""
  const shown = waits.slice(0, shownWaits).map(formatWait)
  return [...shown, ...(waits.length > shownWaits ? ["…"] : [])].join(", ")
}

const formatWait = ({ least, most }: Wait): string =>
  Duration.equals(least, most) ? duration(most) : `${duration(least)}–${duration(most)}`

const duration = (value: Duration.Duration): string => (Duration.isZero(value) ? "0s" : Duration.format(value))

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
