/** One run of a tool: within its time limit, and with an answer to whether it took effect when it was cut off. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ErrorCause from "../ErrorCause.ts"
import * as Interception from "../Interception.ts"
import * as RunContext from "../RunContext.ts"
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

/** A tool was cut off, and had taken effect all the same: this is its result. */
export class Found {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/**
 * Fails as the tool fails; with `ToolTimeoutError` or `OutcomeUnknownError` when it did not end in time, and with
 * `Unverifiable`. Succeeds as the tool does, or with `Found`. `onCleared` hears that it was cut off, looked up, and had taken
 * no effect: a `ToolTimeoutError` by itself may be anybody's.
 */
export const run = (
  tool: ToolDefinition,
  params: unknown,
  context: ToolContext,
  onCleared?: () => void
): Effect.Effect<unknown, unknown> => {
  const { timeout } = tool
  const running = tool.sideEffects === "unsafe" ? announced(tool, params, context) : started(tool, params, context)
  if (timeout === undefined) return running
  return Effect.timeoutOrElse(running, { duration: timeout, orElse: () => cutOff(tool, context, timeout, onCleared) })
}

const started = (tool: ToolDefinition, params: unknown, context: ToolContext): Effect.Effect<unknown, unknown> =>
  Interception.step(
    () => {
      const { attempt, callId, idempotencyKey } = context
      const isUnsafe = tool.sideEffects === "unsafe"
      return { kind: "tool attempt", tool: tool.name, isUnsafe, callId, idempotencyKey, attempt }
    },
    () => tool.run(params, context)
  )

/** From here on it may have taken effect: whoever would start something else in its place has to know. */
const announced = (tool: ToolDefinition, params: unknown, context: ToolContext): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(RunContext.Current, (run) => {
    run?.onUnsafe?.()
    return started(tool, params, context)
  })

/** A call outside of every table: whatever a table would tell of it is plain here. */
export const runAlone = (
  tool: ToolDefinition,
  params: unknown,
  context: ToolContext
): Effect.Effect<unknown, unknown> =>
  Effect.matchEffect(
    Effect.suspend(() => run(tool, params, context)),
    {
      onSuccess: (value) => Effect.succeed(value instanceof Found ? value.value : value),
      onFailure: (error) => Effect.fail(error instanceof Unverifiable ? error.error : error)
    }
  )

/** What it means that a tool was stopped before its end. Looking it up may take as long as the tool itself. */
export const cutOff = (
  { name, sideEffects, verify }: ToolDefinition,
  { callId, idempotencyKey }: ToolContext,
  limit: Duration.Duration,
  onCleared?: () => void
): Effect.Effect<unknown, unknown> => {
  if (sideEffects !== "unsafe") {
    return Effect.suspend(() => Effect.fail(ToolTimeoutError.actionTimeout(name, limit, { callId, sideEffects })))
  }
  const unknown = () => OutcomeUnknownError.of(name, callId, idempotencyKey)
  if (verify === undefined) return Effect.suspend(() => Effect.fail(unknown()))
  const unverifiable = (why: string) => Effect.fail(new Unverifiable(unknown(), why))
  const lookedUp = Effect.matchCauseEffect(
    Interception.step(
      () => ({ kind: "look-up", tool: name, idempotencyKey }),
      () => verify(idempotencyKey)
    ),
    {
      onSuccess: (found): Effect.Effect<unknown, unknown> => {
        if (Option.isSome(found)) return Effect.succeed(new Found(found.value))
        onCleared?.()
        return Effect.fail(ToolTimeoutError.actionTimeout(name, limit, { callId, sideEffects, tookEffect: false }))
      },
      onFailure: (cause) => {
        const passing = untouchable(cause)
        return passing === undefined
          ? unverifiable(ErrorCause.mask(ErrorCause.sayingOf(Cause.squash(cause))))
          : Effect.failCause(passing)
      }
    }
  )
  return Effect.timeoutOrElse(lookedUp, {
    duration: limit,
    orElse: () => unverifiable(`it took longer than ${Duration.format(limit)}`)
  })
}

/** Whether a failure leaves it open what the tool did. */
export const isOpen = (error: unknown): boolean => error instanceof OutcomeUnknownError || error instanceof Unverifiable
