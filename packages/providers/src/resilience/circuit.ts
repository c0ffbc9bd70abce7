/** A policy that puts Effect's circuit breaker around model calls. */
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

/** Options of a circuit breaker: when a circuit opens, and for how long. */
export interface BreakerOptions {
  /** How many consecutive failures open the circuit; 5 by default. */
  readonly failures?: number
  /** The share of failed calls that opens the circuit, instead of a number of consecutive `failures`. */
  readonly rate?: {
    /** The share of failed calls that opens the circuit, from 0 to 1; 0.5 by default. */
    readonly threshold?: number
    /** The number of latest calls over which the share is computed; 100 by default. */
    readonly size?: number
    /** The circuit cannot open before this number of calls; `size` by default. */
    readonly minimumCalls?: number
  }
  /**
   * How long the circuit stays open before it lets one call try the model; 30 seconds by default. A schedule gives a duration for each
   * consecutive opening.
   */
  readonly openFor?: Duration.Input | Schedule.Schedule<unknown, number>
  /** The longest wait that a server may impose on the circuit instead of `openFor`; 1 hour by default. */
  readonly maxOpenFor?: Duration.Input
  /** Which calls share a circuit. `model`, the default: calls with the same provider and the same model name. */
  readonly by?: By
  /**
   * Which errors count as failures. Other errors change nothing. By default: a `ModelOverloadedError`,
   * `ServerError`, `NetworkError`, `RequestTimeoutError`, `RateLimitError` and `QuotaExhaustedError`.
   */
  readonly counts?: (error: LlmError.LlmError) => boolean
}

/** Whether an error counts as a failure of the service. A refused request or filtered content does not, because then the service works. */
const countsAsFailure = (error: LlmError.LlmError): boolean => ofTheService.has(error._tag)

const ofTheService: ReadonlySet<LlmError.LlmError["_tag"]> = new Set([
  "ModelOverloadedError",
  "ServerError",
  "NetworkError",
  "RequestTimeoutError",
  "RateLimitError",
  "QuotaExhaustedError"
])

/** Converts the options to Effect's rule for opening a circuit. Throws a `RangeError` for invalid options. */
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

/**
 * A policy that refuses calls while the circuit is open, before they wait for a limit. If the store of the circuit fails, `allow` admits
 * the call.
 */
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
 * A policy that reports each admitted call to the circuit breaker as one outcome when the call ends. The breaker can only guard an effect
 * that it runs itself, so it runs a fiber that waits for the end of the call. The scope of the call interrupts this fiber, so an
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
        // Mutant `false` survives: only a yield more
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
  return CircuitBreaker.failure({ retryAfter: ended.error.retryAfter })
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
