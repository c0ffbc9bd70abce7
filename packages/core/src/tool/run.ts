/** One run of a tool: within its time limit, in a scope of its own, and with an answer to whether it took effect when it was cut off. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Returned from "../data/Returned.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { OutcomeUnknownError, ToolTimeoutError } from "../errors/ToolError.ts"
import { untouchable } from "../recovery/Layer.ts"
import type { Decoded } from "./call.ts"
import type { Nesting } from "./ToolDefinition.ts"
import type { ToolContext, ToolDefinition } from "./ToolDefinition.ts"
import { remember } from "./undoing.ts"
import { Cost } from "../recovery/Cost.ts"

/** A tool was cut off, and looking up whether it took effect failed too: only a person can find out. */
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

/** One run of a tool. */
export interface Execution {
  readonly tool: ToolDefinition
  readonly decoded: Decoded | undefined
  readonly context: ToolContext
  /** What the run that calls it says to a sub-agent. */
  readonly nesting?: Nesting | undefined
  /** Hears that it was cut off, looked up, and had taken no effect: a `ToolTimeoutError` by itself may be anybody's. */
  readonly onCleared?: () => void
}

/**
 * Fails as the tool fails; with `ToolTimeoutError` or `OutcomeUnknownError` when it did not end in time, and with
 * `Unverifiable`. Succeeds as the tool does, or with `Found`.
 */
export const run = (self: Execution): Effect.Effect<unknown, unknown> => {
  const { context, decoded, onCleared, tool } = self
  const { compensate, timeout } = tool
  const running = tool.sideEffects === "unsafe" ? announced(self) : started(self)
  const isNested = self.nesting !== undefined && tool.nested !== undefined
  // what it has acquired is released outside of its time: an outcome that is known stays known
  const within = <A, E>(ran: Effect.Effect<A, E>) => (isNested ? ran : Effect.scoped(ran))
  const inTime =
    timeout === undefined
      ? within(running)
      : Effect.flatMap(within(Effect.timeoutOption(running, timeout)), (ended) =>
          Option.isSome(ended) ? Effect.succeed(ended.value) : cutOff(tool, context, timeout, onCleared)
        )
  return compensate === undefined
    ? inTime
    : Effect.tap(inTime, (value) => remember(tool, compensate, decoded?.params(), resultOf(value), context))
}

/** The result itself, also where it was looked up. */
export const resultOf = (value: unknown): unknown => (value instanceof Found ? value.value : value)

const started = ({ context, decoded, nesting, tool }: Execution): Effect.Effect<unknown, unknown> =>
  Interception.step(
    () => {
      const { attempt, callId, idempotencyKey } = context
      const isUnsafe = tool.sideEffects === "unsafe"
      const about = { tool: tool.name, isUnsafe, isAgent: isAgent(tool), stored: storedOf(tool) }
      return { kind: "tool attempt", ...about, callId, idempotencyKey, attempt }
    },
    () => {
      const params = decoded?.params()
      return nesting === undefined || tool.nested === undefined
        ? Returned.effect(tool.run(params, context), "The run of tool", tool.name)
        : tool.nested.run(params, nesting)
    }
  )

/** Whether the run of a tool is an agent. */
export const isAgent = ({ run }: Pick<ToolDefinition, "run">): boolean => Predicate.hasProperty(run, Cost)

const storedOf = ({ failure, success }: ToolDefinition) => ({ success, failure })

/** From here on it may have taken effect: what would start something else in its place has to know. */
const announced = (self: Execution): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(RunContext.Current, (run) => {
    run?.onUnsafe?.()
    return Effect.catchIf(
      started(self),
      (error) => error instanceof Interception.Lost,
      () => lost(self)
    )
  })

/** It had begun elsewhere, and nothing says how it ended: unless it turns out to have taken no effect, it does not run again. */
const lost = (self: Execution): Effect.Effect<unknown, unknown> => {
  const { context, onCleared, tool } = self
  const { callId, idempotencyKey } = context
  const unknown = () => OutcomeUnknownError.make({ tool: tool.name, callId, idempotencyKey })
  if (tool.verify === undefined) return Effect.suspend(() => Effect.fail(unknown()))
  return lookUp(tool, tool.verify, context, unknown, () => {
    onCleared?.()
    return announced(self)
  })
}

/** A call outside of every table: what a table would tell of it is plain here. */
export const runAlone = (self: Execution): Effect.Effect<unknown, unknown> =>
  Effect.matchEffect(
    Effect.suspend(() => run(self)),
    {
      onSuccess: (value) => Effect.succeed(resultOf(value)),
      onFailure: (error) => Effect.fail(error instanceof Unverifiable ? error.error : error)
    }
  )

/** What it means that a tool was stopped before its end. Looking it up may take as long as the tool itself. */
export const cutOff = (
  tool: ToolDefinition,
  { callId, idempotencyKey }: ToolContext,
  limit: Duration.Duration,
  onCleared?: () => void
): Effect.Effect<unknown, unknown> => {
  const { name, sideEffects, verify } = tool
  if (sideEffects !== "unsafe") {
    return Effect.suspend(() => Effect.fail(ToolTimeoutError.make({ tool: name, timeout: limit, callId, sideEffects })))
  }
  const unknown = () => OutcomeUnknownError.make({ tool: tool.name, callId, idempotencyKey })
  if (verify === undefined) return Effect.suspend(() => Effect.fail(unknown()))
  const lookedUp = lookUp(tool, verify, { callId, idempotencyKey }, unknown, () => {
    onCleared?.()
    return Effect.fail(ToolTimeoutError.make({ tool: name, timeout: limit, callId, sideEffects, tookEffect: false }))
  })
  return Effect.timeoutOrElse(lookedUp, {
    duration: limit,
    orElse: () => unverifiable(unknown(), `it took longer than ${Duration.format(limit)}`)
  })
}

const unverifiable = (error: OutcomeUnknownError, why: string) => Effect.fail(new Unverifiable(error, why))

/** Gives what was found, or goes on where it took no effect. */
const lookUp = (
  tool: ToolDefinition,
  verify: NonNullable<ToolDefinition["verify"]>,
  { idempotencyKey }: Pick<ToolContext, "callId" | "idempotencyKey">,
  unknown: () => OutcomeUnknownError,
  cleared: () => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  Effect.matchCauseEffect(
    Interception.step(
      () => ({ kind: "look-up", tool: tool.name, idempotencyKey, stored: storedOf(tool) }),
      () => Returned.effect(verify(idempotencyKey), "The verify of tool", tool.name)
    ),
    {
      onSuccess: (found): Effect.Effect<unknown, unknown> =>
        Option.isSome(found) ? Effect.succeed(new Found(found.value)) : cleared(),
      onFailure: (cause) => {
        const passing = untouchable(cause)
        return passing === undefined
          ? unverifiable(unknown(), Redaction.foreign(ErrorCause.sayingOf(Cause.squash(cause))))
          : Effect.failCause(passing)
      }
    }
  )

/** Whether after this failure the outcome of the tool is unknown. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof OutcomeUnknownError || error instanceof Unverifiable
