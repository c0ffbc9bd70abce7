/** One attempt of a deferred tool: `start` gives a handle, then the call waits for its settlement. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { isDeep } from "../data/Foreign.ts"
import * as Token from "../data/Token.ts"
import type { ForSettlement } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { endedAs } from "./continuing.ts"
import { arrival, cancel, decoder, expired, once, patience, storedCall, takeGiven } from "./awaiting.ts"
import type { DeferredCall, Options, State } from "./awaiting.ts"
import type { Beside } from "./beside.ts"
import { leave, Waits } from "./CallSite.ts"
import { callOf, goOn, restore } from "./goingOn.ts"
import { Found } from "./run.ts"
import type { Deferral, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import { close, type Decode, enter, Entry, handOver, release, withdraw } from "./waiting.ts"

export const make = (
  tool: Pick<ToolDefinition, "name" | "success" | "failure" | "spec">,
  options: Options
): Deferral => ({
  attempt: (execution, begin) => {
    const { deferredIn: site, tool } = execution
    // Mutant `execution.onCleared()` survives: all executions of a deferred tool have it
    const call = { ...callOf(execution), site, onCleared: () => execution.onCleared?.() }
    // the attempt runs `start`, whose result is a handle in JSON
    const starting = { ...tool, success: Schema.Json }
    return attempt(options, decoder(tool), call, (context) =>
      begin({ ...execution, context, tool: starting, keep: {} })
    )
  },
  longest: longestOf(options),
  withdraw,
  ...(options.atEnd === undefined ? {} : { restore: restore(options) }),
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

const longestOf = ({ atEnd, cancel, deadline }: Options): Duration.Duration | undefined => {
  if (atEnd === "detach") return undefined
  return cancel === undefined ? deadline : Duration.sum(deadline, patience)
}

const storeOf = Effect.fnUntraced(function* ({ name, spec }: Pick<ToolDefinition, "name" | "spec">, token: string) {
  // the token comes from a webhook, and may be a value of any type
  if (!Predicate.isString(token)) return "unknown-token"
  if (!(yield* Token.isGenuine(token))) return "bad-signature"
  const parts = Token.partsOf(token)
  const isOurs = parts?.tool === name && parts.definition === (yield* Token.definitionOf(name, spec().parameters))
  return parts !== undefined && isOurs ? { store: parts.store } : "unknown-token"
})

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

/** The context that `start` gets: that of a tool, and the token. */
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
    const { late } = site ?? {}
    if (late !== undefined && site?.from !== undefined) {
      if (late.settlement !== undefined) entry.take(late.settlement)
      return yield* late.settlement ?? expired(options, call, state, handle)
    }
    const ended = site?.from?.ended
    if (ended !== undefined) {
      const exit = ended._tag === "Success" ? Exit.succeed(ended.value) : Exit.fail(ended.error)
      entry.take(yield* Effect.orDie(entry.decode(exit)))
      yield* takeGiven(site?.decisions, state, false)
      if (entry.settlement !== undefined) return yield* entry.settlement
    }
    const replaces = late === undefined ? {} : { replaces: late.handle }
    const begun = { callId, tool: tool.name, handle, expiresAt, ...replaces }
    yield* RunContext.emit(site?.run, () => ({ type: "tool-waiting", ...begun }))
    if (options.atEnd !== undefined && site !== undefined) {
      const { callKey = "" } = site.run
      const of = { callId, callKey, key: call.context.idempotencyKey, tool: tool.name }
      const going = yield* goOn(options, call, state, site.run, { ...of, token, handle, expiresAt })
      return yield* Effect.fail(new Waits({ type: "deferred", token, handle, expiresAt }, going))
    }
    yield* takeGiven(site?.decisions, state, now > expiresAt)
    const left = Duration.millis(expiresAt - now)
    // a run that answers at its limit waits for nothing more
    const isHandedOver = site?.isSuspendable === true || site?.run.meter.withdraws === true
    // Mutant `true` for `entry.settlement === undefined` survives: a settlement that has come ends each of these waits at once
    if (site !== undefined && entry.settlement === undefined && isHandedOver && now < expiresAt) {
      if (site.from !== undefined) yield* isWithdrawn(site.run, entry, once(options, call, entry, handle, left))
      const { beside } = site
      if (beside !== undefined && entry.settlement === undefined && !site.run.meter.withdraws) {
        yield* rest(options, call, state, { site, beside, handle, expiresAt })
      }
      // Mutant `false` for `entry.settlement !== undefined` survives: `handedOver` looks for a settlement, too
      const isOver = entry.settlement !== undefined || (yield* Clock.currentTimeMillis) >= expiresAt
      if (!isOver) return yield* handedOver(options, call, state, { token, handle, expiresAt })
      return yield* entry.settlement ?? expired(options, call, state, handle)
    }
    if (entry.settlement === undefined && state.elsewhere !== undefined) {
      const found = yield* state.elsewhere.wait(storedCall(options, call, state, { handle, expiresAt }))
      if (found === "withdrawn") return yield* handedOver(options, call, state, { token, handle, expiresAt })
      entry.settlement = found
    }
    // Mutant `true` for `entry.settlement === undefined` survives: a settlement that has come ends this wait at once
    if (entry.settlement === undefined && state.elsewhere === undefined && now < expiresAt) {
      const inTime = Effect.timeoutOption(arrival(options, call, entry, handle), left)
      if (site === undefined) yield* inTime
      else if (yield* isWithdrawn(site.run, entry, Effect.asVoid(inTime))) {
        // at the very instant of the deadline, the deadline comes first
        if ((yield* Clock.currentTimeMillis) < expiresAt) {
          return yield* handedOver(options, call, state, { token, handle, expiresAt })
        }
      }
    }
    return yield* entry.settlement ?? expired(options, call, state, handle)
  })

/** Ends the wait in memory. The call is suspended with its run, or it was withdrawn. */
const handedOver = (
  options: Options,
  call: DeferredCall,
  { entry, token }: State,
  handed: Pick<ForSettlement, "token" | "handle" | "expiresAt">
): Effect.Effect<unknown, unknown> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      // a settlement has come at this very instant
      if (entry.settlement !== undefined) return entry.settlement
      close(token, entry, "suspended")
      return Effect.andThen(leftToRun(options, call, handed), Effect.fail(new Waits({ type: "deferred", ...handed })))
    })
  )

/**
 * Lets the run cancel the work of the call. A run that ends without an answer while the call waits has failed or was interrupted, and then
 * cancels the work.
 */
const leftToRun = (
  options: Options,
  call: DeferredCall,
  { handle, token }: Pick<ForSettlement, "token" | "handle">
): Effect.Effect<void> => {
  handOver(token, cancel(options, call, handle))
  return Scope.addFinalizerExit(call.context.runScope, (exit) =>
    Exit.isSuccess(exit) ? release(token) : withdraw(token)
  )
}

interface Resting extends Pick<ForSettlement, "handle" | "expiresAt"> {
  readonly site: NonNullable<DeferredCall["site"]>
  readonly beside: Beside
}

/**
 * Waits in memory while other calls of the reply are at work. A settlement, the deadline or a message of the user ends the wait. If a limit
 * suspends the run meanwhile, its snapshot has this call.
 */
const rest = (
  options: Options,
  call: DeferredCall,
  state: State,
  { beside, expiresAt, handle, site }: Resting
): Effect.Effect<void> => {
  const { entry, token } = state
  const idle = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    beside.onIdle.add(wake)
    if (beside.atWork <= 0) wake()
    return Effect.sync(() => beside.onIdle.delete(wake))
  })
  const wait: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (entry.settlement !== undefined || now >= expiresAt || beside.atWork <= 0) return Effect.void
    const arriving = Effect.raceFirst(arrival(options, call, entry, handle, false), idle)
    const inTime = Effect.timeoutOption(arriving, Duration.millis(expiresAt - now))
    return Effect.flatMap(isWithdrawn(site.run, entry, Effect.asVoid(inTime)), (isSaid) =>
      isSaid ? Effect.void : wait
    )
  })
  const restored = () => void beside.atWork++
  const begin = Effect.suspend(() => {
    state.isResting = true
    site.waits(() => {
      const ended = entry.settlement && endedAs(call.tool, entry.settlement)
      return { type: "deferred", token, handle, expiresAt, ...(ended === undefined ? {} : { ended }) }
    })
    entry.onTaken = restored
    leave(beside)
    return leftToRun(options, call, { token, handle })
  })
  const end = Effect.suspend(() => {
    if (entry.settlement === undefined) restored()
    entry.onTaken = undefined
    return Effect.void
  })
  const over = Effect.suspend(() => {
    state.isResting = false
    return release(token)
  })
  return Effect.andThen(Effect.ensuring(Effect.andThen(begin, wait), end), over)
}

/** Waits for a settlement. Returns whether a message of the user has ended the wait before a settlement came. */
const isWithdrawn = (run: RunContext.RunContext, entry: Entry, wait: Effect.Effect<void>): Effect.Effect<boolean> => {
  const waiting = RunContext.untilHalted(run, wait, Effect.die)
  const { inbox } = run.tree
  if (inbox === undefined) return Effect.as(waiting, false)
  const withdrawn = () => inbox.ends(run, "request")
  entry.isWithdrawn = withdrawn
  return Effect.map(
    inbox.during(run, "request", Effect.as(waiting, true)),
    // Mutant `isOver === undefined || entry.settlement === undefined` survives: callers look for a settlement and the deadline, too
    (isOver) => isOver === undefined && entry.settlement === undefined
  )
}

const isJson = Schema.is(Schema.Json)

const isHandle = (value: unknown): value is Schema.Json => !isDeep(value) && isJson(value)

/** Closes a call at the end of its attempt. Work that has begun and is neither settled nor suspended is cancelled. */
const ended = (
  options: Options,
  call: DeferredCall,
  { elsewhere, entry, handed, isResting, token }: State,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<void> => {
  const isStopped = Exit.isFailure(exit) && (Cause.hasInterrupts(exit.cause) || Cause.hasDies(exit.cause))
  const waits = !isStopped && Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  const isSuspended = waits instanceof Waits
  // the run goes on, and the call still waits for its result
  // Mutant `true` for `waits.late !== undefined` survives: a call that is suspended was closed before
  if (isSuspended && waits.late !== undefined) return Effect.void
  const { isUnsettled } = entry
  const limit = isResting === true ? call.site?.run.meter.ended : undefined
  const isLeft = isSuspended || limit?.meter.actionAt(limit.reason) === "checkpoint"
  close(token, entry, isLeft ? "suspended" : "run-over")
  if (!isUnsettled || Exit.isSuccess(exit) || isLeft) return Effect.void
  const closed = Effect.andThen(release(token), elsewhere?.close(token) ?? Effect.void)
  if (!isStopped || handed === undefined) return closed
  call.site?.waits(undefined)
  return Effect.andThen(
    closed,
    Effect.map(cancel(options, call, handed.handle), (isConfirmed) => {
      if (isConfirmed) call.onCleared()
    })
  )
}
