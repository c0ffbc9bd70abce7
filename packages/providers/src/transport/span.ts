/**
 * Wraps one attempt in a span, from its start until its answer is read or its first part arrives. The span replaces that of Effect's own
 * client, which ends with the runtime's message: that message may quote a header.
 */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Effect from "effect/Effect"
import * as Fault from "./fault.ts"
import type { Failure } from "./Failure.ts"

/** Makes the function that wraps the attempts of one client. */
export const spanning = (
  url: URL,
  method: string
): (<A, R>(attempt: Effect.Effect<A, Failure, R>) => Effect.Effect<A, Failure, R>) => {
  const port = Fault.portOf(url)
  const attributes = {
    "http.request.method": method,
    "server.address": url.hostname,
    ...(port === undefined ? {} : { "server.port": port }),
    "url.path": Redaction.own(url.pathname)
  }
  return (attempt) =>
    Effect.suspend(() => {
      // The span ends with the error alone, without the flag `resend` of the failure.
      let last: Failure | undefined
      const span = Effect.useSpan("Transport.send", { kind: "client", attributes }, (span) =>
        Effect.mapError(attempt, (failure) => {
          const { error } = (last = failure)
          if (error.status !== undefined) span.attribute("http.response.status_code", error.status)
          return error
        })
      )
      // Mutant `true` survives: a span fails only with its attempt, whose failure is the last one
      return Effect.mapError(span, (error) => last ?? { error, resend: false })
    })
}
