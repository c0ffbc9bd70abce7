/** Reads the runs of a recording, and makes the script of one of them. */
import { amountAt, at, textAt } from "../recording/Fields.ts"
import { outcomesOf } from "../recording/Outcome.ts"
import { isTerminal, type Recorded } from "../recording/Recorded.ts"
import { AgentReader } from "./agents.ts"
import { type Call } from "./calls.ts"
import { failureOf, isSame } from "./failures.ts"
import { reasons, Refused } from "./refusing.ts"
import type { AgentScript, End, Script } from "./parts.ts"
import { inputOf, outputOf } from "./texts.ts"

/** A run while its events are read. */
interface Running {
  readonly start: Recorded
  readonly reader: AgentReader
  /** The call of the parent in which it began; `undefined` for the run of the script. */
  readonly within: Call | undefined
  readonly ancestors: ReadonlyArray<string>
  end: Recorded | undefined
}

/** Reads the run with this id; by default the last run without a parent that failed, or the last one. */
export const read = (events: ReadonlyArray<Recorded>, runId?: string): Script => {
  const root = rootOf(events, runId)
  const runs = new Map<string, Running>()
  const readers = new Map<string, AgentReader>()
  /** The runs of fixers, whose answers are in the events of the call. Those within them have no parent that is read. */
  const left = new Set<string>()
  const decisions: Array<{ after: number; decision: unknown }> = []
  const requests = new Map<string, { readonly slot: number; readonly at: number }>()
  let isStreamed = false

  const begin = (event: Recorded): void => {
    const isRoot = event.runId === root.runId
    const parent = isRoot ? undefined : runs.get(event.parent?.runId ?? "")
    if (left.has(event.runId) || (!isRoot && parent === undefined)) return
    if (runs.has(event.runId)) throw new Refused(event, "the run begins once more")
    const call =
      event.parent?.callId === undefined ? undefined : parent?.reader.call(event.parent.runId, event.parent.callId)
    if (call?.isFixing === true) {
      left.add(event.runId)
      return
    }
    if (!isRoot && call === undefined) throw new Refused(event, "the run was not started by a tool")
    const ancestors = parent === undefined ? [] : [...parent.ancestors, parent.start.agent]
    if (ancestors.includes(event.agent)) throw new Refused(event, "the agent has started itself")
    const input = inputOf(event)
    call?.started(event, input)
    const reader = readers.get(event.agent) ?? new AgentReader(event)
    parent?.reader.starts.add(event.agent)
    runs.set(event.runId, { start: event, reader, within: call, ancestors, end: undefined })
    readers.set(event.agent, reader)
  }

  const decide = (event: Recorded, call: Call | undefined): void => {
    const key = `${event.runId} ${textAt(event, "callId")}`
    if (event.type === "approval-requested") {
      requests.set(key, { slot: decisions.push({ after: Infinity, decision: undefined }) - 1, at: event.at })
      return
    }
    const request = requests.get(key)
    if (request === undefined) throw new Refused(event, "a grant has admitted the call, and no person was asked")
    decisions[request.slot] = { after: event.at - request.at, decision: at(event, "decision") }
    call?.admitted(event)
  }

  for (const event of events) {
    if (event.type === "run-start") begin(event)
    const run = runs.get(event.runId)
    if (run === undefined || run.end !== undefined) continue
    const why = reasons.get(event.type)
    if (why !== undefined) throw new Refused(event, why)
    if (event.type === "text-delta" || event.type === "reasoning-delta") isStreamed = true
    if (event.type === "approval-requested" || event.type === "approval-decided")
      decide(event, run.reader.call(event.runId, textAt(event, "callId") ?? ""))
    run.reader.take(event)
    if (!isTerminal(event)) continue
    run.end = event
    if (event.type === "run-completed") run.within?.ended({ at: event.at, text: outputOf(event) })
    if (event.type === "run-failed") run.within?.ended({ at: event.at, failure: failureOf(at(event, "error")) })
    if (event.type === "run-interrupted") run.within?.ended({ at: event.at })
  }

  const found = runs.get(root.runId)
  const end = found?.end
  const last = events.findLast(({ runId }) => runId === root.runId)
  // Mutant `false` for `found === undefined` survives: the run that is read has begun
  if (found === undefined || end === undefined) throw new Refused(last, "the run has no end after this event")
  if (!found.reader.hasModel) throw new Refused(found.start, "the run has asked no model")
  const ends = [...runs.values()].flatMap(({ end }) => end ?? [])
  const replies = events.filter(({ runId, type }) => type === "model-end" && runs.has(runId))
  const tokens = replies.reduce((sum, event) => sum + tokensOf(event), 0)
  const cut = ends.find(({ type }) => type === "run-interrupted")
  if (cut !== undefined && textAt(end, "error", "_tag") === "BudgetExceededError")
    throw new Refused(cut, "the run was interrupted when another one had reached a limit")
  const agents = inOrder(readers, found.start).map((reader) => reader.made())
  return {
    input: inputOf(found.start),
    at: found.start.at,
    lasted: end.at - found.start.at,
    agents: ends.reduce<ReadonlyArray<AgentScript>>(
      (all, end) => withLimit(all, end, { hasFixers: left.size > 0, tokens }),
      agents
    ),
    decisions,
    isStreamed,
    end: endOf(end, found.start, runs.values(), events)
  }
}

/** Sub-agents stand before the agents that start them. */
const inOrder = (readers: ReadonlyMap<string, AgentReader>, { agent }: Recorded): ReadonlyArray<AgentReader> => {
  const placed = new Set<AgentReader>()
  const add = (name: string): void => {
    const reader = readers.get(name)
    if (reader === undefined || placed.has(reader)) return
    for (const other of reader.starts) add(other)
    placed.add(reader)
  }
  add(agent)
  return [...placed]
}

const rootOf = (events: ReadonlyArray<Recorded>, runId: string | undefined): Recorded => {
  const starts = events.filter(({ parent, type }) => type === "run-start" && parent === undefined)
  const failed = new Set(events.filter(({ type }) => type === "run-failed").map(({ runId }) => runId))
  const found =
    runId === undefined
      ? (starts.findLast((start) => failed.has(start.runId)) ?? starts.at(-1))
      : starts.find((start) => start.runId === runId)
  if (found !== undefined) return found
  const asked = runId === undefined ? "a run" : `the run '${runId}'`
  throw new Refused(undefined, `the events have no beginning of ${asked} without a parent`)
}

const endOf = (end: Recorded, start: Recorded, runs: Iterable<Running>, events: ReadonlyArray<Recorded>): End => {
  if (end.type === "run-completed") return { type: "completed", text: outputOf(end) }
  if (end.type === "run-interrupted") return { type: "interrupted", after: end.at - start.at }
  // the failure came up in the innermost run that failed with the whole run
  const failing = [...runs].filter((run) => run.end?.type === "run-failed" && run.end.at === end.at)
  const innermost = failing.reduce((a, b) => (b.ancestors.length > a.ancestors.length ? b : a))
  const error = at(innermost.end, "error")
  const whole = failureOf(error)
  const { fatal } = innermost.reader
  if (whole.tag === "BudgetExceededError")
    return {
      type: "failed",
      failure: whole,
      isDefect: false,
      agent: textAt(error, "agent") ?? "",
      tool: undefined,
      advised: undefined
    }
  const isIt = fatal !== undefined && (isSame(fatal.failure, whole) || whole.tag === "ToolExecutionError")
  const failure = isIt ? fatal.failure : whole
  // what a report says about the same failure
  const reported = outcomesOf({ events }).find(({ runId }) => runId === start.runId)?.fatal
  const isAbout = reported?.tag === failure.tag && reported.agent === innermost.start.agent
  return {
    type: "failed",
    failure,
    isDefect: at(end, "isDefect") === true,
    agent: innermost.start.agent,
    tool: isIt ? fatal.tool : undefined,
    advised: isAbout ? reported.row : undefined
  }
}

/** Gives an agent the limit that has ended one of the runs. */
const withLimit = (
  agents: ReadonlyArray<AgentScript>,
  end: Recorded,
  { hasFixers, tokens }: Spent
): ReadonlyArray<AgentScript> => {
  const reason = textAt(end, "error", "_tag") === "BudgetExceededError" ? textAt(end, "error", "reason") : undefined
  if (reason === undefined) return agents
  const name = textAt(end, "error", "agent")
  const limit = amountAt(end, "error", "limit")
  if (limit === undefined || !limits.has(reason) || !agents.some((agent) => agent.name === name))
    throw new Refused(end, `the limit '${reason}' is not played again`)
  if (hasFixers && counted.has(reason))
    throw new Refused(end, "fixers count for the limit, and their runs are not played again")
  // failed attempts have used some tokens, too; the last reply exceeds the limit
  const budget = reason === "maxTokens" ? tokens - 1 : limit
  return agents.map((agent) =>
    agent.name === name ? { ...agent, budget: { ...agent.budget, [reason]: budget } } : agent
  )
}

/** What the runs of a script have spent. */
interface Spent {
  readonly hasFixers: boolean
  /** The tokens of all replies. */
  readonly tokens: number
}

const tokensOf = (event: Recorded): number =>
  (amountAt(event, "reply", "usage", "inputTokens") ?? 0) + (amountAt(event, "reply", "usage", "outputTokens") ?? 0)

/** The limits for which the work of fixers counts. */
const counted: ReadonlySet<string> = new Set(["maxTurns", "maxToolCalls", "maxTokens"])

/** The limits that the script reaches again: they need no prices. */
const limits: ReadonlySet<string> = new Set([
  "maxTurns",
  "maxToolCalls",
  "maxDuration",
  "maxTokens",
  "maxConsecutiveSameTool",
  "repeatedFailure"
])
