/** Settles one tool call: attempts it, and recovers from its failures by the tables around it. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as Message from "../data/Message.ts"
import { type ExecutionError, executionErrorOf, ToolExecutionError } from "../errors/ToolError.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Driver from "../recovery/Driver.ts"
import { backed, type Bounds, type Layer, type Progress, type Repairs, type Row } from "../recovery/Layer.ts"
import type { VerdictRecord, Fix, Retry } from "../recovery/Node.ts"
import { seenOf } from "../recovery/Position.ts"
import { attempt, emit } from "./attempt.ts"
import * as Call from "./call.ts"
import { type CallSite, Waits } from "./CallSite.ts"
import {
  admitted,
  beginning,
  type CallState,
  decodedOf,
  type Entry,
  failedBefore,
  type Gates,
  isCleared,
  over,
  type Raw,
  readmitted,
  type ToolCall,
  type Why
} from "./callState.ts"
import { cut, interrupted, late, ToolEnds } from "./endings.ts"
import { ask } from "./person.ts"
import { fix } from "./fixing.ts"
import type { Outcome } from "./outcome.ts"
import type { Decisions, ToolDefinition } from "./ToolDefinition.ts"
import * as ToolRun from "./run.ts"
import { checkpointOf, originOf } from "./checkpoint.ts"

/** Settles one call, within its `callTimeout` if it has one. */
export const settle = (entry: Entry, gates: Gates, site: CallSite): Effect.Effect<Outcome> => {
  const { callTimeout } = entry.tool
  if (callTimeout === undefined) {
    const self = begin(entry, gates, site)
    return endedWithRun(self, driven(self))
  }
  return Clock.clockWith((clock) => {
    // the time for which the run was suspended does not count
    const startedAt = clock.currentTimeMillisUnsafe() - (site.from?.elapsed ?? 0)
    const elapsed = () => clock.currentTimeMillisUnsafe() - startedAt
    const self = begin(entry, gates, site, elapsed)
    const duration = Duration.subtract(callTimeout, Duration.millis(elapsed()))
    return endedWithRun(self, Effect.timeoutOrElse(driven(self), { duration, orElse: () => late(self, callTimeout) }))
  })
}

/**
 * Settles a call even if it ends with its run. A limit of the run ends the call, even if the tool catches the limit's defect. A call that
 * would begin something after another call has ended the run is cut off. A message of the user may interrupt the call.
 */
const endedWithRun = (self: ToolCall, outcome: Effect.Effect<Outcome>): Effect.Effect<Outcome> => {
  const { run, slot } = self.site
  const { inbox } = run.tree
  const ending = Effect.catchCause(outcome, (cause) => {
    const { ended } = run.meter
    if (ended !== undefined) return cut(self, ended)
    const defect = Cause.squash(cause)
    if (defect === interruption) return interrupted(self)
    return RunContext.isHalt(defect) ? cut(self) : Effect.failCause(cause)
  })
  return inbox === undefined
    ? ending
    : Effect.onInterrupt(ending, () =>
        slot.settlement === undefined && inbox.ends(run, "tools") ? interrupted(self) : Effect.void
      )
}

/** The defect that ends a call which a message of the user has interrupted between two attempts. */
const interruption = Symbol("a message of the user")
const interrupting = Effect.die(interruption)

/**
 * Makes the call. A call that was suspended goes on with the arguments that were decided about, which may differ from those that the model
 * wrote.
 */
const begin = (entry: Entry, gates: Gates, site: CallSite, elapsed?: () => number): ToolCall => {
  const { from } = site
  const args = (from?.type === "decision" ? from.request : (from ?? site.call)).arguments
  const raw = beginning(args, from?.progress)
  const state = from === undefined ? raw : stateOf(raw, from, entry.tool, { ...site.call, arguments: args })
  const tries = entry.tool.surrounded?.tries()
  const self: ToolCall = { entry, gates, site, state, progress: undefined, tries, elapsed }
  site.slot.live = self
  return self
}

/**
 * The state in which a call goes on. A call whose sub-agent or deferred work had begun has passed every gate before, and so has a call that
 * failed.
 */
const stateOf = (raw: Raw, from: CallCheckpoint, tool: ToolDefinition, call: Message.ToolCall): CallState => {
  const decoded = () => {
    const read = Call.decodeNow(tool, call)
    return read && Result.getOrUndefined(read)
  }
  if (from.type !== "decision") return readmitted(raw, from, decoded())
  const { failed } = from.request
  // Mutant `false` survives: arguments that a person has to write do not decode
  if (failed === undefined || failed.needsArguments === true) return raw
  const now = decoded()
  return now === undefined ? raw : failedBefore(raw, now, failed.verified === "no-effect")
}

const driven = (self: ToolCall): Effect.Effect<Outcome> => {
  const { decisions, from } = self.site
  if (from?.progress === undefined) return Driver.drive(() => new ToolLayer(self))
  const { progress } = from
  const error =
    from.type === "decision" && from.request.failed !== undefined ? failureOf(self, from, decisions) : undefined
  return Effect.flatMap(originOf(progress), (origin) =>
    Driver.drive(() => new ToolLayer(self), error === undefined ? origin : { ...origin, failed: { error } })
  )
}

/**
 * The failure about which a person was asked. It is decoded to its class if its schema is known; otherwise it is what the snapshot has
 * kept.
 */
const failureOf = (
  { entry }: ToolCall,
  { error, progress }: Extract<CallCheckpoint, { readonly type: "decision" }>,
  decisions: Decisions | undefined
): unknown =>
  (error === undefined ? undefined : decisions?.failureOf(entry.tool.failure, error)) ?? progress?.failures.at(-1)

/** Connects one tool call with the driver that recovers it. */
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
    const { call } = this
    return {
      site: call.site,
      fix: (rung, seen, fixRun) => (rung.kind === "fix" ? fix(call, rung, seen, fixRun) : ask(call, rung, seen, fixRun))
    }
  }

  get bounds(): Bounds {
    const { entry, site } = this.call
    const { isSuspendable, run } = site
    // Mutant `true` survives: memory only. Where no call waits apart from its policy, no code reads what is kept
    const wait: Bounds["wait"] = (delay) => Interception.wait(run, delay, interrupting)
    const keep = isSuspendable || entry.tool.deferral?.restore !== undefined ? seenOf : undefined
    return { ...RunContext.bounds(run), wait, extra: this.call.tries?.extra, keep }
  }

  observe(decision: VerdictRecord): Effect.Effect<void> {
    return emit(this.call, () => ({ type: "verdict", layer: "tool", ...decision }))
  }

  get end(): ToolEnds {
    return new ToolEnds(this.call)
  }
}

/**
 * The first row that guards a failure. The rows of the tool come first, then those of the agent for this tool, then the defaults of the
 * agent.
 */
const rowOf = (self: ToolCall, error: unknown): Row | undefined => {
  const { entry, site } = self
  site.slot.checkpoint = undefined
  if (self.state.type === "Over") return undefined
  const why = whyOver(self, error)
  if (why !== undefined) {
    self.state = over(self.state, why)
    return undefined
  }
  // an execution that has ended by itself may be repeated
  if (self.state.type === "Running") self.state = admitted(self.state)
  const tag = ErrorCause.tagOf(error)
  const standIn = Call.isArgumentError(error) ? "InvalidArgs" : "ExecutionError"
  // an agent that has given up for good is a hard failure here too: only a row for its tag handles it, in a table of this very tool
  const isHard = error instanceof ToolExecutionError && error.callId === "" && ToolRun.isAgent(entry.tool)
  const keys = isHard ? [tag] : [tag, standIn, "orElse"]
  for (const { name, rows } of entry.levels) {
    if (isHard && name !== "tool" && name !== "agent") continue
    for (const key of keys) {
      const own = rows.get(key)
      if (own === undefined) continue
      const verdict = isHard ? own : backed(own, entry.levels)
      const seen = key === "ExecutionError" ? execution(self, error) : error
      return { key: `${name}.${key}`, verdict, seen, about: aboutOf(self), admits: (rung) => admits(self, rung) }
    }
  }
  return undefined
}

const whyOver = (self: ToolCall, error: unknown): Why | undefined => {
  const { state } = self
  if (error instanceof Waits) {
    // the execution has begun and is not over, so it does not count
    const checkpoint = checkpointOf(self, state.runs - 1, { ...error.awaited, arguments: state.args })
    return error.late === undefined ? { type: "waits", checkpoint } : { type: "deferred", late: error.late, checkpoint }
  }
  return error instanceof ToolRun.Unverifiable ? { type: "unverifiable", error } : undefined
}

/**
 * The failure as an `ExecutionError`. Rows for `ExecutionError` see every failure of a tool in this shape, with the original failure
 * inside.
 */
const execution = ({ entry: { tool }, site, state }: ToolCall, error: unknown): ExecutionError =>
  executionErrorOf(
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
 * Whether a row may repeat the call or run a fixer. Arguments that do not decode need a fixer, because the same text never decodes
 * differently. An `unsafe` tool runs once, unless its row acknowledges a repetition or a lookup found that it took no effect. A fixer that
 * answers with the result runs nothing, so it is always admitted. An argument error that `run` itself fails with is a failed run like any
 * other.
 */
const admits = ({ entry: { tool }, state }: ToolCall, rung: Retry | Fix): boolean => {
  if (decodedOf(state) === undefined) return rung.kind === "fix"
  if (tool.sideEffects !== "unsafe" || rung.acknowledged) return true
  // Mutant `true` for `rung.kind === "fix"` survives: a retry has no `as`
  return isCleared(state) || (rung.kind === "fix" && rung.as === "result")
}
