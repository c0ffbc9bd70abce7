/**
 * Sessions that a server has forgotten. The protocol answers a request in an unknown session with status 404, so that request was not
 * executed. The failure of a tool call does not prove the same: a call at work fails too if a later message of its session gets a 404. So
 * this module counts requests.
 */
import type * as McpClientError from "effect/ai/McpClientError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"

/** The number of HTTP requests of one call that the server may have begun to execute. */
export class Begun {
  count = 0
}

/** The counter of the current call, if there is one. */
export const Current = Context.Reference<Begun | undefined>("@kintsugi/interop/Mcp/Begun", {
  defaultValue: () => undefined
})

/** Whether the server has failed a call because it does not know the session. */
export const isForgotten = ({ reason }: McpClientError.McpClientError): boolean =>
  reason._tag === "ClosedError" && reason.sessionExpired === true

type Response = HttpClientResponse.HttpClientResponse

/** Whether the response proves that the server did not execute the request. */
export const isUnknown = ({ request, status }: Response): boolean =>
  status === 404 && request.headers["mcp-session-id"] !== undefined

/** Counts a request as begun, unless its response proves that the server did not execute it. */
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
      // a client may turn a response with an error status into a failure
      Effect.tapError((error) => hear(error.response))
    )
  })
