/** What one run of an agent would do at worst. */
import * as Duration from "effect/Duration"
import type * as Budget from "../Budget.ts"
import type * as Explanation from "../Explanation.ts"
import type { Rows } from "../Recovery.ts"
import type { Toolset } from "../Toolset.ts"
import { explain } from "./explaining.ts"
import type { Entry } from "./settling.ts"
import type { Node } from "./verdict.ts"
import { costOf } from "./verdictBounds.ts"

export interface Options {
  /** Failures that the policies may meet: see `Recovery.explain`. */
  readonly errors?: ReadonlyArray<unknown>
  /** What one model call is at worst for the transport, when it sends again by itself. */
  readonly transport?: Explanation.Explanation
}

export interface Explained {
  readonly budget: Budget.Budget
  readonly onLlmError: Rows
  readonly toolset: Toolset
}

export const explainRun = ({ budget, onLlmError, toolset }: Explained, options: Options = {}): Explanation.Run => {
  const { errors = [], transport } = options
  const model = explain(onLlmError, { errors, ...(transport === undefined ? {} : { below: transport }) })
  const tools = new Map([...toolset.entries].map(([name, entry]) => [name, explainTool(entry, errors)]))
  const ofTools = [...tools.values()].map(({ worst }) => worst)
  const most = (of: (worst: Explanation.Worst) => number): number => Math.max(0, ...ofTools.map(of))
  const turns = budget.maxTurns
  const toolCalls = tools.size === 0 ? 0 : budget.maxToolCalls
  const alone = turns * model.worst.attempts + toolCalls * most((worst) => worst.modelCalls)
  // fixers spend the turns of the run that they work for
  const modelCalls = Math.min(alone, turns * (perTurn({ budget, onLlmError, toolset }) ?? Infinity))
  const time = turns * Duration.toMillis(model.worst.time) + toolCalls * most(({ time }) => Duration.toMillis(time))
  return {
    model,
    tools,
    worst: {
      turns,
      toolCalls,
      modelCalls,
      requests: modelCalls * (transport?.worst.requests ?? 1),
      fixerRuns: toolCalls * most((worst) => worst.fixerRuns),
      time: Duration.millis(time)
    }
  }
}

/** The most model calls that one turn may make, of the run itself or of a fixer; unknown where a `when` names no fixers. */
export const perTurn = ({ onLlmError, toolset }: Explained): number | undefined => {
  let most = explain(onLlmError).worst.attempts
  for (const { levels } of toolset.entries.values()) {
    for (const { rows } of levels) {
      for (const node of rows.values()) {
        const ofNode = mostOf(node)
        if (ofNode === undefined) return undefined
        most = Math.max(most, ofNode)
      }
    }
  }
  return most
}

const mostOf = (node: Node): number | undefined => {
  if (node.kind === "fix") return costOf(node.fixer).perTurn
  const nodes = node.kind === "ladder" ? node.rungs : node.kind === "when" ? node.among : []
  return nodes?.reduce<number | undefined>((most, next) => {
    const ofNext = mostOf(next)
    return most === undefined || ofNext === undefined ? undefined : Math.max(most, ofNext)
  }, 0)
}

const explainTool = ({ levels, tool }: Entry, errors: ReadonlyArray<unknown>): Explanation.Explanation => {
  const { callTimeout, timeout } = tool
  const isUnsafe = tool.sideEffects === "unsafe"
  const isLookedUp = isUnsafe && tool.verify !== undefined
  // looking up may take as long again
  const within = (limit: Duration.Duration) => (isLookedUp ? Duration.times(limit, 2) : limit)
  const explained = explain(reachable(levels.map(({ rows }) => rows)), {
    errors,
    isUnsafe,
    isLookedUp,
    ...(timeout === undefined ? {} : { attempt: within(timeout) })
  })
  if (callTimeout === undefined) return explained
  const { worst } = explained
  return { ...explained, worst: { ...worst, time: Duration.min(worst.time, within(callTimeout)) } }
}

/** The rows of all levels that a failure can reach: whatever a nearer level has caught reaches no farther one. */
const reachable = (levels: ReadonlyArray<Rows>): Rows => {
  const rows = new Map<string, NonNullable<ReturnType<Rows["get"]>>>()
  for (const level of levels) {
    if (rows.has("orElse")) break
    const seesRuns = !rows.has("ExecutionError")
    const seesArguments = !rows.has("InvalidArgs")
    for (const [key, node] of level) {
      const isOfArguments = key === "InvalidArgs" || key === "DeserializationError"
      const isReached = key === "orElse" ? seesRuns || seesArguments : isOfArguments ? seesArguments : seesRuns
      if (isReached && key !== "UnknownToolError" && !rows.has(key)) rows.set(key, node)
    }
  }
  return rows
}
