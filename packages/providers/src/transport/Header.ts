/** What a header of a request may be. */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * A text, a secret, or an effect that gives the secret and is asked with each send, each resend included: for tokens that
 * expire. An effect that fails is an `AuthenticationError`, and nothing is sent.
 */
export type Header = string | Secret

/** A secret, or the effect that gives it. */
export type Secret = Redacted.Redacted | Effect.Effect<Redacted.Redacted, unknown>

/** Makes headers of one send, such as a signature of its body. A failure is not resent. */
export type HeadersOf = (sending: {
  readonly url: URL
  readonly body: string
}) => Effect.Effect<Readonly<Record<string, string | Redacted.Redacted>>, LlmError.LlmError>
