/**
 * Sends again what failed on its way. Only the transport's own attempts are counted here; what survives goes up one
 * layer, as the same error that a single attempt would have left.
 */
import * as Backoff from "@kintsugi/core/Backoff"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as RetryBudget from "@kintsugi/core/RetryBudget"
import * as RunContext from "@kintsugi/core/RunContext"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as Answer from "./Answer.ts"
import { type Failure, onlyFailure } from "./Failure.ts"
import * as Hints from "./Hints.ts"

const resent: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529])

/** Of errors that come within a successful answer: the tags that a status of `resent` would have had. */
const resentWithin: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "RateLimitError",
  "ModelOverloadedError",
  "ServerError"
])

/** The classification comes first: a spent quota is not sent again, whatever its status. */
export const mayResend = (error: LlmError.LlmError, answer: Answer.Answer): boolean => {
  if (!error.isRetryable || Hints.forbidsResend(answer)) return false
  return Answer.isSuccess(answer) ? resentWithin.has(error._tag) : resent.has(answer.status)
}

/** Runs `attempt` until it succeeds, may not be sent again, or the schedule ends, which is made at the first failure. */
export const resending = <A, R>(
  attempt: Effect.Effect<A, Failure, R>,
  schedule: () => Schedule.Schedule<Duration.Duration, unknown>
): Effect.Effect<A, LlmError.LlmError, R> =>
  Effect.suspend(() => {
    let step: Step | undefined
    let sends = 0
    const send: Effect.Effect<A, LlmError.LlmError, R> = Effect.suspend(() => {
      sends++
      return Effect.matchCauseEffect(attempt, { onSuccess: Effect.succeed, onFailure: decide })
    })
    const decide = (cause: Cause.Cause<Failure>): Effect.Effect<A, LlmError.LlmError, R> => {
      const failure = onlyFailure(cause)
      if (failure === undefined || !failure.resend) return Effect.failCause(bare(cause))
      return step === undefined
        ? Effect.flatMap(Schedule.toStep(schedule()), (made) => again((step = made), failure.error))
        : again(step, failure.error)
    }
    const again = (step: Step, error: LlmError.LlmError): Effect.Effect<A, LlmError.LlmError, R> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Pull.matchEffect(inTime(step(now, error)), {
          onSuccess: ([, delay]) => Effect.andThen(wait(error, sends, delay, now), send),
          onFailure: (cause) => Effect.failCause(cause),
          onDone: () => Effect.andThen(report(error, true, sends, Duration.zero), Effect.fail(error))
        })
      )
    return send
  })

/** One attempt, its error as it is. */
export const once = <A, R>(attempt: Effect.Effect<A, Failure, R>): Effect.Effect<A, LlmError.LlmError, R> =>
  Effect.mapError(attempt, ({ error }) => error)

/** A resend that the run has no time for is not made, and takes nothing from a budget. */
const inTime = (step: ReturnType<Step>): ReturnType<Step> =>
  Effect.flatMap(RunContext.Current, (run) => Effect.provideService(step, RetryBudget.Latest, RunContext.deadline(run)))

type Step = (now: number, input: unknown) => Pull.Pull<[Duration.Duration, Duration.Duration], never, Duration.Duration>

const bare = (cause: Cause.Cause<Failure>): Cause.Cause<LlmError.LlmError> => Cause.map(cause, ({ error }) => error)

const wait = (error: LlmError.LlmError, attempt: number, delay: Duration.Duration, now: number): Effect.Effect<void> =>
  Effect.flatMap(RunContext.Current, (run) => {
    const isLate = now + Duration.toMillis(delay) > RunContext.deadline(run)
    const told = report(error, isLate, attempt, delay)
    return Duration.isZero(delay) ? told : Effect.andThen(told, RunContext.sleep(delay))
  })

const report = (
  error: LlmError.LlmError,
  gaveUp: boolean,
  attempt: number,
  delay: Duration.Duration
): Effect.Effect<void> =>
  RunContext.emitCurrent(() => {
    const hint = Backoff.hintOf(error)
    return {
      type: "verdict",
      layer: "transport",
      tag: error._tag,
      verdict: "retry",
      gaveUp,
      rung: 0,
      attempt,
      delay,
      ...(hint === undefined ? {} : { hint: Duration.millis(hint) }),
      error
    }
  })
