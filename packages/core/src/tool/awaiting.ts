/** How a deferred call waits once `start` has returned: how it polls, expires and is cancelled. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as ErrorCause from "../data/ErrorCause.ts"
import { isDeep } from "../data/Foreign.ts"
import * as Returned from "../data/Returned.ts"
import { ToolTimeoutError } from "../errors/ToolError.ts"
import type { ForSettlement } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { untouchable } from "../recovery/Layer.ts"
import * as Polling from "./polling.ts"
import type { Poll } from "./polling.ts"
import type { Deferral, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import { close, type Decode, type Entry, notCounted } from "./waiting.ts"

/** The options of a deferred tool that are about the wait. */
export interface Options {
  readonly deadline: Duration.Duration
  readonly cancel: ((handle: Schema.Json) => Effect.Effect<unknown, unknown>) | undefined
  readonly poll: Polled | undefined
  /** For a tool whose run goes on without the result: whether a run that has its answer waits for the result. Absent for other tools. */
  readonly atEnd: "wait" | "detach" | undefined
}

interface Polled {
  readonly every: Poll["every"]
  readonly check: (handle: Schema.Json) => Effect.Effect<Option.Option<unknown>, unknown>
}

/** How long `cancel` may take. */
export const patience = Duration.seconds(5)

/** One attempt of a deferred tool. */
export interface DeferredCall {
  readonly tool: ToolDefinition
  readonly context: ToolContext
  /** How the call waits in its run; absent outside of a run. */
  readonly site: Parameters<Deferral["attempt"]>[0]["deferredIn"]
  /** Called when the work was cancelled, and took no effect. */
  readonly onCleared: () => void
  /** Remembers a result, so that the compensation of the tool can undo it if the run fails. */
  readonly remember: (value: unknown) => Effect.Effect<void>
  /** Ends the call at its deadline: by a lookup with `verify`, or by the error of a timeout. */
  readonly cutOff: (limit: Duration.Duration) => Effect.Effect<unknown, unknown>
}

type Elsewhere = NonNullable<Interception.Interceptor["deferring"]>

/** The state of one attempt of a deferred tool. */
export interface State {
  readonly token: string
  readonly entry: Entry
  readonly elsewhere: Elsewhere | undefined
  /**
   * Whether the call waits in memory beside other calls at work. If its run then ends without being suspended, the run cancels the work.
   */
  isResting?: boolean
  /** The handle and the deadline, once `start` has returned. */
  handed: Pick<ForSettlement, "handle" | "expiresAt"> | undefined
}

/**
 * Takes the settlement with which the run was resumed, if there is one. A settlement that does not decode was refused before the run was
 * resumed.
 */
export const takeGiven = (
  decisions: NonNullable<DeferredCall["site"]>["decisions"],
  { entry, token }: State,
  isLate: boolean
): Effect.Effect<void> => {
  const given = decisions?.settlement(token)
  if (given === undefined) return Effect.void
  return Effect.map(Effect.orDie(entry.decode(given)), (exit) => {
    const receipt = isLate && entry.isUnsettled ? notCounted("late") : entry.take(exit)
    decisions?.noteSettlement(token, receipt)
  })
}

/** Waits in this process for the settlement, and polls meanwhile. */
export const arrival = (
  options: Options,
  call: DeferredCall,
  entry: Entry,
  handle: Schema.Json,
  isFirstAtOnce?: boolean
): Effect.Effect<void> => {
  const arrived = Deferred.await(entry.arrived)
  const polls = pollsOf(options, call, handle, isFirstAtOnce)
  if (polls === undefined) return arrived
  const polling = Effect.flatMap(polls(Effect.sleep), (found) => {
    if (found !== undefined) entry.take(found)
    return arrived
  })
  return Effect.raceFirst(arrived, polling)
}

const pollsOf = (
  { poll }: Options,
  call: DeferredCall,
  handle: Schema.Json,
  isFirstAtOnce = call.site?.from !== undefined
) => {
  if (poll === undefined) return undefined
  const asked = pollOf(poll, call, handle)
  return <E>(pause: (delay: Duration.Duration) => Effect.Effect<void, E>) =>
    Polling.settlementOf(asked, pause, isFirstAtOnce)
}

export const pollOf = (poll: Polled, call: DeferredCall, handle: Schema.Json): Poll => ({
  ...poll,
  check: checked(poll, call, handle)
})

/**
 * Polls once, for a call in a resumed run. A settlement or the deadline ends the poll. A poll that fails counts as one without a result,
 * because the schedule polls again.
 */
export const once = (
  { poll }: Options,
  call: DeferredCall,
  entry: Entry,
  handle: Schema.Json,
  left: Duration.Duration
): Effect.Effect<void> => {
  if (poll === undefined) return Effect.void
  const polling = Effect.matchCauseEffect(checked(poll, call, handle), {
    onSuccess: (found) => Effect.sync(() => void (Option.isSome(found) && entry.take(Exit.succeed(found.value)))),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      return passing === undefined ? Effect.void : Effect.failCause(passing)
    }
  })
  return Effect.asVoid(Effect.timeoutOption(Effect.raceFirst(Deferred.await(entry.arrived), polling), left))
}

/** Describes the call for an interceptor that waits for its settlement outside of this process. */
export const storedCall = (
  options: Options,
  call: DeferredCall,
  { token }: State,
  { expiresAt, handle }: Pick<ForSettlement, "handle" | "expiresAt">,
  isFirstAtOnce?: boolean
): Parameters<Elsewhere["wait"]>[0] => {
  const { context, tool } = call
  const { failure, name, success } = tool
  const polls = pollsOf(options, call, handle, isFirstAtOnce)
  return { token, callId: context.callId, tool: name, handle, expiresAt, stored: { failure, success }, polls }
}

const checked = (
  { check }: Polled,
  { context: { callId }, tool: { failure, name, success } }: DeferredCall,
  handle: Schema.Json
): Effect.Effect<Option.Option<unknown>, unknown> => {
  const whose = "The check of tool"
  const found = Effect.flatMap(
    Effect.suspend(() => Returned.effect(check(handle), whose, name)),
    (value) =>
      Option.isOption(value) ? Effect.succeed(value) : Effect.die(Returned.wrong(value, "an Option", whose, name))
  )
  return Interception.step(
    () => ({ type: "poll", tool: name, callId, stored: { success, failure } }),
    () => RunContext.scoped(found, name, callId)
  )
}

/** Ends a call whose deadline has passed without a settlement: cancels its work, and fails. */
export const expired = (
  options: Options,
  call: DeferredCall,
  { entry, token }: State,
  handle: Schema.Json
): Effect.Effect<unknown, unknown> => {
  const { context, tool } = call
  close(token, entry, "late")
  return Effect.flatMap(cancel(options, call, handle), (isConfirmed) => {
    if (tool.sideEffects !== "unsafe" || !isConfirmed) return call.cutOff(options.deadline)
    call.onCleared()
    const { sideEffects } = tool
    const fields = { tool: tool.name, timeout: options.deadline, callId: context.callId, sideEffects }
    return Effect.fail(ToolTimeoutError.make({ ...fields, tookEffect: false }))
  })
}

/** Calls `cancel`. Returns whether `cancel` has confirmed that the work is stopped and takes no effect. */
export const cancel = (
  { cancel }: Options,
  { context: { callId, idempotencyKey }, tool: { name } }: DeferredCall,
  handle: Schema.Json
): Effect.Effect<boolean> => {
  if (cancel === undefined) return Effect.succeed(false)
  const cancelling = Interception.step<void, unknown, never>(
    () => ({ type: "cancel", tool: name, callId, idempotencyKey }),
    () => {
      const made = Effect.suspend(() => Returned.effect(cancel(handle), "The cancel of tool", name))
      const late = () => Effect.fail(`it took longer than ${Duration.format(patience)}`)
      return Effect.asVoid(
        Effect.timeoutOrElse(RunContext.scoped(made, name, callId), { duration: patience, orElse: late })
      )
    }
  )
  return Effect.matchCauseEffect(cancelling, {
    onSuccess: () => Effect.succeed(true),
    onFailure: (cause) =>
      // an interruption means that the run goes on in another process, so there is no warning
      Cause.hasInterrupts(cause)
        ? Effect.succeed(false)
        : Effect.as(
            Effect.logWarning(
              `The cancel of tool '${name}', call '${ErrorCause.inLog(callId)}', failed`,
              ErrorCause.logged(cause)
            ),
            false
          )
  })
}

/** Makes the decoder of settlements. It takes the JSON of a result or failure, or the value itself. */
export const decoder = ({ failure, success }: Pick<ToolDefinition, "failure" | "success">): Decode => {
  const value = reader(success)
  const error = failure === undefined ? undefined : reader(failure)
  return (exit) => {
    if (!Exit.isExit(exit)) return misfit("Expected an Exit")
    if (Exit.isSuccess(exit)) return Effect.map(value(exit.value), Exit.succeed)
    const failed = exit.cause.reasons.find(Cause.isFailReason)
    if (failed === undefined) return misfit("Expected a result or a failure")
    return error === undefined
      ? misfit("Expected a result: the tool has no schema of its failures")
      : Effect.map(error(failed.error), Exit.fail)
  }
}

const reader = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema), { errors: "all" })
  const is = Schema.is(schema)
  return (value: unknown): Effect.Effect<unknown, Schema.SchemaError> => {
    if (isDeep(value)) return misfit("Expected a value that is not nested so deeply")
    return Effect.catchIf(
      decode(value),
      () => is(value),
      () => Effect.succeed(value)
    )
  }
}

const misfit = (message: string): Effect.Effect<never, Schema.SchemaError> =>
  Effect.fail(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message })))
