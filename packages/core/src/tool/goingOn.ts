/** Deferred calls whose run goes on: how such a call begins to wait, and how it continues in a resumed run. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as RunContext from "../event/RunContext.ts"
import { arrival, cancel, decoder, once, pollOf, storedCall, takeGiven } from "./awaiting.ts"
import type { DeferredCall, Options, State } from "./awaiting.ts"
import * as Call from "./call.ts"
import * as Continuing from "./continuing.ts"
import type { LateCall } from "./Late.ts"
import * as Polling from "./polling.ts"
import { cutOff } from "./run.ts"
import type { Deferral } from "./ToolDefinition.ts"
import { close, enter } from "./waiting.ts"

/**
 * The parts of a deferred call that come from its attempt: how it ends at the deadline, and how its result is remembered for compensation.
 */
export const callOf = (attempt: Parameters<Deferral["attempt"]>[0]): Omit<DeferredCall, "site" | "onCleared"> => {
  const { context, decoded, tool } = attempt
  const { compensate, remember } = tool
  return {
    tool,
    context,
    cutOff: (limit) => cutOff(attempt, limit),
    remember: (value) =>
      compensate === undefined || remember === undefined
        ? Effect.void
        : remember(compensate, tool, decoded?.params(), value, context)
  }
}

/** Lets the run go on while the work continues. The result reaches the run later, at a safe point. */
export const goOn = (
  options: Options,
  call: DeferredCall,
  state: State,
  run: RunContext.RunContext,
  checkpoint: Continuing.Begun["checkpoint"]
): Effect.Effect<LateCall> =>
  Effect.gen(function* () {
    const { elsewhere, entry, token } = state
    const { expiresAt, handle } = checkpoint
    entry.expiresAt = expiresAt
    // the result is remembered as soon as it comes: a run that fails before it has read the result still undoes the work
    const remembering = Effect.runForkWith(yield* Effect.context<never>())
    const remember = (exit: Exit.Exit<unknown, unknown>) => {
      if (Exit.isSuccess(exit)) remembering(RunContext.within(run, call.remember(exit.value)))
    }
    entry.onTaken = remember
    if (entry.settlement !== undefined) remember(entry.settlement)
    const over = Effect.suspend(() => {
      const { isUnsettled } = entry
      close(token, entry, "run-over")
      return isUnsettled ? Effect.as(elsewhere?.close(token) ?? Effect.void, true) : Effect.succeed(false)
    })
    const stop = Effect.flatMap(over, (wasUnsettled) =>
      wasUnsettled ? Effect.asVoid(cancel(options, call, handle)) : Effect.void
    )
    yield* Scope.addFinalizer(call.context.runScope, RunContext.within(run, stop))
    const begun: Continuing.Begun = {
      call,
      run,
      checkpoint,
      entry,
      detaches: options.atEnd === "detach",
      elsewhere: undefined,
      stop: RunContext.within(run, stop),
      release: RunContext.within(run, Effect.asVoid(over)),
      suspend: () => close(token, entry, "suspended"),
      expire: () => close(token, entry, "late")
    }
    if (elsewhere !== undefined) {
      const asked = storedCall(options, call, state, checkpoint, true)
      yield* elsewhere.begun(asked)
      const now = yield* Clock.currentTimeMillis
      const poll = options.poll && (yield* Polling.inPassing(pollOf(options.poll, call, handle), now))
      return Continuing.make({ ...begun, elsewhere: { ...elsewhere, asked, poll } })
    }
    // Mutants `true` for `entry.settlement === undefined`, `true` for
    // `options.poll !== undefined && entry.settlement === undefined` survive: only a fiber more. A call that is settled is not polled
    if (options.poll !== undefined && entry.settlement === undefined) {
      const left = Duration.millis(expiresAt - (yield* Clock.currentTimeMillis))
      const polling = Effect.timeoutOption(arrival(options, call, entry, handle), left)
      const broken = Effect.onExit(polling, (exit) => Effect.sync(() => void (Exit.hasDies(exit) && entry.take(exit))))
      yield* Effect.forkIn(RunContext.within(run, Effect.exit(broken)), call.context.runScope)
    }
    return Continuing.make(begun)
  })

/** Continues a late call in a resumed run. The call has passed every gate before. */
export const restore =
  (options: Options): NonNullable<Deferral["restore"]> =>
  (tool, checkpoint, around, decisions) =>
    Effect.gen(function* () {
      const { callId, callKey, expiresAt, handle, key, token } = checkpoint
      const run = { ...around, callId, callKey, within: key, repairing: undefined }
      const runScope = run.done.scope
      const progress = () => Effect.void
      const waits = () => {}
      const context = { attempt: 1, callId, idempotencyKey: key, agent: run.agent, progress, runScope }
      const made = { type: "tool-call", id: callId, name: tool.name, arguments: checkpoint.arguments } as const
      const read = Call.decodeNow(tool, made)
      const decoded = read && Result.getOrUndefined(read)
      // Mutant `true` survives: nothing asks this of a call that goes on
      const site = { run, isSuspendable: false, from: undefined, decisions, late: undefined, beside: undefined, waits }
      const call = { ...callOf({ tool, context, decoded, keep: {} }), site, onCleared: () => {} }
      const entry = enter(token, decoder(tool))
      const state: State = { token, entry, elsewhere: undefined, handed: { handle, expiresAt } }
      const now = yield* Clock.currentTimeMillis
      if (checkpoint.result !== undefined) close(token, entry, "already-settled")
      const { ended } = checkpoint
      if (ended !== undefined) {
        const exit = ended._tag === "Success" ? Exit.succeed(ended.value) : Exit.fail(ended.error)
        entry.take(yield* Effect.orDie(entry.decode(exit)))
      }
      yield* takeGiven(decisions, state, now > expiresAt)
      if (checkpoint.result === undefined && entry.settlement === undefined && now < expiresAt) {
        yield* RunContext.within(run, once(options, call, entry, handle, Duration.millis(expiresAt - now)))
      }
      return yield* goOn(options, call, state, run, checkpoint)
    })
