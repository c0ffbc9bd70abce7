/** The HTTP clients with which a transport sends its requests, and how long each of them waits for the head of an answer. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"

/** Redirects are not followed: a redirect would send the body and the custom headers of a request to another host. */
const redirect = "manual"

/**
 * The HTTP client over the runtime's own `fetch`. It follows no redirect: a redirect would send the body and the custom headers of a
 * request to another host. `fetch` of Node ends each wait for an answer after 300 seconds. So a model with a longer `requestTimeout` is
 * refused when its layer is built. If a client of your own hides this one, or with `FetchHttpClient.layer` of Effect, it is refused at its
 * first request. Use `layerUndici` for such a model.
 */
export const layerFetch: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (fetching) => {
    const client = watched(fetching)
    overFetch.add(client.preprocess).add(client.postprocess)
    return client
  })
).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect })))

/**
 * The functions with which `layerFetch` prepares and sends requests. They identify its client: a client that wraps it usually keeps one of
 * the two functions.
 */
const overFetch = new WeakSet<object>()

/** How long the present request may wait for the head of its answer. The service reaches a `layerFetch` that other clients wrap. */
// Mutant `""` survives: any name that no other service has will do
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

/**
 * Makes a client for requests that wait this long for the head of their answer. Dies with a `RangeError` if the runtime's own `fetch` would
 * send the requests, and it gives up earlier.
 */
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
 * Makes a client die if it sends a request by the runtime's own `fetch` and the request may wait longer than `fetch` does.
 * `FetchHttpClient.layer` of Effect sends each request in the context of its layer, and only this context says which `fetch` it uses. So
 * the check reads the context while a request is sent, and replaces the `fetch` in it.
 */
export const watched = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
    (request) =>
      Effect.withFiber(({ context: around }) => {
        const refused = refusedOver(Context.get(around, Patience))
        if (refused === undefined) return client.postprocess(request)
        const looked = Effect.withFiber((fiber) => {
          const { context } = fiber
          // if the context is the same as outside, this client is not `FetchHttpClient`, or wraps the client that sends
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

/** The exports of the package `undici` that `layerUndici` uses. */
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

/** The name of the optional package. Its type is `string`, so that a bundler does not resolve the import. */
const peer: string = "undici"

/** Makes the layer of `layerUndici` from a function that loads the package `undici`. */
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

/** Lifts the time limits of a dispatcher, because the transport has limits of its own. */
const unlimited =
  (dispatch: Dispatch): Dispatch =>
  (options, handler) =>
    dispatch({ ...(options as object), headersTimeout: 0, bodyTimeout: 0 } as never, handler)

/**
 * The error of a failed import of `undici`. It advises to install `undici` only if that package is missing; a package that `undici` needs
 * may be missing instead.
 */
const missing = (cause: unknown): Error =>
  Predicate.isError(cause) && /^Cannot find (?:package|module) 'undici'/.test(cause.message)
    ? new Error("Transport.layerUndici needs the package undici, which is not installed: npm install undici", { cause })
    : new Error("Transport.layerUndici could not load the package undici", { cause })
