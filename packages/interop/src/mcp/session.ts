/**
 * Sessions that a server has forgotten. The protocol has status 404 for a request in an unknown session, so a request with that answer has
 * not begun. The failure of a call does not prove that: a call at work fails in the same way when a later message of its session gets a 404.
 */
import type * as McpClientError from "effect/ai/McpClientError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

/** Counts the HTTP requests of one call that its server may have begun. */
export class Begun {
  count = 0
}

/** The count of the current call. */
export const Current = Context.Reference<Begun | undefined>("@kintsugi/interop/Mcp/Begun", {
  defaultValue: () => undefined
})

/** Whether the failure is that the server does not know the session. */
export const isForgotten = ({ reason }: McpClientError.McpClientError): boolean =>
  reason._tag === "ClosedError" && reason.sessionExpired === true

type Response = HttpClientResponse.HttpClientResponse

/** Whether the answer proves that the request has not begun. */
export const isUnknown = ({ request, status }: Response): boolean =>
  status === 404 && request.headers["mcp-session-id"] !== undefined

/** Counts a request until its answer proves that it has not begun. */
export const counted = <R>(
  responding: Effect.Effect<Response, HttpClientError.HttpClientError, R>
): Effect.Effect<Response, HttpClientError.HttpClientError, R> =>
  Effect.flatMap(Current, (begun) => {
    if (begun === undefined) return responding
    begun.count++
    const hear = (response: Response | undefined) =>
      Effect.sync(() => {
        if (response !== undefined && isUnknown(response)) begun.count--
      })
    return responding.pipe(
      Effect.tap(hear),
      // a client may make a failure of a status
      Effect.tapError((error) => hear(error.response))
    )
  })
