/**
 * Guards that all calls of a model share. They are a circuit breaker that opens when the model fails, rate limits, and a limit of
 * concurrent calls. Effect provides the parts (`effect/persistence`); this module puts them around a `Model`.
 */
import * as Model from "@kintsugi/core/Model"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Call from "./call.ts"
import * as Circuit from "./circuit.ts"
import * as Limits from "./limits.ts"
import * as Transport from "../transport/Transport.ts"

/** Options of `make`. Each option switches one guard on; a guard without its option is off. */
export interface Options {
  /**
   * A circuit breaker. It opens after failures of the service; while it is open, calls fail with a
   * `ModelOverloadedError` and the model is not called. It stands around the transport's retry and counts one outcome
   * per call. A stream counts at its end. An interrupted call counts nothing.
   */
  readonly breaker?: Circuit.BreakerOptions
  /**
   * Limits, awaited one after the other. A call that cannot start within `maxWait` fails with a `RateLimitError` that
   * says how long to wait.
   */
  readonly limits?: ReadonlyArray<Limits.Limit>
  /** Learns the server's rate limit from `RateLimitError`s that state a wait. `true` uses the defaults. */
  readonly adaptive?: boolean | Limits.Adaptive
  /** How many calls of one model may run at once. A call that waits for a limit counts too, and a stream counts until its reader ends. */
  readonly concurrency?: number
  /**
   * What happens when the store (Redis, for example) is unreachable: `allow`, the default, lets calls through, `fail`
   * fails them.
   */
  readonly onStoreError?: "allow" | "fail"
}

/**
 * Guards models. All models under one guard share its state, however often the layer of a model is built. It is a type
 * alias, so that the declarations of a program that exports a guard spell it out.
 */
type Guard = {
  /** Guards the model of a layer. */
  <E, R>(model: Layer.Layer<Model.Model, E, R>): Layer.Layer<Model.Model, E, R>
  /** Guards a model that is already built. */
  readonly model: (model: Model.Service) => Model.Service
  /** The state of the circuit under a key: `provider/model`, or the key of the breaker's `by`. `Closed` without a breaker. */
  readonly state: (key: string) => Effect.Effect<CircuitBreaker.State, CircuitBreaker.CircuitBreakerError>
  /** The state changes of this guard's circuits from now on. The stream ends with the guard. */
  readonly transitions: Stream.Stream<CircuitBreaker.Transition>
}

/**
 * Makes a guard. It keeps its state in the `CircuitBreakerStore` and `RateLimiterStore` of the context, which
 * processes can share, else in memory. Throws a `RangeError` for invalid options.
 *
 * An open circuit refuses a call first, so that the call uses no limit. Then the call waits for a free slot, for
 * `limits`, and for the limits that `adaptive` has learned. Then the circuit admits or refuses the call.
 */
export const make = (options: Options): Effect.Effect<Guard, never, Scope.Scope> => {
  const { adaptive = false, breaker: given, concurrency, limits = [], onStoreError = "allow" } = options
  const breaking = given === undefined ? undefined : { ...given, tripPolicy: Circuit.tripPolicyOf(given) }
  const makeQueue = concurrency === undefined ? undefined : queueing(concurrency)
  const limitings = limits.map((limit) => Limits.limiting(limit, onStoreError))
  // Mutant `false` for `adaptive === true` survives: `true` has no fields, so each option has its default
  if (adaptive !== false) limitings.push(Limits.adapting(adaptive === true ? {} : adaptive, onStoreError))
  return Effect.gen(function* () {
    const policies: Array<Call.Policy> = makeQueue === undefined ? [] : [makeQueue()]
    // Mutant `true` survives: speed only. A limiter without limits delays nothing
    if (limitings.length > 0) {
      const store = yield* storeOf(RateLimiter.RateLimiterStore, RateLimiter.layerStoreMemory)
      const limiter = yield* Effect.provideService(RateLimiter.make, RateLimiter.RateLimiterStore, store)
      policies.push(...limitings.map((limiting) => limiting(limiter)))
    }
    if (breaking === undefined) return fromPolicy(Call.all(policies), undefined)
    const { maxOpenFor, openFor = "30 seconds", tripPolicy } = breaking
    const store = yield* storeOf(CircuitBreaker.CircuitBreakerStore, CircuitBreaker.layerStoreMemory())
    const breaker = yield* Effect.provideService(
      CircuitBreaker.make({
        tripPolicy,
        openDuration: openFor,
        maxOpenDuration: maxOpenFor,
        onStoreError
      }),
      CircuitBreaker.CircuitBreakerStore,
      store
    )
    const peeking = Circuit.peeking(breaker, breaking, onStoreError)
    return fromPolicy(Call.all([peeking, ...policies, Circuit.circuit(breaker, breaking)]), breaker)
  })
}

/** Uses the store in the context if there is one, else makes a new store in memory. */
const storeOf = <I, S>(key: Context.Key<I, S>, memory: Layer.Layer<I>): Effect.Effect<S, never, Scope.Scope> =>
  Effect.flatMap(Effect.serviceOption(key), (given) =>
    Option.isSome(given)
      ? Effect.succeed(given.value)
      : Effect.map(Layer.build(memory), (context) => Context.get(context, key))
  )

/**
 * An HTTP client that obeys the limits in the server's answers. When nothing is left, it sends nothing until the
 * limit resets; after a 429 it waits as long as the server says. It never resends: the transport does.
 *
 * All models over one layer share these limits, keyed by the origin of the request. Give models with separate limits
 * separate layers. A wait is part of the attempt, so the transport's `requestTimeout` bounds it.
 */
export const layerHttp: Layer.Layer<Transport.HttpClient, never, Transport.HttpClient> = Layer.effect(
  Transport.HttpClient,
  Effect.gen(function* () {
    const client = yield* Transport.HttpClient
    const store = yield* storeOf(RateLimiter.RateLimiterStore, RateLimiter.layerStoreMemory)
    const limiter = yield* Effect.provideService(RateLimiter.make, RateLimiter.RateLimiterStore, store)
    return Transport.limited(client, limiter)
  })
)

/** Makes the policy that limits concurrent calls, with one queue for each model. */
const queueing = (concurrency: number): (() => Call.Policy) => {
  if (!(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    throw new RangeError(`Resilience: concurrency must be a whole number of at least 1, got ${concurrency}`)
  }
  return () => {
    const queues = new Map<string, Semaphore.Semaphore>()
    return Effect.fnUntraced(function* (call) {
      const key = yield* Call.keyOf("model", call)
      const queue = queues.get(key) ?? Semaphore.makeUnsafe(concurrency)
      queues.set(key, queue)
      yield* Semaphore.takeScoped(queue, 1)
      return Call.nothingToTell
    })
  }
}

const fromPolicy = (policy: Call.Policy, breaker: CircuitBreaker.CircuitBreaker | undefined): Guard => {
  const surrounding = Call.surrounding(policy)
  const model = (service: Model.Service): Model.Service => Model.around(service, surrounding)
  const guard = <E, R>(layer: Layer.Layer<Model.Model, E, R>): Layer.Layer<Model.Model, E, R> =>
    Model.around(layer, surrounding)
  return Object.assign(guard, {
    model,
    state: breaker?.state ?? ((key: string) => Effect.succeed<CircuitBreaker.State>({ _tag: "Closed", key })),
    transitions: breaker?.transitions ?? Stream.empty
  })
}
