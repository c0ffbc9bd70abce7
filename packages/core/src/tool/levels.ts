/** Which row of which table guards a failure of a tool call. */
import * as ErrorCause from "../data/ErrorCause.ts"
import { ExecutionError } from "../errors/ToolError.ts"
import type { Row } from "../recovery/Layer.ts"
import type { Fix, Retry } from "../recovery/Node.ts"
import * as Call from "./call.ts"
import { admitted, decodedOf, over, type ToolCall, type Why } from "./callState.ts"
import { Waits } from "./CallSite.ts"
import * as ToolRun from "./run.ts"
import { checkpointOf } from "./checkpoint.ts"

/** The first row that guards a failure: those of the tool come first, then those of the agent, then its defaults. */
export const rowOf = (self: ToolCall, error: unknown): Row | undefined => {
  const { entry, site } = self
  site.slot.checkpoint = undefined
  if (self.state.type === "Over") return undefined
  const why = whyOver(self, error)
  if (why !== undefined) {
    self.state = over(self.state, why)
    return undefined
  }
  // a run that has ended by itself may be made again
  if (self.state.type === "Running") self.state = admitted(self.state)
  const standIn = Call.isArgumentError(error) ? "InvalidArgs" : "ExecutionError"
  const keys = [ErrorCause.tagOf(error), standIn, "orElse"]
  for (const { name, rows } of entry.levels) {
    for (const key of keys) {
      const verdict = rows.get(key)
      if (verdict === undefined) continue
      const seen = key === "ExecutionError" ? execution(self, error) : error
      return { key: `${name}.${key}`, verdict, seen, about: aboutOf(self), admits: (rung) => admits(self, rung) }
    }
  }
  return undefined
}

const whyOver = (self: ToolCall, error: unknown): Why | undefined => {
  const { state } = self
  if (error instanceof Waits) {
    // the run that was begun is not over
    const { snapshot } = error
    return {
      type: "waits",
      checkpoint: checkpointOf(self, state.runs - 1, { type: "agent", arguments: state.args, snapshot })
    }
  }
  return error instanceof ToolRun.Unverifiable ? { type: "unverifiable", error } : undefined
}

/** Rows for `ExecutionError` see every failure of a tool in one shape, around the original. */
const execution = ({ entry: { tool }, site, state }: ToolCall, error: unknown): ExecutionError =>
  ExecutionError.wrap(
    { tool: tool.name, callId: site.call.id, kind: tool.kind, args: decodedOf(state)?.json ?? null },
    error
  )

const aboutOf = ({ entry: { tool }, site: { call, history }, state }: ToolCall): Row["about"] => {
  const decoded = decodedOf(state)
  return {
    tool: tool.name,
    callId: call.id,
    arguments: state.args,
    sideEffects: tool.sideEffects,
    kind: tool.kind,
    runs: state.runs,
    failingBatches: history.failingBatches,
    failuresInARow: history.failuresInARow(tool.name),
    ...(decoded === undefined ? {} : { params: decoded.params() })
  }
}

/**
 * The same text cannot decode differently, and what is `unsafe` runs once unless its row acknowledges that, or a
 * lookup says that it did not take effect. An argument error out of `run`, from a tool further down, is a failed run
 * like any other. A fixer that answers in the place of the tool runs nothing.
 */
const admits = ({ entry: { tool }, state }: ToolCall, rung: Retry | Fix): boolean => {
  if (decodedOf(state) === undefined) return rung.kind === "fix"
  if (tool.sideEffects !== "unsafe" || rung.acknowledged) return true
  const isCleared = state.type === "Admitted" && state.isCleared
  return isCleared || (rung.kind === "fix" && rung.as === "result")
}
