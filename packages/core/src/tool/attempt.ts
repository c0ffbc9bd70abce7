/** One attempt of a tool call: its arguments are decoded, they pass the gates, and the tool runs. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Arguments from "../data/Arguments.ts"
import { canonical } from "../data/Digest.ts"
import { isDeep } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import * as RunContext from "../event/RunContext.ts"
import type { CallCheckpoint } from "../event/Checkpoint.ts"
import type { Fix } from "../recovery/Node.ts"
import * as Call from "./call.ts"
import {
  type Admitted,
  admitted,
  type CallState,
  waited,
  cleared,
  type Decoded,
  decoded,
  failed,
  over,
  type Gates,
  type Raw,
  repaired,
  running,
  type Surrounded,
  type Through,
  type ToolCall
} from "./callState.ts"
import { Waits } from "./CallSite.ts"
import * as ToolRun from "./run.ts"
import { checkpointOf } from "./checkpoint.ts"
import type { ToolContext } from "./ToolDefinition.ts"
import type { OfOneCall } from "../event/Happening.ts"

type Attempt = Effect.Effect<unknown, unknown>

/** Continues a call from its current state. Arguments that have passed the gates before run at once. */
export const attempt = (self: ToolCall, count: number): Attempt => {
  self.tries?.begin(count)
  return emitFailure(self, count, () => next(self))
}

/** Emits the failure of an attempt. */
export const emitFailure = (self: ToolCall, attempt: number, make: () => Attempt): Attempt => {
  const { call, run } = self.site
  return RunContext.emitFailure(run, RunContext.begins(run, make), (error) =>
    // a call that is denied or waits has not failed; and the attempts within `Tool.around` have emitted their failures themselves
    self.state.type === "Over" || error instanceof Waits || self.tries?.hasFailed === true
      ? undefined
      : { type: "tool-failed", attempt, error, callId: call.id, tool: call.name }
  )
}

const next = (self: ToolCall): Attempt => {
  const { state } = self
  switch (state.type) {
    case "Raw":
      return decode(self, state)
    case "Decoded":
      return pass(self, state)
    case "Admitted":
    case "Running":
      return start(self, admitted(state))
    case "Waiting":
      return ask(self, waited(state))
    case "Over":
      return Effect.fail(state.why)
  }
}

const decode = (self: ToolCall, state: Raw): Attempt => {
  const oversized = oversizedOf(self, state)
  if (oversized !== undefined) return deny(self, oversized)
  return Call.decode(self.entry.tool, { ...self.site.call, arguments: state.args }, (read) => {
    if (Result.isFailure(read)) return Effect.fail(read.failure)
    const now = decoded(state, read.success)
    self.state = now
    const { call, mended } = self.site
    const changes =
      mended === undefined || state.args !== call.arguments
        ? read.success.changes
        : [...mended, ...read.success.changes]
    return changes.length === 0
      ? ask(self, now)
      : Effect.andThen(
          emitChanges(self, changes),
          Effect.suspend(() => ask(self, now))
        )
  })
}

/** Sends arguments that were repaired or edited through the same gates as the arguments of the model. */
export const pass = (self: ToolCall, state: Decoded): Attempt => {
  const oversized = oversizedOf(self, state)
  return oversized === undefined ? ask(self, state) : deny(self, oversized)
}

const oversizedOf = ({ entry, gates, site }: ToolCall, { args }: Raw | Decoded) =>
  oversized(gates, entry.tool.name, site.call.id, args, args !== site.call.arguments)

/** Asks the policies, then the approver. */
const ask = (self: ToolCall, state: Decoded): Attempt => {
  const { entry, gates, site } = self
  const { approval, name: tool, sideEffects } = entry.tool
  const gate =
    approval ??
    (site.from?.type === "decision" && site.from.request.failed === undefined ? site.decisions?.gate : undefined)
  // the cast is safe: `passing.ts` alone makes it
  const approved = () =>
    gate === undefined ? start(self, admitted(state)) : (gate.through as Through)(self, state, gate)
  if (gates.policy === undefined) return approved()
  const { agent, depth } = site.run
  const said = site.calledAs === undefined ? {} : { calledAs: site.calledAs }
  const call = { agent, tool, ...said, callId: site.call.id, arguments: state.args, sideEffects, depth }
  return Effect.flatMap(
    gates.policy(call, () => state.decoded.params()),
    (denial) => (denial === undefined ? approved() : deny(self, denial))
  )
}

/** Ends the call for this run, which is suspended. The checkpoint of the call has the request for a decision. */
export const suspend = (
  self: ToolCall,
  state: CallState,
  waiting: Omit<Extract<CallCheckpoint, { readonly type: "decision" }>, "type">
): void => {
  const checkpoint = checkpointOf(self, state.runs, { type: "decision", ...waiting })
  self.state = over(state, { type: "waits", checkpoint })
}

/** Denies the call for good: no row decides about a denial. */
export const deny = (self: ToolCall, error: ToolDeniedError): Attempt => {
  self.state = over(self.state, { type: "denied", error })
  return Effect.fail(error)
}

export const start = (self: ToolCall, state: Admitted): Attempt => {
  const { entry, site, tries } = self
  // the cast is safe: `surrounding.ts` alone makes it
  const { surrounded } = entry.tool
  // a limit may have been reached while the gates decided
  // Mutants `false` for `surrounded === undefined`, `surrounded === undefined && tries === undefined` survive: a call has
  // `tries` where its tool is surrounded
  return surrounded === undefined || tries === undefined
    ? RunContext.begins(site.run, () => runOnce(self, state))
    : (surrounded as Surrounded).start(self, state, tries)
}

/** Executes the tool once. */
export const runOnce = (self: ToolCall, state: Admitted): Attempt => {
  const { entry, site } = self
  const { call, key, run } = site
  const context: ToolContext = {
    attempt: state.runs + 1,
    callId: call.id,
    idempotencyKey: key,
    agent: run.agent,
    progress: (data) =>
      Effect.andThen(
        emit(self, () => ({ type: "tool-progress", data })),
        Effect.suspend(() => RunContext.alive(run, () => Effect.void))
      ),
    // the scope of the run as a plain field: an accessor for each call would cost as much time as the rest of the call
    runScope: run.done.scope
  }
  self.state = running(state, context)
  const onCleared = () => {
    self.state = cleared(running(state, context))
  }
  const nesting = site.nesting?.(state.suspended, (snapshot) =>
    checkpointOf(self, state.runs, { type: "agent", arguments: state.args, snapshot })
  )
  const { tool } = entry
  const deferredIn = tool.deferral && deferredInOf(self, state)
  const ran = ToolRun.run({ tool, decoded: state.decoded, context, nesting, deferredIn, onCleared, keep: self })
  return entry.tool.sideEffects === "unsafe" ? watch(self, ran) : ran
}

/** How a deferred tool waits in the run of its call. */
const deferredInOf = (self: ToolCall, state: Admitted): NonNullable<ToolRun.Execution["deferredIn"]> => {
  const { beside, decisions, isSuspendable, late, run, slot } = self.site
  return {
    run,
    isSuspendable,
    from: state.handed,
    decisions,
    late,
    beside,
    waits: (awaited) => {
      slot.checkpoint = awaited && (() => checkpointOf(self, state.runs, { ...awaited(), arguments: state.args }))
    }
  }
}

/** Notes how an unsafe tool ends. Once it has started, only its own end or a lookup shows whether it took effect. */
const watch = (self: ToolCall, ran: Attempt): Attempt =>
  Effect.onExit(ran, (exit) => {
    if (Exit.isSuccess(exit) || Cause.hasDies(exit.cause)) return Effect.void
    const isCutOff = Cause.hasInterrupts(exit.cause)
    if (self.state.type === "Running") {
      const hasNoOutcome = isCutOff && self.state.mayHaveActed
      self.state = failed(self.state, hasNoOutcome || ToolRun.isUncertain(Cause.squash(exit.cause)))
    }
    return Effect.void
  })

/** Takes the answer of a fixer or a person as the new arguments. Returns the error if they do not decode. */
export const accept = (self: ToolCall, answer: Schema.Json, by?: Fix): Effect.Effect<unknown> =>
  Call.decode<unknown, never>(self.entry.tool, { ...self.site.call, arguments: answer }, (read) => {
    if (Result.isFailure(read)) {
      if (by !== undefined) self.state = { ...self.state, draft: { rung: by, text: String(answer) } }
      return Effect.succeed(read.failure)
    }
    // arguments that a person has written need no approval
    const edited = by === undefined ? canonical(read.success.json) : undefined
    self.state = repaired(self.state, answer, read.success, edited)
    return Effect.as(emitChanges(self, read.success.changes), undefined)
  })

const emitChanges = (self: ToolCall, changes: Call.Decoded["changes"]): Effect.Effect<void> =>
  // Mutants `{}`, `false` survive: all callers drop the value of the loop
  Effect.forEach(changes, (change) => emit(self, () => ({ type: "arguments-coerced", change })), { discard: true })

export const emit = ({ site: { call, run } }: ToolCall, make: () => OfOneCall): Effect.Effect<void> =>
  RunContext.emit(run, () => ({ ...make(), callId: call.id, tool: call.name }))

/** Checks the size of arguments before they are decoded. Returns the error if they are too long or nested too deeply. */
const oversized = (
  { maxArgsBytes }: Gates,
  tool: string,
  callId: string,
  raw: Message.ToolCall["arguments"],
  isRepaired: boolean
): ToolDeniedError | undefined => {
  const whose = isRepaired ? "the repaired arguments" : "the arguments"
  // text is only measured; the depth of an object is checked first, because encoding a deep object would overflow the stack
  if (Predicate.isString(raw) && Object.hasOwn(Arguments.refused, raw)) {
    return ToolDeniedError.make({
      tool,
      callId,
      reason: `${whose} ${Arguments.refused[raw as keyof typeof Arguments.refused]}`
    })
  }
  // Mutants `false`, `` `` `` survive: such arguments of a model are among `Arguments.refused`, and those of a person are refused before
  if (isDeep(raw)) return ToolDeniedError.make({ tool, callId, reason: `${whose} are nested too deeply` })
  return isWithin(raw, maxArgsBytes)
    ? undefined
    : ToolDeniedError.make({ tool, callId, reason: `${whose} are longer than ${maxArgsBytes} bytes` })
}

const isWithin = (raw: Message.ToolCall["arguments"], max: number): boolean => {
  // Mutant `false` for `max === Infinity` survives: speed only. No text is longer
  if (raw === null || max === Infinity) return true
  return isWithinBytes(Predicate.isString(raw) ? raw : JSON.stringify(raw), max)
}

/** Whether a text has at most so many bytes. A character has at least one byte, and at most three. */
export const isWithinBytes = (text: string, max: number): boolean =>
  text.length * 3 <= max || (text.length <= max && new TextEncoder().encode(text).length <= max)
