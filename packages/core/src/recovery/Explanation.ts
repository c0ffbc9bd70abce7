/**
 * The worst case of a policy, computed without running it. `Recovery.explain` computes it, `format` shows it to people. `timeline` puts the
 * policies of several layers on one axis: which attempt begins when, if every attempt fails at once.
 */
import * as Duration from "effect/Duration"

/** The worst case of each row, and of all rows together. */
export interface Explanation {
  /** The rows, in the order of the table. */
  readonly rows: ReadonlyArray<Row>
  readonly worst: Worst
  /** A warning that the retries of several levels multiply. */
  readonly warning?: string
}

/** A row of the table, with its rungs. */
type Row = {
  readonly key: string
  readonly rungs: ReadonlyArray<Rung>
}

/** One rung, and how often it may repeat the call. Unreachable rungs are absent. */
type Rung = {
  /** The verdict, with the name of its fixer; `when → …` for a verdict that a `when` may choose. */
  readonly verdict: string
  /** The wait before each further attempt. */
  readonly waits: ReadonlyArray<Wait>
  /** The longest wait that the rung accepts from a server instead of its own. */
  readonly maxHint: Duration.Duration
  readonly fixerRuns: number
  /** The model calls of one run of the fixer, or of one compaction. */
  readonly modelCalls: number
  /** Waits and timeouts within one run of the fixer. */
  readonly fixerTime: Duration.Duration
  /** Whether the tool runs again after each run of the fixer; otherwise the fixer's answer replaces the tool's result. */
  readonly runsTool: boolean
  /** How often the rung may shorten the conversation and call the model again; absent if it is no compaction. */
  readonly compactions?: number
  /** How often the rung may ask a person, and how long all requests may take; absent if it asks no person. */
  readonly asks?: { readonly times: number; readonly time: Duration.Duration }
  /** How often a handler may repeat the call, if it declares `atMost`. The waits are unknown. */
  readonly atMost?: number
  /** Why the rung is unknown: only its `atMost` and the caps of a call bound it. Absent for other rungs. */
  readonly unknown?: string
}

/** The shortest and the longest length of one wait; they differ if the schedule is random. */
type Wait = {
  readonly least: Duration.Duration
  readonly most: Duration.Duration
}

/** Bounds of one call over all sequences of failures. If every rung is known, some sequence reaches each bound. */
type Worst = {
  /** The most attempts, with the first one. */
  readonly attempts: number
  /** Set if only the cap of a call bounds the attempts. Around a plain effect they have no bound. */
  readonly isUnbounded?: true
  /** Set if the transport sends each request once, because the table replaces the transport's retries. */
  readonly isSentOnce?: true
  /** The requests of all attempts: the worst case of the inner layer for each attempt, or one request. */
  readonly requests: number
  readonly fixerRuns: number
  /** How often a person may be asked; absent if the policy asks no person. */
  readonly asks?: number
  /** The model calls of fixers, and of the guarded work if they are known. */
  readonly modelCalls: number
  /** All waits together, as the schedules compute them. */
  readonly waits: Duration.Duration
  /** All waits if servers ask for the longest admitted ones, with the duration of the attempts if it is known. */
  readonly time: Duration.Duration
}

/**
 * The worst case of one run of an agent.
 *
 * @hidden
 */
export interface RunExplanation {
  /** The worst case of one model call, by the table of `onLlmError`. */
  readonly model: Explanation
  /** The worst case of the call that chooses among several skills, by the table of `Router.onLlmError`. */
  readonly routing?: Explanation
  /** The worst case of one call of each tool, by the tables that guard it. */
  readonly tools: ReadonlyMap<string, Explanation>
  /** How often the model is called again for an answer that does not fit the output schema; absent without a schema. */
  readonly outputRetries?: number
  /** Set if `Agent.onBudgetExceeded` may ask for an answer at a limit, which is one more turn. */
  readonly answerTurn?: true
  readonly worst: WorstRun
}

/** Bounds of a run: the turns and calls of its budget times the worst case of each, and the compactions before turns. */
type WorstRun = RunBounds & {
  readonly turns: number
  readonly toolCalls: number
  readonly fixerRuns: number
  readonly compactions?: number
  /** What checks add for each further message of the user. The other bounds include the checks of the input only. */
  readonly perMessage?: { readonly modelCalls: number; readonly time: Duration.Duration }
}

/**
 * The worst case of one run of any agent, also of a composed one.
 *
 * @hidden
 */
export interface RunBounds {
  /** Model calls of the run, its fixers and its sub-agents; each attempt of a single model counts. */
  readonly modelCalls: number
  /** Requests that the transport sends for these calls, if its retries are known. */
  readonly requests: number
  /** The cost by the budget's `prices`; absent if prices or the tokens of a request are unknown. `maxCost` ends a run earlier. */
  readonly cost?: number
  /** All waits if servers ask for the longest admitted ones, and the timeouts of tools. */
  readonly time: Duration.Duration
}

/** Formats the worst case of one run as text tables. They show its model calls, each tool, and the bounds of the run. */
export const formatRun = ({ answerTurn, model, outputRetries = 0, routing, tools, worst }: RunExplanation): string => {
  const { compactions = 0, cost, fixerRuns, modelCalls, perMessage, requests, time, toolCalls, turns } = worst
  const sections = [
    ...(routing === undefined || routing.rows.length === 0 ? [] : [`routing\n${format(routing)}`]),
    ...(model.rows.length === 0 && model.warning === undefined ? [] : [`model\n${format(model)}`]),
    ...[...tools]
      .filter(([, { rows, worst }]) => rows.length > 0 || worst.isUnbounded === true || worst.asks !== undefined)
      .map(([name, tool]) => `tool ${name}\n${format(tool)}`)
  ]
  const bounds = [
    counted(turns, "turn"),
    ...(outputRetries === 0 ? [] : [`${counted(outputRetries, "time")} asked again for the output among them`]),
    ...(answerTurn === undefined ? [] : ["1 more for an answer at a limit"]),
    ...(compactions === 0 ? [] : [counted(compactions, "compaction")]),
    counted(toolCalls, "tool call"),
    counted(modelCalls, "model call"),
    ...(requests === modelCalls ? [] : [counted(requests, "request")]),
    ...(fixerRuns === 0 ? [] : [counted(fixerRuns, "fixer run")]),
    ...(cost === undefined ? [] : [`a cost of $${Number(cost.toPrecision(4))}`]),
    Duration.isFinite(time) ? `${duration(time)} of waits and timeouts` : "waits unknown",
    ...(perMessage === undefined
      ? []
      : [`${counted(perMessage.modelCalls, "model call")} for each message that is checked (the input is one)`])
  ]
  return [...sections, `a run, at worst: ${bounds.join(", ")}`].join("\n\n")
}

/** Formats an explanation as a text table. It has a line for each rung, and the bounds of all rows together. */
export const format = ({ rows, warning, worst }: Explanation): string => {
  const head = ["row", "rung", "times", "waits", "fixer runs", "model calls"]
  const lines = rows.flatMap(({ key, rungs }) =>
    rungs.map((rung, index) => [index === 0 ? key : "", ...cells(rung, index)])
  )
  const table = [head, ...lines]
  // Mutant `line[column].length` survives: each line has all columns
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

/** Writes the bounds as one line of text. */
const formatWorst = (worst: Worst): string => {
  const { asks = 0, attempts, fixerRuns, isUnbounded, modelCalls, requests, time, waits } = worst
  return [
    `${counted(attempts, "attempt")}${isUnbounded === true ? " (the cap of a call; unbounded around a plain effect)" : ""}`,
    ...(requests === attempts ? [] : [counted(requests, "request")]),
    ...(fixerRuns === 0 ? [] : [counted(fixerRuns, "fixer run")]),
    ...(modelCalls === 0 ? [] : [counted(modelCalls, "model call")]),
    ...(asks === 0 ? [] : [`${counted(asks, "decision")} of a person`]),
    ...(Duration.isFinite(waits) ? [`${duration(waits)} of waits`] : ["waits unknown"]),
    ...(Duration.equals(time, waits) ? [] : [`${bound(time)} in all${asks === 0 ? " if servers ask for it" : ""}`])
  ].join(", ")
}

const cells = (
  { asks, atMost = 0, compactions = 0, fixerRuns, modelCalls, unknown, verdict, waits }: Rung,
  index: number
): ReadonlyArray<string> => [
  `${index + 1} ${verdict}`,
  numbered(atMost > 0 ? atMost : waits.length + fixerRuns + compactions + (asks?.times ?? 0)),
  unknown ?? (asks === undefined ? formatWaits(waits) : formatAsks(asks.time)),
  numbered(fixerRuns),
  numbered((fixerRuns + compactions) * modelCalls)
]

/** A count as text; a count of zero leaves its cell empty. */
const numbered = (count: number): string => (count === 0 ? "" : String(count))

const formatAsks = (time: Duration.Duration): string =>
  Duration.isFinite(time) ? `up to ${duration(time)} for a person` : "for a person"

const shownWaits = 6

const formatWaits = (waits: ReadonlyArray<Wait>): string => {
  if (waits.every(({ most }) => Duration.isZero(most))) return ""
  const shown = waits.slice(0, shownWaits).map(formatWait)
  return [...shown, ...(waits.length > shownWaits ? ["…"] : [])].join(", ")
}

const formatWait = ({ least, most }: Wait): string =>
  Duration.equals(least, most) ? duration(most) : `${duration(least)}–${duration(most)}`

const duration = (value: Duration.Duration): string => (Duration.isZero(value) ? "0s" : Duration.format(value))

const bound = (time: Duration.Duration): string => (Duration.isFinite(time) ? duration(time) : "no bound")

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

/**
 * One layer of a timeline, and the row of its table that handles every failure; by default the row with the most attempts.
 *
 * @hidden
 */
export interface TimelineLayer {
  readonly name: string
  readonly explanation: Explanation
  readonly row?: string
}

/** How a timeline is drawn. */
interface TimelineOptions {
  /** Which bound of each wait is drawn; `most` by default. The bounds differ if a schedule is random. */
  readonly waits?: "least" | "most"
  /** The most attempts of the innermost layer that are drawn; 1,000 by default. */
  readonly maxAttempts?: number
}

/**
 * When each attempt of each layer begins, in milliseconds from the start of the first attempt.
 *
 * @hidden
 */
export interface Timeline {
  /** One lane for each layer, outermost first. */
  readonly lanes: ReadonlyArray<TimelineLane>
  /** The instant at which the last attempt has failed. */
  readonly end: number
  /** Whether the timeline omits attempts beyond `maxAttempts`. */
  readonly isCut: boolean
}

/** What one layer does. */
type TimelineLane = {
  readonly name: string
  /** The row that handles the failures; absent if the table has no row. */
  readonly row?: string
  /** When each attempt begins. */
  readonly attempts: ReadonlyArray<TimelineAttempt>
  readonly pauses: ReadonlyArray<TimelinePause>
  /** Why the timeline of this layer is incomplete: only the caps of a call bound its row. */
  readonly unknown?: string
}

/** The start of one attempt, `at` milliseconds after the start of the call. */
type TimelineAttempt = {
  readonly at: number
  /** The number from 1. It starts again with each attempt of the layer outside this one. */
  readonly number: number
}

/** The pause between two attempts of a layer. */
type TimelinePause = {
  readonly from: number
  readonly to: number
  /** The kind of the rung that makes the next attempt. */
  readonly verdict: string
}

/** A wait, and the verdict that then makes one more attempt. */
interface Step {
  readonly verdict: string
  readonly millis: number
}

/** A lane that grows. */
interface Drawing extends TimelineLane {
  readonly attempts: Array<TimelineAttempt>
  readonly pauses: Array<TimelinePause>
}

/**
 * Puts the policies of several layers on one axis. The outermost layer comes first. The timeline shows when each attempt begins if every
 * attempt fails at once.
 */
export const timeline = (
  layers: readonly [TimelineLayer, ...Array<TimelineLayer>],
  { maxAttempts = 1000, waits = "most" }: TimelineOptions = {}
): Timeline => {
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
    throw new RangeError(`Explanation.timeline: maxAttempts must be a whole number of at least 1, got ${maxAttempts}`)
  }
  const rows = layers.map(rowOf)
  const steps = rows.map((row) => (row === undefined ? [] : stepsOf(row, waits)))
  const lanes = layers.map(({ name }, depth): Drawing => ({ name, ...shownOf(rows[depth]), attempts: [], pauses: [] }))
  let now = 0
  let left = maxAttempts
  let isCut = false
  const draw = (depth: number): void => {
    const lane = lanes[depth]
    if (lane === undefined) return void left--
    for (let number = 1; ; number++) {
      if (left === 0) return void (isCut = true)
      lane.attempts.push({ at: now, number })
      draw(depth + 1)
      const step = steps[depth]?.[number - 1]
      if (isCut || step === undefined) return
      if (left === 0) return void (isCut = true)
      lane.pauses.push({ from: now, to: now + step.millis, verdict: step.verdict })
      now += step.millis
    }
  }
  draw(0)
  return { lanes, end: now, isCut }
}

const rowOf = ({ explanation: { rows }, name, row }: TimelineLayer): Row | undefined => {
  if (row === undefined) {
    const most = Math.max(...rows.map(repeats))
    return rows.find((one) => repeats(one) === most)
  }
  const found = rows.find(({ key }) => key === row)
  if (found !== undefined) return found
  throw new RangeError(
    `Explanation.timeline: layer '${name}' has no row '${row}', but ${rows.map(({ key }) => key).join(", ")}`
  )
}

const repeats = ({ rungs }: Row): number => rungs.reduce((sum, rung) => sum + rung.waits.length + mended(rung), 0)

/** How often a rung repeats the call without a wait. */
const mended = ({ asks, compactions = 0, fixerRuns, runsTool }: Rung): number =>
  compactions + (runsTool ? fixerRuns : 0) + (asks?.times ?? 0)

const stepsOf = ({ rungs }: Row, bound: "least" | "most"): ReadonlyArray<Step> =>
  rungs.flatMap((rung) => {
    const { unknown, verdict, waits } = rung
    // an unknown rung has no waits to draw
    if (unknown !== undefined) return []
    return [
      ...waits.map((wait) => ({ verdict, millis: Duration.toMillis(wait[bound]) })),
      ...Array.from({ length: mended(rung) }, () => ({ verdict, millis: 0 }))
    ]
  })

const shownOf = (row: Row | undefined): Pick<TimelineLane, "row" | "unknown"> => {
  if (row === undefined) return {}
  const unknown = row.rungs.find((rung) => rung.unknown !== undefined)?.unknown
  return { row: row.key, ...(unknown === undefined ? {} : { unknown }) }
}

/**
 * Formats a timeline as text. Each attempt of the innermost layer has a column, under the millisecond at which it begins; each layer has a
 * row.
 */
export const formatTimeline = (
  { isCut, lanes }: Timeline,
  { width = 100 }: { readonly width?: number } = {}
): string => {
  const names = ["ms", ...lanes.map(({ name }) => name)]
  const margin = Math.max(...names.map(({ length }) => length))
  const columns = columnsOf(lanes)
  const cell = Math.max(1, ...columns.flat().map(({ length }) => length)) + 2
  const perLine = Math.max(1, Math.floor((width - margin) / cell))
  const blocks: Array<string> = []
  for (let first = 0; first < columns.length; first += perLine) {
    const shown = columns.slice(first, first + perLine)
    blocks.push(
      names
        .map((name, line) => name.padEnd(margin) + shown.map((column) => (column[line] ?? "").padStart(cell)).join(""))
        .map((line) => line.trimEnd())
        .join("\n")
    )
  }
  const unknown = lanes.flatMap(({ name, unknown }) => (unknown === undefined ? [] : [`${name}: ${unknown}`]))
  return [...blocks, ...(isCut ? ["… and more attempts"] : []), ...unknown].join("\n\n")
}

/** The cells of each attempt of the innermost lane: its instant, and the numbers of the attempts that start with it, outermost first. */
const columnsOf = (lanes: ReadonlyArray<TimelineLane>): ReadonlyArray<ReadonlyArray<string>> => {
  const upwards = lanes.map(({ attempts }) => attempts.values()).toReversed()
  return (lanes.at(-1)?.attempts ?? []).map(({ at }) => {
    // an outer attempt starts together with the first attempt of the lane inside it
    let begins = true
    const numbers = upwards.map((attempts) => {
      const number = begins ? attempts.next().value?.number : undefined
      begins = number === 1
      return number === undefined ? "" : String(number)
    })
    return [String(Math.round(at)), ...numbers.toReversed()]
  })
}
