/** Remembers how to undo what a tool has done, in case its run fails. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Returned from "../data/Returned.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Compensate, ToolContext, ToolDefinition } from "./ToolDefinition.ts"

/** Adds a call to those that the run undoes if it fails. Outside of a run nothing is added. */
export const remember = (
  { name: tool }: ToolDefinition,
  compensate: Compensate<unknown, unknown, unknown>,
  params: unknown,
  result: unknown,
  { callId, idempotencyKey }: ToolContext
): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const run = fiber.getRef(RunContext.Current)
    if (run === undefined) return Effect.void
    const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    // the services of the compensation are taken from here, where the tool has run; all others are those of the place where it is undone
    const { context } = fiber
    const undo = Effect.updateContext(
      Effect.suspend(() => {
        const undoing = compensate({ params, result, callId, idempotencyKey }) as Effect.Effect<void, unknown>
        const undone = Returned.effect(undoing, "The compensation of tool", tool)
        return RunContext.scoped(undone, tool, callId)
      }),
      (around: Context.Context<never>) => Context.merge(context, around)
    )
    run.done.add({ tool, callId, key: idempotencyKey, callKey: run.callKey, at, undo, isUndone: false })
    return Effect.void
  })
