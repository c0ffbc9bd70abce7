/**
 * What many calls of a model know of each other: a circuit that opens when the model is sick, limits over all calls, a limit to
 * how many run at once. The parts are Effect's own (`effect/persistence`); this module puts them around a `Model`.
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

export type { By, Call } from "./call.ts"
export { type BreakerOptions, countsAsFailure } from "./circuit.ts"
export type { Adaptive, Limit } from "./limits.ts"

/** Effect's own words for where a circuit stands, and for a change of that. */
export type { State, Transition } from "effect/persistence/CircuitBreaker"

/** Each part is off unless it is given. */
export interface Options {
  /**
   * Opens after failures of the service: while it is open, calls fail with a `ModelOverloadedError` and the model is not called.
   * It stands around the transport's retry: one outcome per call, of a stream at its end; an interrupted call has none.
   */
  readonly breaker?: Circuit.BreakerOptions
  /** Waited for one after the other. What cannot be had within its `maxWait` is a `RateLimitError` with the time until then. */
  readonly limits?: ReadonlyArray<Limits.Limit>
  /** Learns the limits of a server from its refusals, those that say how long to wait. `true` for the defaults. */
  readonly adaptive?: boolean | Limits.Adaptive
  /** How many calls of one model run at once, waits for the limits included; a stream is one until its reader is done. */
  readonly concurrency?: number
  /** When a store of your own (Redis) cannot be reached: `allow`, the default, lets calls through, `fail` fails them. */
  readonly onStoreError?: "allow" | "fail"
}

/** Guards models. Its state is its own: whoever guards with it shares it, however often the layer of the model is built. */
export interface Guard {
  /** The model of this layer, guarded. */
  <E, R>(model: Layer.Layer<Model.Model, E, R>): Layer.Layer<Model.Model, E, R>
  /** A model that is at hand already, guarded. */
  readonly model: (model: Model.Service) => Model.Service
  /** The circuit under a key: `provider/model` unless the breaker says otherwise by `by`. Closed where there is no breaker. */
  readonly state: (key: string) => Effect.Effect<CircuitBreaker.State, CircuitBreaker.CircuitBreakerError>
  /** What the circuits of this guard do from now on; ends with the guard. */
  readonly transitions: Stream.Stream<CircuitBreaker.Transition>
}

/**
 * A guard, in memory, or in the `CircuitBreakerStore` and the `RateLimiterStore` of the context where there are any: so its
 * state is shared between processes. Throws a `RangeError` for senseless options.
 *
 * A call is refused by an open circuit first, so that it takes nothing of any limit; then it waits for its place, for the
 * limits, for what the server teaches; then the circuit decides.
 */
export const make = (options: Options): Effect.Effect<Guard, never, Scope.Scope> => {
  const { adaptive = false, breaker: breaking, concurrency, limits = [], onStoreError = "allow" } = options
  const tripPolicy = breaking === undefined ? undefined : Circuit.tripPolicyOf(breaking)
  const places = concurrency === undefined ? undefined : queueing(concurrency)
  const limitings = limits.map((limit) => Limits.limiting(limit, onStoreError))
  if (adaptive !== false) limitings.push(Limits.adapting(adaptive === true ? {} : adaptive, onStoreError))
  return Effect.gen(function* () {
    const policies: Array<Call.Policy> = places === undefined ? [] : [places()]
    if (limitings.length > 0) {
      const store = yield* storeOf(RateLimiter.RateLimiterStore, RateLimiter.layerStoreMemory)
      const limiter = yield* Effect.provideService(RateLimiter.make, RateLimiter.RateLimiterStore, store)
      policies.push(...limitings.map((limiting) => limiting(limiter)))
    }
    if (breaking === undefined || tripPolicy === undefined) return fromPolicy(Call.all(policies), undefined)
    const { maxOpenFor, openFor = "30 seconds" } = breaking
    const store = yield* storeOf(CircuitBreaker.CircuitBreakerStore, CircuitBreaker.layerStoreMemory())
    const breaker = yield* Effect.provideService(
      CircuitBreaker.make({
        tripPolicy,
        openDuration: openFor,
        onStoreError,
        ...(maxOpenFor === undefined ? {} : { maxOpenDuration: maxOpenFor })
      }),
      CircuitBreaker.CircuitBreakerStore,
      store
    )
    const peeking = Circuit.peeking(breaker, breaking, onStoreError)
    return fromPolicy(Call.all([peeking, ...policies, Circuit.circuit(breaker, breaking)]), breaker)
  })
}

/** The store of the context, else one in memory. */
const storeOf = <I, S>(key: Context.Key<I, S>, memory: Layer.Layer<I>): Effect.Effect<S, never, Scope.Scope> =>
  Effect.flatMap(Effect.serviceOption(key), (given) =>
    Option.isSome(given)
      ? Effect.succeed(given.value)
      : Effect.map(Layer.build(memory), (context) => Context.get(context, key))
  )

/**
 * An HTTP client that heeds what each answer tells of the server's limits: when nothing is left, nothing more is sent until the
 * limit starts afresh, and after a 429 not before its wait is over. It sends nothing again, the transport does.
 *
 * All models over one layer share what it learns, by the origin of their requests: give models with limits of their own layers
 * of their own. A wait is part of the attempt, so that the transport's `requestTimeout` bounds it.
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

/** A queue for each model. */
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
