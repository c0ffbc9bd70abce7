/** One tool call on its way to its settlement: attempted, recovered by the tables around it, settled. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Message from "../data/Message.ts"
import { ExecutionError } from "../errors/ToolError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Driver from "../recovery/Driver.ts"
import type { Bounds, Ends, Layer, Progress, Repairs, Row, Says } from "../recovery/Layer.ts"
import type { Decision, Fix, Retry } from "../recovery/Node.ts"
import { seenOf } from "../recovery/Position.ts"
import { attempt, emit } from "./attempt.ts"
import * as Call from "./call.ts"
import { type CallSite, Waits } from "./CallSite.ts"
import {
  admitted,
  beginning,
  decodedOf,
  type Entry,
  type Gates,
  over,
  readmitted,
  type ToolCall,
  type Why
} from "./callState.ts"
import { cut, endsOf, late } from "./endings.ts"
import { fix } from "./fixing.ts"
import type { Outcome } from "./outcome.ts"
import * as ToolRun from "./run.ts"
import { checkpointOf, leftOf, originOf } from "./checkpoint.ts"

/** Settles one call, within the time that it has. */
export const settle = (entry: Entry, gates: Gates, site: CallSite): Effect.Effect<Outcome> => {
  const progress = site.from?.progress
  if (progress?.isOpen === true) site.slot.settlement = Message.unknown
  const self = begin(entry, gates, site)
  const driven =
    progress === undefined
      ? Driver.drive(() => new ToolLayer(self))
      : Effect.flatMap(originOf(progress), (from) => Driver.drive(() => new ToolLayer(self), from))
  const { callTimeout } = entry.tool
  const inTime =
    callTimeout === undefined
      ? driven
      : Effect.timeoutOrElse(driven, {
          duration: leftOf(callTimeout, progress),
          orElse: () => late(self, callTimeout)
        })
  // the end of a run is an ending of the call: the other calls of the reply are settled as its siblings are
  return Effect.catchCause(inTime, (cause) => {
    const { ended } = site.run.meter
    return ended !== undefined && RunContext.isLimit(Cause.squash(cause))
      ? Effect.succeed(cut(self, ended))
      : Effect.failCause(cause)
  })
}

/** What was decided on goes on, not what the model wrote before it was repaired. */
const begin = (entry: Entry, gates: Gates, site: CallSite): ToolCall => {
  const { from } = site
  const args = (from?.type === "decision" ? from.request : (from ?? site.call)).arguments
  const raw = beginning(args, from?.progress)
  const decoded = () => Result.getOrUndefined(Call.decode(entry.tool, { ...site.call, arguments: args }))
  const state = from?.type === "agent" ? readmitted(raw, from.snapshot, decoded()) : raw
  return { entry, gates, site, state, progress: undefined }
}

type ToolEnds = Ends<unknown, Outcome, never, never> & Says<Outcome, never, never>

/** The layer of one tool call. */
class ToolLayer implements Layer<unknown, Outcome, never, never, ToolEnds> {
  readonly call: ToolCall

  constructor(call: ToolCall) {
    this.call = call
  }

  attempt(count: number, progress: Progress | undefined): Effect.Effect<unknown, unknown> {
    this.call.progress = progress
    return attempt(this.call, count)
  }

  row(error: unknown, progress: Progress): Row | undefined {
    this.call.progress = progress
    return rowOf(this.call, error)
  }

  get repairs(): Repairs<never> {
    return { fix: (rung, seen, round) => fix(this.call, rung, seen, round) }
  }

  get bounds(): Bounds {
    const { isSuspendable, run } = this.call.site
    // Mutant `true` survives: memory only. Where no run can be suspended, no code reads what is kept
    return { ...RunContext.bounds(run), wait: Interception.wait, keep: isSuspendable ? seenOf : undefined }
  }

  observe(decision: Decision): Effect.Effect<void> {
    return emit(this.call, () => ({ type: "verdict", layer: "tool", ...decision }))
  }

  get end(): ToolEnds {
    return endsOf(this.call)
  }
}

/** The first row that guards a failure: those of the tool come first, then those of the agent, then its defaults. */
const rowOf = (self: ToolCall, error: unknown): Row | undefined => {
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
