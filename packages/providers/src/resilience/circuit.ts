/** Effect's circuit breaker around model calls. */
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
  /** How many consecutive failures open the circuit; 5 by default. */
  readonly failures?: number
  /** The failure rate that opens the circuit, instead of `failures`. */
  readonly rate?: {
    /** From 0 to 1; 0.5 by default. */
    readonly threshold?: number
    /** The number of calls in the window; 100 by default. */
    readonly size?: number
    /** The circuit stays closed before this number of calls; `size` by default. */
    readonly minimumCalls?: number
  }
  /**
   * How long the circuit stays open before one call probes; 30 seconds by default. A schedule steps once per
   * consecutive opening.
   */
  readonly openFor?: Duration.Input | Schedule.Schedule<unknown, number>
  /** The longest wait of a server that overrides `openFor`; 1 hour by default. */
  readonly maxOpenFor?: Duration.Input
  /** Which calls share a circuit: `model`, the default, means provider and name together. */
  readonly by?: By
  /**
   * Which errors count as failures. Other errors change nothing. By default: a `ModelOverloadedError`,
   * `ServerError`, `NetworkError`, `RequestTimeoutError`, `RateLimitError` and `QuotaExhaustedError`.
   */
  readonly counts?: (error: LlmError.LlmError) => boolean
}

/** Failures of the service. A refused request or filtered content does not mean that the service is down. */
const countsAsFailure = (error: LlmError.LlmError): boolean => ofTheService.has(error._tag)

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

/** Refuses while the circuit is open, before the call waits for a limit. A failing store admits the call with `allow`. */
export const peeking =
  (breaker: CircuitBreaker.CircuitBreaker, { by }: BreakerOptions, onStoreError: "allow" | "fail"): Policy =>
  (call) =>
    Effect.matchEffect(
      Effect.flatMap(keyOf(by, call), (key) => breaker.state(key)),
      {
        onFailure: (error) => (onStoreError === "allow" ? admit : Effect.fail(rejected(error, call))),
        onSuccess: (state) => {
          if (state._tag === "Open" && Duration.isPositive(state.retryAfter)) {
            return Effect.fail(tripped(call, state.retryAfter))
          }
          return state._tag === "HalfOpen" && state.probing ? Effect.fail(alreadyProbing(call)) : admit
        }
      }
    )

const admit = Effect.succeed(() => Effect.void)

/**
 * An admitted call is one outcome, decided when the call ends. The breaker insists on running the effect that it
 * guards. So it runs a fiber that waits for the end of the call; the scope of the call interrupts this fiber, and an
 * interrupted call has no outcome.
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
  if (reason._tag === "CircuitOpen") return tripped(call, reason.retryAfter)
  if (reason._tag === "CircuitHalfOpen") return alreadyProbing(call)
  return LlmError.UnknownLlmError.make({ model: call.model, cause: reason, provider: call.provider })
}

const tripped = ({ model, provider }: Call, retryAfter: Duration.Duration): LlmError.LlmError =>
  LlmError.ModelOverloadedError.make({
    model,
    provider,
    retryAfter,
    detail: `the circuit is open for another ${Duration.format(retryAfter)}, the model was not called`
  })

const alreadyProbing = ({ model, provider }: Call): LlmError.LlmError =>
  LlmError.ModelOverloadedError.make({
    model,
    provider,
    detail: "the circuit is half open: another call tries the model, it was not called again"
  })
