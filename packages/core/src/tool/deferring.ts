/** One attempt of a deferred tool: `start` gives a handle, then the call waits for its settlement. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Scope from "effect/Scope"
import { isDeep } from "../data/Foreign.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Returned from "../data/Returned.ts"
import * as Token from "../data/Token.ts"
import { ToolTimeoutError } from "../errors/ToolError.ts"
import type { ForSettlement } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { untouchable } from "../recovery/Layer.ts"
import { Waits } from "./CallSite.ts"
import * as Polling from "./polling.ts"
import type { Poll } from "./polling.ts"
import { cutOff, Found } from "./run.ts"
import type { Deferral, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import { close, type Decode, enter, Entry, handOver, release, withdraw } from "./waiting.ts"

/** What a user wrote about the wait. */
interface Options {
  readonly deadline: Duration.Duration
  readonly cancel: ((handle: Schema.Json) => Effect.Effect<unknown, unknown>) | undefined
  readonly poll: Polled | undefined
}

interface Polled {
  readonly every: Poll["every"]
  readonly check: (handle: Schema.Json) => Effect.Effect<Option.Option<unknown>, unknown>
}

/** How long `cancel` may take. */
const patience = Duration.seconds(5)

export const make = (
  tool: Pick<ToolDefinition, "name" | "success" | "failure" | "spec">,
  options: Options
): Deferral => ({
  attempt: (execution, begin) => {
    const { context, deferredIn: site, tool } = execution
    const cleared = () => execution.onCleared?.()
    const call = {
      tool,
      context,
      site,
      onCleared: cleared,
      cutOff: (limit: Duration.Duration) => cutOff(execution, limit)
    }
    // what begins is its `start`, which gives a handle
    const starting = { ...tool, success: Schema.Json }
    return attempt(options, decoder(tool), call, (context) =>
      begin({ ...execution, context, tool: starting, keep: {} })
    )
  },
  longest: options.cancel === undefined ? options.deadline : Duration.sum(options.deadline, patience),
  withdraw,
  decode: decoder(tool),
  storeOf: (token) => storeOf(tool, token),
  provided: (around) => {
    const { cancel, poll } = options
    return make(tool, {
      ...options,
      cancel: cancel && ((handle) => around(cancel(handle))),
      poll: poll && { ...poll, check: (handle) => around(poll.check(handle)) }
    })
  }
})

type Elsewhere = NonNullable<Interception.Interceptor["deferring"]>

const storeOf = Effect.fnUntraced(function* ({ name, spec }: Pick<ToolDefinition, "name" | "spec">, token: string) {
  if (!(yield* Token.isGenuine(token))) return "bad-signature"
  const parts = Token.partsOf(token)
  const isOurs = parts?.tool === name && parts.definition === (yield* Token.definitionOf(name, spec().parameters))
  return parts !== undefined && isOurs ? { store: parts.store } : "unknown-token"
})

/** One attempt of a deferred tool. */
interface DeferredCall {
  readonly tool: ToolDefinition
  readonly context: ToolContext
  /** Absent outside of a run. */
  readonly site: Parameters<Deferral["attempt"]>[0]["deferredIn"]
  /** Called when the work was cancelled, and took no effect. */
  readonly onCleared: () => void
  /** What it means that it has not ended in time. */
  readonly cutOff: (limit: Duration.Duration) => Effect.Effect<unknown, unknown>
}

/** What is known of an attempt at any time. */
interface State {
  readonly token: string
  readonly entry: Entry
  readonly elsewhere: Elsewhere | undefined
  /** Once `start` has returned. */
  handed: Pick<ForSettlement, "handle" | "expiresAt"> | undefined
}

const attempt = (
  options: Options,
  decode: Decode,
  call: DeferredCall,
  start: (context: ToolContext) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  Effect.gen(function* () {
    const from = call.site?.from
    const elsewhere = (yield* Interception.Current)?.deferring
    const token = from?.token ?? (yield* drawToken(call, elsewhere?.store ?? ""))
    const entry = elsewhere === undefined ? enter(token, decode) : new Entry(decode)
    const state: State = { token, entry, elsewhere, handed: from }
    const begun = from === undefined ? start(withToken(call.context, token)) : Effect.succeed(from.handle)
    const waiting = Effect.flatMap(begun, (handle) =>
      handle instanceof Found ? Effect.succeed(handle) : wait(options, call, state, handle)
    )
    return yield* Effect.onExit(waiting, (exit) => ended(options, call, state, exit))
  })

/** What `start` gets. */
const withToken = (context: ToolContext, token: string): ToolContext & { readonly token: string } => ({
  ...context,
  token
})

const drawToken = ({ context, site, tool }: DeferredCall, store: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const runId = site?.run.runId ?? ""
    const definition = yield* Token.definitionOf(tool.name, tool.spec().parameters)
    const draw = yield* RunContext.makeId
    return yield* Token.make({ runId, key: context.idempotencyKey, tool: tool.name, definition, draw, store })
  })

const wait = (options: Options, call: DeferredCall, state: State, handle: unknown): Effect.Effect<unknown, unknown> =>
  Effect.gen(function* () {
    const { site, tool } = call
    const { entry, token } = state
    const now = yield* Clock.currentTimeMillis
    if (!isHandle(handle)) return yield* Effect.die(new TypeError(`Tool '${tool.name}': start returned no JSON`))
    const expiresAt = site?.from?.expiresAt ?? now + Duration.toMillis(options.deadline)
    state.handed = { handle, expiresAt }
    const { callId } = call.context
    yield* RunContext.emit(site?.run, () => ({ type: "tool-waiting", callId, tool: tool.name, handle, expiresAt }))
    const given = site?.decisions?.settlement(token)
    // what does not fit was refused before the run went on
    if (given !== undefined && now <= expiresAt) entry.take(yield* Effect.orDie(entry.decode(given)))
    const isResumed = site?.from !== undefined
    if (entry.settlement === undefined && site?.isSuspendable === true && now < expiresAt) {
      const found = isResumed ? yield* once(options, call, handle) : undefined
      if (found !== undefined) return yield* found
      return yield* handedOver(options, call, { token, handle, expiresAt })
    }
    if (entry.settlement === undefined && state.elsewhere !== undefined) {
      const { failure, success } = tool
      const stored = { failure, success }
      const polls = pollsOf(options, call, handle)
      const found = yield* state.elsewhere.wait({
        token,
        callId,
        tool: tool.name,
        handle,
        expiresAt,
        stored,
        polls
      })
      if (found === "withdrawn") return yield* handedOver(options, call, { token, handle, expiresAt })
      entry.settlement = found
    }
    if (entry.settlement === undefined && state.elsewhere === undefined) {
      const inTime = Effect.timeoutOption(arrival(options, call, entry, handle), Duration.millis(expiresAt - now))
      if (site === undefined) yield* inTime
      else if (yield* isWithdrawn(site.run, entry, Effect.asVoid(inTime))) {
        // at the very instant of the deadline, the deadline comes first
        if ((yield* Clock.currentTimeMillis) < expiresAt) {
          return yield* handedOver(options, call, { token, handle, expiresAt })
        }
      }
    }
    return yield* entry.settlement ?? expired(options, call, state, handle)
  })

/** The call waits for the end of its batch: it is suspended with its run, or withdrawn. */
const handedOver = Effect.fnUntraced(function* (
  options: Options,
  call: DeferredCall,
  handed: Pick<ForSettlement, "token" | "handle" | "expiresAt">
): Effect.fn.Return<never, Waits> {
  const { handle, token } = handed
  handOver(token, cancel(options, call, handle))
  // a run that ends without an answer while the call waits has failed, or was interrupted
  yield* Scope.addFinalizerExit(call.context.runScope, (exit) =>
    Exit.isSuccess(exit) ? release(token) : withdraw(token)
  )
  return yield* Effect.fail(new Waits({ type: "deferred", ...handed }))
})

/** Waits; gives whether a message of the user has ended the wait before a settlement came. */
const isWithdrawn = (run: RunContext.RunContext, entry: Entry, wait: Effect.Effect<void>): Effect.Effect<boolean> => {
  const waiting = RunContext.untilHalted(run, wait, Effect.die)
  const { inbox } = run.tree
  if (inbox === undefined) return Effect.as(waiting, false)
  const withdrawn = () => inbox.ends(run, "request")
  entry.isWithdrawn = withdrawn
  return Effect.map(
    inbox.during(run, "request", Effect.as(waiting, true)),
    (isOver) => isOver === undefined && entry.settlement === undefined
  )
}

/** Waits in this process, and polls meanwhile. */
const arrival = (options: Options, call: DeferredCall, entry: Entry, handle: Schema.Json): Effect.Effect<void> => {
  const arrived = Deferred.await(entry.arrived)
  const polls = pollsOf(options, call, handle)
  if (polls === undefined) return arrived
  const polling = Effect.flatMap(polls(Effect.sleep), (found) => {
    if (found !== undefined) entry.take(found)
    return arrived
  })
  return Effect.raceFirst(arrived, polling)
}

const pollsOf = ({ poll }: Options, call: DeferredCall, handle: Schema.Json) => {
  if (poll === undefined) return undefined
  const asked = { ...poll, check: checked(poll, call, handle) }
  const isResumed = call.site?.from !== undefined
  return <E>(pause: (delay: Duration.Duration) => Effect.Effect<void, E>) =>
    Polling.settlementOf(asked, pause, isResumed)
}

/** One poll of a run that goes on: nothing where it has found nothing, or failed, for that is what the schedule is for. */
const once = (
  { poll }: Options,
  call: DeferredCall,
  handle: Schema.Json
): Effect.Effect<Exit.Exit<unknown> | undefined> =>
  poll === undefined
    ? Effect.undefined
    : Effect.matchCauseEffect(checked(poll, call, handle), {
        onSuccess: (found) => Effect.succeed(Option.isSome(found) ? Exit.succeed(found.value) : undefined),
        onFailure: (cause) => {
          const passing = untouchable(cause)
          return passing === undefined ? Effect.undefined : Effect.failCause(passing)
        }
      })

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

const isJson = Schema.is(Schema.Json)

const isHandle = (value: unknown): value is Schema.Json => !isDeep(value) && isJson(value)

/** The deadline has passed, and nothing has come. */
const expired = (
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

/** What was begun, and neither settled nor suspended, is cancelled. */
const ended = (
  options: Options,
  call: DeferredCall,
  { elsewhere, entry, handed, token }: State,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<void> => {
  const isStopped = Exit.isFailure(exit) && (Cause.hasInterrupts(exit.cause) || Cause.hasDies(exit.cause))
  const isSuspended = !isStopped && Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Waits
  const isUnsettled = entry.closed === undefined && entry.settlement === undefined
  close(token, entry, isSuspended ? "suspended" : "run-over")
  if (!isUnsettled || Exit.isSuccess(exit) || isSuspended) return Effect.void
  const closed = elsewhere?.close(token) ?? Effect.void
  if (!isStopped || handed === undefined) return closed
  return Effect.andThen(
    closed,
    Effect.map(cancel(options, call, handed.handle), (isConfirmed) => {
      if (isConfirmed) call.onCleared()
    })
  )
}

/** Whether `cancel` has confirmed that the work is stopped, and takes no effect. */
const cancel = (
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
      // the run goes on elsewhere
      Cause.hasInterrupts(cause)
        ? Effect.succeed(false)
        : Effect.as(
            Effect.logWarning(`The cancel of tool '${name}', call '${callId}', failed`, ErrorCause.logged(cause)),
            false
          )
  })
}

/** Decodes a settlement: its JSON, or the value itself. */
const decoder = ({ failure, success }: Pick<ToolDefinition, "failure" | "success">): Decode => {
  const value = reader(success)
  const error = failure === undefined ? undefined : reader(failure)
  return (exit) => {
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
