/** Puts Effect's rate limiter around an HTTP client. The rate limit headers of each answer update the limiter. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Clock from "effect/Clock"
import { watched } from "./clients.ts"
import * as Hints from "./Hints.ts"

export type Limiter = HttpClient.WithRateLimiter.Options["limiter"]

/**
 * Makes an HTTP client that delays a request until the server's rate limits, as its last answers reported them, admit it.
 *
 * @internal
 */
export const limited = (client: HttpClient.HttpClient, limiter: Limiter): HttpClient.HttpClient => {
  const { postprocess } = watched(client).pipe(
    HttpClient.transformResponse(Effect.flatMap(translated)),
    HttpClient.withRateLimiter({
      limiter,
      key: ({ url }) => (URL.canParse(url) ? new URL(url).origin : url),
      // The limiter has no limit of its own: only the server's limits count.
      limit: unlimited,
      window: "1 second",
      responseHeaders: names,
      times: 0
    })
  )
  const sent = (preparing: Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>) =>
    Effect.flatMap(preparing, (request) =>
      Effect.catchTag(postprocess(Effect.succeed(request)), "RateLimiterError", (cause) =>
        Effect.fail(
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        )
      )
    )
  return HttpClient.makeWith(sent, client.preprocess)
}

const unlimited = 1_000_000

/** The header names that the limiter reads. The servers' own headers are translated into these names, which no server uses. */
const names = {
  // Mutant `""` survives: any name that no server uses will do
  limit: "x-kintsugi-limit",
  remaining: "x-kintsugi-left",
  reset: "x-kintsugi-reset-at",
  resetAfter: "x-kintsugi-reset",
  // Mutant `""` survives: any name that no server uses will do
  retryAfter: "x-kintsugi-retry"
}

/** Adds the rate limits of a response to its headers, under the names that the limiter reads. */
const translated = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse> =>
  Effect.map(Clock.currentTimeMillis, (at) => {
    const answer = { status: response.status, headers: response.headers, body: "", at, elapsed: Duration.zero }
    const hints = response.status === 429 ? refusal(Hints.of(answer)) : nearest(Hints.left(answer))
    if (hints === undefined) return response
    const said = { [names.limit]: String(unlimited), ...hints }
    // Only the headers are replaced; the rest of the response is inherited.
    const headers = Headers.setAll(response.headers, said)
    return Object.create(response, { headers: { value: headers, enumerable: true } })
  })

const refusal = (wait: Duration.Duration | undefined): Readonly<Record<string, string>> | undefined => {
  if (wait === undefined) return undefined
  const seconds = Duration.toSeconds(wait)
  return {
    [names.remaining]: "0",
    [names.resetAfter]: String(seconds),
    // The limiter only checks that this header is present. It takes the wait from `resetAfter`.
    [names.retryAfter]: String(Math.ceil(seconds))
  }
}

/**
 * The rate limit with the least left. A limit of tokens counts only if none is left, because the number of tokens of the next request is
 * unknown.
 */
const nearest = (limits: ReadonlyArray<Hints.Left>): Readonly<Record<string, string>> | undefined => {
  let least: { readonly remaining: number; readonly millis: number } | undefined
  for (const { of, remaining, resetAfter } of limits) {
    if (resetAfter === undefined || !Duration.isPositive(resetAfter)) continue
    if (of !== "" && of !== "requests" && remaining > 0) continue
    const millis = Duration.toMillis(resetAfter)
    const isNearer =
      // Mutant `millis >= least.millis` survives: of two equal limits either may count
      least === undefined || remaining < least.remaining || (remaining === least.remaining && millis > least.millis)
    if (isNearer) least = { remaining, millis }
  }
  if (least === undefined) return undefined
  return { [names.remaining]: String(least.remaining), [names.resetAfter]: String(least.millis / 1000) }
}
