/** One run of a tool: within its time limit, in a scope of its own, and with an answer to whether it took effect when it was cut off. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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
import type { Deferral, Nesting, ToolContext, ToolDefinition } from "./ToolDefinition.ts"
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

/** A result, and the text that was made of it. */
export interface Encoded {
  readonly value: unknown
  readonly text: Text
}

type Text = ReturnType<ToolDefinition["encode"]>

/** One run of a tool. */
export interface Execution {
  readonly tool: ToolDefinition
  readonly decoded: Decoded | undefined
  readonly context: ToolContext
  /** What the run that calls it says to a sub-agent. */
  readonly nesting?: Nesting | undefined
  /** How a deferred tool waits in its run. */
  readonly deferredIn?: Parameters<Deferral["attempt"]>[0]["deferredIn"]
  /** Hears that it was cut off, looked up, and had taken no effect: a `ToolTimeoutError` by itself may be anybody's. */
  readonly onCleared?: () => void
  /** Keeps the text of a result whose function had acquired something: it was made before that was released. */
  readonly keep: { encoded?: Encoded }
  /** How its last function ended that was not interrupted, as long as what that had acquired is released. */
  ended?: Exit.Exit<unknown, unknown> | undefined
}

/**
 * Fails as the tool fails; with `ToolTimeoutError` or `OutcomeUnknownError` when it did not end in time, and with
 * `Unverifiable`. Succeeds as the tool does, or with `Found`.
 */
export const run = (self: Execution): Effect.Effect<unknown, unknown> => {
  const { context, decoded, tool } = self
  const { compensate, deferral, timeout } = tool
  const running = deferral === undefined ? begun(self) : deferral.attempt(self, begun)
  const inTime = timeout === undefined ? running : within(self, running, timeout, () => cutOff(self, timeout))
  // a result that has come later is remembered since then
  const isRemembered = self.deferredIn?.late?.settlement !== undefined
  return compensate === undefined || isRemembered
    ? inTime
    : Effect.tap(inTime, (value) => remember(tool, compensate, decoded?.params(), resultOf(value), context))
}

const begun = (self: Execution): Effect.Effect<unknown, unknown> =>
  self.tool.sideEffects === "unsafe" ? announced(self) : started(self)

/** Within a time limit. The release takes none of that time: an outcome that is known stays known. */
const within = <A>(
  self: Cut,
  running: Effect.Effect<A, unknown>,
  duration: Duration.Duration,
  late: () => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> => {
  // an interceptor may have the outcome from another process, where this one knows nothing more
  const orElse = () =>
    Effect.flatMap(Interception.Current, (interceptor) =>
      // of `running`, which began last
      interceptor === undefined && self.ended !== undefined ? (self.ended as Exit.Exit<A, unknown>) : late()
    )
  return Effect.timeoutOrElse(running, { duration, orElse })
}

/** The result itself, also where it was looked up. */
export const resultOf = (value: unknown): unknown => (value instanceof Found ? value.value : value)

/** The text of a result, which may have been made already. */
export const textOf = (tool: ToolDefinition, value: unknown, { encoded }: Execution["keep"]): Text =>
  encoded !== undefined && encoded.value === value ? encoded.text : tool.encode(value)

/** Runs a function of the user in a scope of its own, which is closed when the result is written down. */
const scoped = <A>(
  self: Cut,
  ran: Effect.Effect<A, unknown>,
  resultsOf: (value: A) => ReadonlyArray<unknown>
): Effect.Effect<A, unknown> => {
  const { context, keep, tool } = self
  return RunContext.scoped(ran, tool.name, context.callId, (exit) => {
    if (Exit.isSuccess(exit))
      for (const value of resultsOf(exit.value)) keep.encoded = { value, text: tool.encode(value) }
    if (Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)) self.ended = exit
  })
}

const started = (self: Execution): Effect.Effect<unknown, unknown> =>
  Interception.step(
    () => {
      const { context, tool } = self
      const { attempt, callId, idempotencyKey } = context
      const isUnsafe = tool.sideEffects === "unsafe"
      const about = { tool: tool.name, isUnsafe, isAgent: isAgent(tool), stored: storedOf(tool) }
      return { type: "tool attempt", ...about, callId, idempotencyKey, attempt }
    },
    () => {
      const { context, decoded, nesting, tool } = self
      const params = decoded?.params()
      const ran =
        nesting === undefined || tool.nested === undefined
          ? Returned.effect(tool.run(params, context), "The run of tool", tool.name)
          : tool.nested.run(params, nesting)
      return scoped(self, ran, Array.of)
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
  if (self.tool.verify === undefined) return Effect.suspend(() => Effect.fail(unknown(self)))
  return lookUp(self, self.tool.verify, undefined, () => {
    self.onCleared?.()
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

/** What is known of a run that was cut off. */
type Cut = Pick<Execution, "tool" | "onCleared" | "keep" | "ended"> & {
  readonly context: Pick<ToolContext, "callId" | "idempotencyKey">
}

/** What it means that a tool was stopped before its end. Looking it up may take as long as the tool itself. */
export const cutOff = (self: Cut, limit: Duration.Duration): Effect.Effect<unknown, unknown> => {
  const { name: tool, sideEffects, verify } = self.tool
  const { callId } = self.context
  if (sideEffects !== "unsafe") {
    return Effect.suspend(() => Effect.fail(ToolTimeoutError.make({ tool, timeout: limit, callId, sideEffects })))
  }
  if (verify === undefined) return Effect.suspend(() => Effect.fail(unknown(self)))
  return lookUp(self, verify, limit, () => {
    self.onCleared?.()
    return Effect.fail(ToolTimeoutError.make({ tool, timeout: limit, callId, sideEffects, tookEffect: false }))
  })
}

const unknown = ({ context: { callId, idempotencyKey }, tool: { name: tool } }: Cut) =>
  OutcomeUnknownError.make({ tool, callId, idempotencyKey })

/** Gives what was found, or goes on where it took no effect. */
const lookUp = (
  self: Cut,
  verify: NonNullable<ToolDefinition["verify"]>,
  limit: Duration.Duration | undefined,
  cleared: () => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> => {
  const { idempotencyKey } = self.context
  const looking = Interception.step(
    () => ({ type: "look-up", tool: self.tool.name, idempotencyKey, stored: storedOf(self.tool) }),
    () => scoped(self, Returned.effect(verify(idempotencyKey), "The verify of tool", self.tool.name), Option.toArray)
  )
  const inTime =
    limit === undefined
      ? looking
      : within(self, looking, limit, () => Effect.fail(`it took longer than ${Duration.format(limit)}`))
  return Effect.matchCauseEffect(inTime, {
    onSuccess: (found): Effect.Effect<unknown, unknown> =>
      Option.isSome(found) ? Effect.succeed(new Found(found.value)) : cleared(),
    onFailure: (cause) => {
      const passing = untouchable(cause)
      return passing === undefined
        ? Effect.fail(new Unverifiable(unknown(self), Redaction.foreign(ErrorCause.sayingOf(Cause.squash(cause)))))
        : Effect.failCause(passing)
    }
  })
}

/** Gives what was found, or nothing where it took no effect; fails with `Unverifiable`. It may take as long as the tool itself. */
export const lookUpAlone = (
  self: Cut,
  verify: NonNullable<ToolDefinition["verify"]>
): Effect.Effect<Found | undefined, unknown> =>
  // what is found succeeds as that, and nothing else
  lookUp(self, verify, self.tool.timeout, () => Effect.undefined) as Effect.Effect<Found | undefined, unknown>

/** Whether after this failure the outcome of the tool is unknown. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof OutcomeUnknownError || error instanceof Unverifiable
