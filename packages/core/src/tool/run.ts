/** Executes a tool once, within its time limit and in a scope of its own. If it is cut off, `verify` looks up whether it took effect. */
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
import { Cost } from "../recovery/Cost.ts"

/** The failure of a tool that was cut off and whose lookup failed too. Only a person can find out whether it took effect. */
export class Unverifiable {
  readonly error: OutcomeUnknownError
  readonly why: string
  constructor(error: OutcomeUnknownError, why: string) {
    this.error = error
    this.why = why
  }
}

/** The result that a lookup found for a tool that was cut off: it had taken effect all the same. */
export class Found {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** A result, and the text into which it was encoded. */
export interface Encoded {
  readonly value: unknown
  readonly text: Text
}

type Text = ReturnType<ToolDefinition["encode"]>

/** What one execution of a tool needs. */
export interface Execution {
  readonly tool: ToolDefinition
  readonly decoded: Decoded | undefined
  readonly context: ToolContext
  /** What the run that makes the call passes to a sub-agent. */
  readonly nesting?: Nesting | undefined
  /** How a deferred tool waits in its run. */
  readonly deferredIn?: Parameters<Deferral["attempt"]>[0]["deferredIn"]
  /**
   * Called when a lookup found that a tool that was cut off took no effect. A `ToolTimeoutError` does not prove that, because the tool may
   * have made the error itself.
   */
  readonly onCleared?: () => void
  /** Keeps a result and its text. The text is made before the resources of the execution are released. */
  readonly keep: { encoded?: Encoded }
  /**
   * How the last function ended that was not interrupted. A time limit that passes during the release of its resources does not change it.
   */
  ended?: Exit.Exit<unknown, unknown> | undefined
}

/**
 * Executes the tool. It fails as the tool fails, with `ToolTimeoutError` or `OutcomeUnknownError` after its time limit, or with
 * `Unverifiable`. It succeeds with the result of the tool, or with `Found`.
 */
export const run = (self: Execution): Effect.Effect<unknown, unknown> => {
  const { context, decoded, tool } = self
  const { compensate, deferral, remember, timeout } = tool
  const running = deferral === undefined ? begun(self) : deferral.attempt(self, begun)
  const inTime = timeout === undefined ? running : within(self, running, timeout, () => cutOff(self, timeout))
  // a result that has come later was remembered when it came
  const isRemembered = self.deferredIn?.late?.settlement !== undefined
  // Mutant `compensate === undefined && remember === undefined` survives: a tool has both or neither
  return compensate === undefined || remember === undefined || isRemembered
    ? inTime
    : Effect.tap(inTime, (value) => remember(compensate, tool, decoded?.params(), resultOf(value), context))
}

const begun = (self: Execution): Effect.Effect<unknown, unknown> =>
  self.tool.sideEffects === "unsafe" ? announced(self) : started(self)

/** Adds a time limit. Releasing resources is not limited: an outcome that is known by then stays known. */
const within = <A>(
  self: Cut,
  running: Effect.Effect<A, unknown>,
  duration: Duration.Duration,
  late: () => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> => {
  // with an interceptor, the outcome may come from another process, and `ended` of this process does not count
  const orElse = () =>
    Effect.flatMap(Interception.Current, (interceptor) =>
      // `ended` is the exit of `running`, which began last
      interceptor === undefined && self.ended !== undefined ? (self.ended as Exit.Exit<A, unknown>) : late()
    )
  return Effect.timeoutOrElse(running, { duration, orElse })
}

/** The result itself, without `Found` if a lookup found it. */
export const resultOf = (value: unknown): unknown => (value instanceof Found ? value.value : value)

/** The text of a result. It is taken from `encoded` if it was made before. */
export const textOf = (tool: ToolDefinition, value: unknown, { encoded }: Execution["keep"]): Text =>
  encoded !== undefined && encoded.value === value ? encoded.text : tool.encode(value)

/** Runs a function of the user in a scope of its own. The scope closes after the result is encoded. */
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

/**
 * Starts an unsafe tool. Before that it calls `onUnsafe`: from then on the tool may have taken effect, and a composition must not start
 * another agent in place of this one.
 */
const announced = (self: Execution): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(RunContext.Current, (run) => {
    run?.onUnsafe?.()
    return Effect.catchIf(
      started(self),
      (error) => error instanceof Interception.Lost,
      () => lost(self)
    )
  })

/**
 * Ends an execution that began in another process and whose outcome is lost. The tool runs again only if a lookup finds that it took no
 * effect.
 */
const lost = (self: Execution): Effect.Effect<unknown, unknown> => {
  if (self.tool.verify === undefined) return Effect.suspend(() => Effect.fail(unknown(self)))
  return lookUp(self, self.tool.verify, undefined, () => {
    self.onCleared?.()
    return announced(self)
  })
}

/**
 * Executes a tool outside of all tables. `Found` and `Unverifiable`, which only tables read, become the plain result and the plain error.
 */
export const runAlone = (self: Execution): Effect.Effect<unknown, unknown> =>
  Effect.matchEffect(
    Effect.suspend(() => run(self)),
    {
      onSuccess: (value) => Effect.succeed(resultOf(value)),
      onFailure: (error) => Effect.fail(error instanceof Unverifiable ? error.error : error)
    }
  )

/** The part of an execution that is needed once it was cut off. */
type Cut = Pick<Execution, "tool" | "onCleared" | "keep" | "ended"> & {
  readonly context: Pick<ToolContext, "callId" | "idempotencyKey">
}

/** Says what the stop of a tool before its end means. The lookup may take as long as the tool itself. */
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

/**
 * Looks up whether the tool took effect. Succeeds with the result that is found, or continues with `cleared` if the tool took no effect.
 */
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

/**
 * Looks up whether the tool took effect. Returns what is found, or `undefined` if the tool took no effect; fails with `Unverifiable`. It
 * may take as long as the tool itself.
 */
export const lookUpAlone = (
  self: Cut,
  verify: NonNullable<ToolDefinition["verify"]>
): Effect.Effect<Found | undefined, unknown> =>
  // the cast is safe: `lookUp` succeeds with `Found` or with the value of `cleared`, which is `undefined` here
  lookUp(self, verify, self.tool.timeout, () => Effect.undefined) as Effect.Effect<Found | undefined, unknown>

/** Whether this failure leaves open if the tool took effect. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof OutcomeUnknownError || error instanceof Unverifiable
