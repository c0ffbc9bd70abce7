/** Effect's circuit breaker around calls of models. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Schedule from "effect/Schedule"
import { type By, type Call, type Ended, keyOf, type Policy } from "./call.ts"

/** When a circuit opens, and for how long. */
export interface BreakerOptions {
  /** How many failures in a row open the circuit; 5 by default. */
  readonly failures?: number
  /** Instead of `failures`: the share of failures among the last calls that opens it. */
  readonly rate?: {
    /** From 0 to 1; 0.5 by default. */
    readonly threshold?: number
    /** Of so many calls; 100 by default. */
    readonly size?: number
    /** Before so many calls it stays closed; `size` by default. */
    readonly minimumCalls?: number
  }
  /** For how long it is open before one call may try; 30 seconds by default. A schedule is stepped once per opening in a row. */
  readonly openFor?: Duration.Input | Schedule.Schedule<unknown, number>
  /** A server that asks to wait longer than `openFor` is heeded up to this; 1 hour by default. */
  readonly maxOpenFor?: Duration.Input
  /** What shares a circuit: `model`, the default, means provider and name together. */
  readonly by?: By
  /** Which errors count as failures; the others change nothing. By default those of `countsAsFailure`. */
  readonly counts?: (error: LlmError.LlmError) => boolean
}

/** Failures of the service. A request that it refused, or a content that it filtered, does not say that it is sick. */
export const countsAsFailure = (error: LlmError.LlmError): boolean => ofTheService.has(error._tag)

const ofTheService: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "ModelOverloadedError",
  "ServerError",
  "NetworkError",
  "RequestTimeoutError",
  "RateLimitError",
  "QuotaExhaustedError"
])

/** Throws a `RangeError` for senseless options. */
export const tripPolicyOf = ({ failures, maxOpenFor, openFor, rate }: BreakerOptions): CircuitBreaker.TripPolicy => {
  for (const [name, given] of Object.entries({ openFor, maxOpenFor })) {
    if (given === undefined || Schedule.isSchedule(given)) continue
    const duration = Option.getOrUndefined(Duration.fromInput(given))
    if (duration === undefined || Number.isNaN(given) || !Duration.isPositive(duration)) {
      throw new RangeError(`Resilience: ${name} must be above 0, got ${String(given)}`)
    }
  }
  if (rate === undefined) return CircuitBreaker.consecutive(failures ?? 5)
  if (failures !== undefined) throw new RangeError("Resilience: failures must not stand beside rate")
  return CircuitBreaker.rate(rate)
}

/** Refuses while the circuit is open, before anything is waited for; a store that cannot say lets pass. */
export const peeking =
  (breaker: CircuitBreaker.CircuitBreaker, { by }: BreakerOptions, onStoreError: "allow" | "fail"): Policy =>
  (call) =>
    Effect.matchEffect(
      Effect.flatMap(keyOf(by, call), (key) => breaker.state(key)),
      {
        onFailure: (error) => (onStoreError === "allow" ? admit : Effect.fail(rejected(error, call))),
        onSuccess: (state) => {
          if (state._tag === "Open" && Duration.isPositive(state.retryAfter)) {
            return Effect.fail(open(call, state.retryAfter))
          }
          return state._tag === "HalfOpen" && state.probing ? Effect.fail(halfOpen(call)) : admit
        }
      }
    )

const admit = Effect.succeed(() => Effect.void)

/**
 * A call that the breaker admitted is one outcome, decided when the call ends. The breaker wants to run what it guards, so what
 * it runs is a fiber that waits for that end, and that is interrupted with the scope of the call: an interrupted call has no
 * outcome.
 */
export const circuit =
  (breaker: CircuitBreaker.CircuitBreaker, { by, counts = countsAsFailure }: BreakerOptions): Policy =>
  (call) =>
    Effect.gen(function* () {
      const key = yield* keyOf(by, call)
      const admitted = yield* Deferred.make<void, LlmError.LlmError>()
      const ended = yield* Deferred.make<CircuitBreaker.Outcome>()
      const recording = yield* Deferred.succeed(admitted, undefined).pipe(
        Effect.andThen(Deferred.await(ended)),
        breaker.execute({
          key,
          classify: (exit) => (Exit.isSuccess(exit) ? exit.value : CircuitBreaker.ignored)
        }),
        Effect.mapError((error) => rejected(error, call)),
        Effect.catchCause((cause) => Deferred.failCause(admitted, cause)),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* Deferred.await(admitted)
      const tell = (end: Ended) =>
        Effect.andThen(Deferred.succeed(ended, outcomeOf(end, counts)), Fiber.await(recording))
      return (end: Ended) => Effect.asVoid(tell(end))
    })

const outcomeOf = (ended: Ended, counts: (error: LlmError.LlmError) => boolean): CircuitBreaker.Outcome => {
  if (ended.as === "reply") return CircuitBreaker.success
  if (ended.as === "cut-off") return CircuitBreaker.failure()
  if (!counts(ended.error)) return CircuitBreaker.ignored
  const { retryAfter } = ended.error
  return CircuitBreaker.failure(retryAfter === undefined ? {} : { retryAfter })
}

const rejected = ({ reason }: CircuitBreaker.CircuitBreakerError, call: Call): LlmError.LlmError => {
  if (reason._tag === "CircuitOpen") return open(call, reason.retryAfter)
  if (reason._tag === "CircuitHalfOpen") return halfOpen(call)
  return LlmError.UnknownLlmError.unknown(call.model, reason, { provider: call.provider })
}

const open = ({ model, provider }: Call, retryAfter: Duration.Duration): LlmError.LlmError =>
  LlmError.ModelOverloadedError.modelOverloaded(model, {
    provider,
    retryAfter,
    detail: `the circuit is open for another ${Duration.format(retryAfter)}, the model was not called`
  })

const halfOpen = ({ model, provider }: Call): LlmError.LlmError =>
  LlmError.ModelOverloadedError.modelOverloaded(model, {
    provider,
    detail: "the circuit is half open: another call tries the model, it was not called again"
  })
