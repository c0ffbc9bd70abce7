/** The HTTP clients that send the requests of a transport, and how long each waits for the head of an answer. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"

/** A redirect would send the body and the custom headers of a request to another host. */
const redirect = "manual"

/**
 * The HTTP client over the runtime's own `fetch`. It follows no redirect: a redirect would send the body and the custom
 * headers of a request to another host. `fetch` of Node ends each wait for an answer after 300 seconds, so a model with a
 * longer `requestTimeout` is refused when its layer is built, or, where your own client hides this one, and over
 * `FetchHttpClient.layer` of Effect, at its first request: give it `layerUndici`.
 */
export const layerFetch: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (fetching) => {
    const client = watched(fetching)
    overFetch.add(client.preprocess).add(client.postprocess)
    return client
  })
).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect })))

/** What `layerFetch` prepares and sends requests with. A client around such a client mostly keeps one of the two. */
const overFetch = new WeakSet<object>()

/** How long a request may wait for the head of its answer. It finds a `layerFetch` behind other clients. */
const Patience = Context.Reference<Duration.Duration>("@kintsugi/providers/Transport/Patience", {
  defaultValue: () => Duration.zero
})

const refusedOver = (timeout: Duration.Duration): RangeError | undefined =>
  Duration.toSeconds(timeout) > 300
    ? new RangeError(
        `Transport: requestTimeout is ${Duration.format(timeout)}, and fetch ends each wait for an answer after 5m; ` +
          "put Transport.layerUndici() in its place, or a client of your own"
      )
    : undefined

/** The client for requests that may wait so long. It dies with a `RangeError` where the runtime's own `fetch` would send them. */
export const waiting = (
  client: HttpClient.HttpClient,
  timeout: Duration.Duration
): Effect.Effect<HttpClient.HttpClient> => {
  const refused = refusedOver(timeout)
  if (refused === undefined) return Effect.succeed(client)
  if (overFetch.has(client.preprocess) || overFetch.has(client.postprocess)) return Effect.die(refused)
  return Effect.succeed(HttpClient.transformResponse(watched(client), Effect.provideService(Patience, timeout)))
}

/**
 * The client that dies where it calls the runtime's own `fetch` for a request that may wait too long for it. `FetchHttpClient.layer` of Effect
 * sends each request in the context of its layer, which alone knows which `fetch` that is: so it is looked at, and replaced, within.
 */
export const watched = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
    (request) =>
      Effect.withFiber(({ context: around }) => {
        const refused = refusedOver(Context.get(around, Patience))
        if (refused === undefined) return client.postprocess(request)
        const looked = Effect.withFiber((fiber) => {
          const { context } = fiber
          // a client that shows the same context is of another kind, or hides the one that sends
          if (context !== around && Context.getOrUndefined(context, FetchHttpClient.Fetch) === undefined) {
            fiber.setContext(Context.add(context, FetchHttpClient.Fetch, () => Promise.reject(refused)))
          }
          return Effect.void
        })
        return Effect.catchIf(
          client.postprocess(Effect.tap(request, looked)),
          ({ reason }) => reason.cause === refused,
          () => Effect.die(refused)
        )
      }),
    (request) => client.preprocess(request)
  )

/** A dispatcher of `undici`, such as an `Agent`, a `ProxyAgent` or a `Pool`. */
interface Dispatcher {
  readonly compose: (interceptor: (dispatch: Dispatch) => Dispatch) => unknown
}

type Dispatch = (options: never, handler: never) => boolean

/** What is used of `undici`. */
export interface Undici {
  readonly fetch: typeof globalThis.fetch
  readonly Agent: new () => Dispatcher & { readonly destroy: () => Promise<void> }
}

/**
 * The HTTP client over `undici`, for Node. It has no limit of time but those of the transport. A `dispatcher` of your own sets a proxy,
 * certificates or a pool; its limits of time are lifted. The client follows no redirect. Without a `dispatcher` the layer has an `Agent` of
 * its own, which ends with it. The package `undici`, 7 or newer, has to be installed.
 */
export const layerUndici = (options: { readonly dispatcher?: Dispatcher } = {}): Layer.Layer<HttpClient.HttpClient> =>
  undiciLayer(() => import(peer) as Promise<Undici>, options)

/** A bundler leaves it alone: the package is optional. */
const peer: string = "undici"

/** The same, from a package that is loaded like this. */
export const undiciLayer = (
  load: () => Promise<Undici>,
  { dispatcher }: NonNullable<Parameters<typeof layerUndici>[0]> = {}
): Layer.Layer<HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { Agent, fetch } = yield* Effect.tryPromise({ try: load, catch: missing }).pipe(Effect.orDie)
      const own = dispatcher === undefined ? yield* agentOf(Agent) : dispatcher
      if (!Predicate.isFunction(own.compose)) {
        const what = "Transport.layerUndici needs a dispatcher of undici 7 or newer: this one has no method compose"
        return yield* Effect.die(new TypeError(what))
      }
      const init = { redirect, dispatcher: own.compose(unlimited) } as const
      return Layer.provide(
        FetchHttpClient.layer,
        Layer.merge(Layer.succeed(FetchHttpClient.Fetch, fetch), Layer.succeed(FetchHttpClient.RequestInit, init))
      )
    })
  )

const agentOf = (Agent: Undici["Agent"]) =>
  Effect.acquireRelease(
    Effect.sync(() => new Agent()),
    (agent) => Effect.promise(() => agent.destroy())
  )

/** The transport has limits of its own. */
const unlimited =
  (dispatch: Dispatch): Dispatch =>
  (options, handler) =>
    dispatch({ ...(options as object), headersTimeout: 0, bodyTimeout: 0 } as never, handler)

/** A package that `undici` needs may be missing as well: the message names it. */
const missing = (cause: unknown): Error =>
  Predicate.isError(cause) && /^Cannot find (?:package|module) 'undici'/.test(cause.message)
    ? new Error("Transport.layerUndici needs the package undici, which is not installed: npm install undici", { cause })
    : new Error("Transport.layerUndici could not load the package undici", { cause })
