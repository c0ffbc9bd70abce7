/** The types of the header values of a request: texts, secrets, and effects that give secrets. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * The value of a header: a text, a secret, or an effect that gives the secret. The effect runs before each send, resends included, so it
 * suits tokens that expire. If the effect fails, the call fails with an `AuthenticationError`, and nothing is sent.
 */
export type Header = string | Secret

/** A secret, or the effect that gives the secret before each send. */
export type Secret = Redacted.Redacted | Effect.Effect<Redacted.Redacted, unknown>

/** Makes the headers of one send, such as a signature of its body. If it fails, the request is not resent. */
export type HeadersOf = (sending: {
  readonly url: URL
  readonly body: string
}) => Effect.Effect<Readonly<Record<string, string | Redacted.Redacted>>, LlmError.LlmError>
