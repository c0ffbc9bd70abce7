/** Remembers how to undo what a tool has done, in case its run fails, and undoes it. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Returned from "../data/Returned.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type { Remember } from "./ToolDefinition.ts"

/** Adds a call to those that the run undoes if it fails. Outside of a run nothing is added. */
export const remember: Remember = (compensate, { name: tool }, params, result, { callId, idempotencyKey }) =>
  Effect.withFiber((fiber) => {
    const run = fiber.getRef(RunContext.Current)
    if (run === undefined) return Effect.void
    const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    // the services of the compensation are taken from here, where the tool has run; all others are those of the place where it is undone
    const { context } = fiber
    const compensation = Effect.updateContext(
      Effect.suspend(() => {
        const undoing = compensate({ params, result, callId, idempotencyKey }) as Effect.Effect<void, unknown>
        const undone = Returned.effect(undoing, "The compensation of tool", tool)
        return RunContext.scoped(undone, tool, callId)
      }),
      (around: Context.Context<never>) => Context.merge(context, around)
    )
    const made = { tool, callId, key: idempotencyKey, callKey: run.callKey }
    // the run that fails may be a parent of this one
    const undoing = Effect.flatMap(RunContext.Current, (failed = run) => undo(failed, made, compensation))
    run.done.add({ ...made, at, undo: undoing, isUndone: false })
    return Effect.void
  })

type Effected = Parameters<RunContext.RunContext["done"]["add"]>[0]

/** Runs a compensation. One that fails or dies is emitted and logged. */
const undo = Effect.fnUntraced(function* (
  run: RunContext.RunContext,
  { callId, callKey, key, tool }: Pick<Effected, "tool" | "callId" | "key" | "callKey">,
  compensation: Effect.Effect<void, unknown>
): Effect.fn.Return<void> {
  const exit: Exit.Exit<void, unknown> = yield* Effect.exit(
    Interception.step<void, unknown, never>(
      () => ({ type: "compensation", tool, callId, callKey, idempotencyKey: key }),
      () => RunContext.afterwards(compensation)
    )
  )
  if (Exit.isSuccess(exit)) return yield* RunContext.emit(run, () => ({ type: "tool-compensated", callId, tool, key }))
  // the cause that passes on has no typed failure left
  if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
  const error = Cause.squash(exit.cause)
  const what = `What tool '${tool}' has done could not be undone, key '${key}'`
  yield* Effect.logWarning(what, ErrorCause.logged(exit.cause))
  yield* RunContext.emit(run, () => ({ type: "tool-compensated", callId, tool, key, error }))
})
