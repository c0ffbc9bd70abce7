/** One run of a tool: within its time limit, and with an answer to whether it took effect when it was cut off. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as ErrorCause from "../ErrorCause.ts"
import { OutcomeUnknownError, ToolTimeoutError } from "../ToolError.ts"
import { untouchable } from "./recoveryDriver.ts"
import type { ToolContext, ToolDefinition } from "./toolDefinition.ts"

/** A tool was cut off, and looking up whether it took effect failed too: nobody but a person can tell. */
export class Unverifiable {
  readonly error: OutcomeUnknownError
  readonly why: string
  constructor(error: OutcomeUnknownError, why: string) {
    this.error = error
    this.why = why
  }
}

/** Fails as the tool fails; with `ToolTimeoutError` or `OutcomeUnknownError` when it did not end in time. */
export const run = (tool: ToolDefinition, params: unknown, context: ToolContext): Effect.Effect<unknown, unknown> => {
  const running = tool.run(params, context)
  const { timeout } = tool
  return timeout === undefined
    ? running
    : Effect.timeoutOrElse(running, { duration: timeout, orElse: () => cutOff(tool, context, timeout) })
}

/** What it means that a tool was stopped before its end. */
export const cutOff = (
  { name, sideEffects, verify }: ToolDefinition,
  { callId, idempotencyKey }: ToolContext,
  limit: Duration.Duration
): Effect.Effect<unknown, unknown> => {
  const late = () => ToolTimeoutError.actionTimeout(name, limit, { callId, sideEffects })
  if (sideEffects !== "unsafe") return Effect.suspend(() => Effect.fail(late()))
  const unknown = () => OutcomeUnknownError.of(name, callId, idempotencyKey)
  if (verify === undefined) return Effect.suspend(() => Effect.fail(unknown()))
  return Effect.flatMap(Effect.exit(verify(idempotencyKey)), (exit): Effect.Effect<unknown, unknown> => {
    if (Exit.isFailure(exit)) {
      const passing = untouchable(exit.cause)
      if (passing !== undefined) return Effect.failCause(passing)
      const why = ErrorCause.mask(ErrorCause.sayingOf(Cause.squash(exit.cause)))
      return Effect.fail(new Unverifiable(unknown(), why))
    }
    return Option.isSome(exit.value) ? Effect.succeed(exit.value.value) : Effect.suspend(() => Effect.fail(late()))
  })
}
