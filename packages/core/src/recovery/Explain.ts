/**
 * Computes the worst case of policies and of agent runs. The two are in one file because a policy may contain agents, and an agent contains
 * policies.
 */
import * as Duration from "effect/Duration"
import { maxRepairs } from "./bounds.ts"
import * as Cost from "./Cost.ts"
import { explained, over, uncounted } from "./Explained.ts"
import { explainRows, type Options } from "./explainRows.ts"
import type * as Explanation from "./Explanation.ts"
import { backed } from "./Layer.ts"
import type { Node, Rows } from "./Node.ts"
import type { Check, Entry, Plan, Skilled } from "./plan.ts"
import { warned } from "./warned.ts"

/** Computes the worst case of a table. */
export const explain = (rows: Rows, options: Options = {}): Explanation.Explanation =>
  explainRows(rows, options, costOf)

/** Computes the cost of an agent with skills from its worst run. */
export const estimate: Cost.Estimate = (plan) => {
  const { modelCalls, time } = explainRun(plan).worst
  // agents that check texts do not spend turns of the run
  const isChecked = plan.guards?.checks.some(({ agent }) => agent !== undefined) === true
  return { modelCalls, perTurn: (isChecked ? undefined : perTurn(plan)) ?? modelCalls, millis: Duration.toMillis(time) }
}

const costOf = (agent: unknown): Cost.Cost => Cost.costOf(agent, estimate)

type Worst = Explanation.Explanation["worst"]

/** The explanations of an agent's model and of its transport. */
interface Layers {
  readonly errors?: ReadonlyArray<unknown>
  readonly model?: Explanation.Explanation
  readonly transport?: Explanation.Explanation
}

/** Computes the worst case of one run of an agent with skills. */
export const explainRun = (
  { ahead, around, budget, guards, model: given, onLlmError, output, outputRetries = 0, transport: isOff, work }: Plan,
  { errors = [], model: givenModel, transport: sent }: Layers = {}
): Explanation.RunExplanation => {
  const transport = isOff === "off" ? undefined : sent
  const ofModel = givenModel ?? explained(given, errors)
  const inner = over(ofModel, transport)
  const model = warned(explain(onLlmError, { errors, inner }), transport)
  const routing = work.kind === "choice" ? explain(work.router.rows, { errors, inner }) : undefined
  const tools = new Map([...entriesOf(work)].map(([name, entry]) => [name, explainTool(entry, errors)]))
  const ofTools = [...tools.values()].map(({ worst }) => worst)
  const most = (of: (worst: Worst) => number): number => Math.max(0, ...ofTools.map(of))
  const turns = turnsOf(budget, work)
  const answers = around !== undefined && isLooping(work) ? 1 : 0
  // a chat that continues a transcript may be compacted before its first turn as well
  const shortened = ahead !== undefined && isLooping(work) ? turns : 0
  const shortening = costOf(ahead?.compaction.agent)
  // a routing call takes one of the turns
  const ofTurns = (of: (worst: Worst) => number): number => {
    const ofLoop = isLooping(work) ? of(model.worst) : 0
    const first = routing === undefined ? ofLoop : Math.max(ofLoop, of(routing.worst))
    return first + (turns - 1 + answers) * ofLoop
  }
  const toolCalls = tools.size === 0 ? 0 : budget.maxToolCalls
  // each attempt of a single model is one model call
  const ofLoops = ofTurns(({ attempts, modelCalls }) => attempts * ofModel.worst.requests + modelCalls)
  const alone = ofLoops + toolCalls * most((worst) => worst.modelCalls) + shortened * shortening.modelCalls
  // fixers and sub-agents spend turns of the run that started them
  const checks = guards?.checks ?? []
  const ofChecks = checksOf(checks, isLooping(work) ? turns + answers : 1)
  const ofMessage = isLooping(work) ? checks.filter(({ side }) => side === "input") : []
  const perMessage = checksOf(ofMessage, 0)
  const ofRun = Math.min(
    alone,
    (turns + answers) * (perTurn({ ...(ahead && { ahead }), onLlmError, work }, ofModel) ?? Infinity)
  )
  const modelCalls = ofChecks.modelCalls + ofRun
  const time =
    ofTurns(({ time }) => Duration.toMillis(time)) +
    toolCalls * most(({ time }) => Duration.toMillis(time)) +
    shortened * shortening.millis +
    ofChecks.millis
  return {
    model,
    ...(routing === undefined ? {} : { routing }),
    tools,
    // each output retry is a turn, and the first turn cannot be one
    ...(output === undefined ? {} : { outputRetries: Math.max(0, Math.min(outputRetries, turns - 1)) }),
    ...(answers === 0 ? {} : { answerTurn: true as const }),
    worst: {
      turns,
      toolCalls,
      modelCalls,
      requests: modelCalls * (transport?.worst.requests ?? 1),
      fixerRuns: toolCalls * most((worst) => worst.fixerRuns),
      ...(shortened === 0 ? {} : { compactions: shortened }),
      ...(ofMessage.length === 0
        ? {}
        : { perMessage: { modelCalls: perMessage.modelCalls, time: Duration.millis(perMessage.millis) } }),
      time: Duration.millis(time)
    }
  }
}

/** The cost of the guardrail checks for one input and a number of replies. */
const checksOf = (checks: ReadonlyArray<Check>, replies: number): Pick<Cost.Cost, "modelCalls" | "millis"> => {
  const counted = checks.map(({ agent, isRepeated, side, timeout }) => {
    const times = side === "input" ? 1 : isRepeated ? Infinity : replies
    const { modelCalls } = costOf(agent)
    return { modelCalls: modelCalls === 0 ? 0 : times * modelCalls, millis: times * Duration.toMillis(timeout) }
  })
  return {
    modelCalls: counted.reduce((sum, { modelCalls }) => sum + modelCalls, 0),
    millis: counted.reduce((sum, { millis }) => sum + millis, 0)
  }
}

/** The work of each skill of an agent. */
const worksOf = (work: Plan["work"]): ReadonlyArray<Skilled> =>
  work.kind === "choice" ? [...work.works.values()] : [work]

const isLooping = (work: Plan["work"]): boolean => worksOf(work).some(({ kind }) => kind === "loop")

/** The most turns of a run. An agent without a loop makes a routing call at most. */
const turnsOf = ({ maxTurns }: Plan["budget"], work: Plan["work"]): number =>
  isLooping(work) ? maxTurns : work.kind === "choice" ? Math.min(1, maxTurns) : 0

const entriesOf = (work: Plan["work"]): ReadonlyMap<string, Entry> =>
  new Map(worksOf(work).flatMap((one) => (one.kind === "loop" ? [...one.toolset.entries] : [])))

/**
 * The most model calls in a single turn, by the run itself, a fixer or an agent as a tool. `undefined` if a `when` does not declare its
 * verdicts.
 */
const perTurn = (
  { ahead, model, onLlmError, work }: Pick<Plan, "ahead" | "model" | "onLlmError" | "work">,
  inner = explained(model, [])
): number | undefined => {
  const entries = [...entriesOf(work).values()]
  const tables = entries.flatMap(({ levels }) => levels.map(({ rows }) => rows))
  return greatest([
    isLooping(work) ? explain(onLlmError, { inner }).worst.requests : 0,
    work.kind === "choice" ? explain(work.router.rows, { inner }).worst.requests : 0,
    inner.worst.modelCalls,
    // model calls of a compaction spend turns of the run as well
    ...[...onLlmError.values()].map((node) => mostOf(node) ?? 0),
    costOf(ahead?.compaction.agent).perTurn,
    ...entries.map(({ tool }) => costOf(tool.run).perTurn),
    ...tables.flatMap((rows) => [...rows.values()].map(mostOf))
  ])
}

const mostOf = (node: Node): number | undefined => {
  if (node.kind === "fix") return costOf(node.fixer).perTurn
  if (node.kind === "compact") return costOf(node.compaction.agent).perTurn
  const nodes = node.kind === "ladder" ? node.rungs : node.kind === "when" ? node.among : []
  return nodes && greatest(nodes.map(mostOf))
}

/** The greatest count; `undefined` if one of the counts is unknown. */
const greatest = (counts: ReadonlyArray<number | undefined>): number | undefined =>
  counts.every((count) => count !== undefined) ? Math.max(0, ...counts) : undefined

const explainTool = ({ levels, tool }: Entry, errors: ReadonlyArray<unknown>): Explanation.Explanation => {
  const { callTimeout, timeout = tool.deferral?.longest } = tool
  const { millis, modelCalls } = costOf(tool.run)
  const isUnsafe = tool.sideEffects === "unsafe"
  const isLookedUp = isUnsafe && tool.verify !== undefined
  // `verify` has the same timeout as an attempt, so both together may take twice as long
  const within = (limit: Duration.Duration) => (isLookedUp ? Duration.times(limit, 2) : limit)
  const explained = explain(reachable(levels.map(({ rows }) => rows)), {
    errors,
    isUnsafe,
    isLookedUp,
    // the cost of one run of the tool, if the tool is an agent
    inner: { worst: { requests: 1, modelCalls, time: Duration.millis(millis) } },
    ...(timeout === undefined ? {} : { attempt: within(timeout) })
  })
  const attempted = tool.around === undefined ? explained : uncounted(explained)
  const bounded = tool.approval === undefined ? attempted : gated(attempted, tool.approval)
  if (callTimeout === undefined) return bounded
  const { worst } = bounded
  return { ...bounded, worst: { ...worst, time: Duration.min(worst.time, within(callTimeout)) } }
}

/**
 * Adds the approvals of a tool to its worst case. A person decides before the first run and after each repair of the arguments; with
 * `onExpiry: "fail"`, before each attempt, because rows may repeat an expired request.
 */
const gated = (
  { rows, worst, ...rest }: Explanation.Explanation,
  { onExpiry, validFor }: NonNullable<Entry["tool"]["approval"]>
): Explanation.Explanation => {
  const repairs = rows.flatMap(({ rungs }) => rungs.map(({ fixerRuns, runsTool }) => (runsTool ? fixerRuns : 0)))
  const repaired = repairs.reduce((sum, runs) => sum + runs, 0)
  const gates = onExpiry === "fail" ? worst.attempts : 1 + Math.min(maxRepairs, repaired)
  const waits = onExpiry === "ask-again" ? Infinity : gates * Duration.toMillis(validFor)
  const asks = (worst.asks ?? 0) + gates
  return { ...rest, rows, worst: { ...worst, asks, time: Duration.millis(Duration.toMillis(worst.time) + waits) } }
}

/**
 * Merges the tables of all levels into the rows that a failure can reach: a row of a nearer level hides the same row of a farther level.
 */
const reachable = (levels: ReadonlyArray<Rows>): Rows => {
  const rows = new Map<string, Node>()
  const asLevels = levels.map((rows) => ({ rows }))
  for (const level of levels) {
    if (rows.has("orElse")) break
    const seesRuns = !rows.has("ExecutionError")
    const seesArguments = !rows.has("InvalidArgs")
    for (const [key, node] of level) {
      const isOfArguments = key === "InvalidArgs" || key === "DeserializationError"
      const isReached = key === "orElse" ? seesRuns || seesArguments : isOfArguments ? seesArguments : seesRuns
      if (isReached && key !== "UnknownToolError" && !rows.has(key)) rows.set(key, backed(node, asLevels))
    }
  }
  return rows
}
