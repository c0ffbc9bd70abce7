/** A `Model` over HTTP: a wire format and a URL. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Codec } from "../codec/Codec.ts"
import type { Source } from "../transport/Source.ts"
import * as Transport from "../transport/Transport.ts"

/** The parts of a model over HTTP. */
export interface Provider {
  readonly source: Source
  readonly codec: Codec
  /** The URL of whole replies. */
  readonly url: string
  /** The URL of streamed replies, if it differs. */
  readonly streamUrl?: string
  /** Sent with every request. Secrets are `Redacted`, and also among the secrets of `source`. */
  readonly headers: Readonly<Record<string, string | Redacted.Redacted>>
  readonly transport?: Transport.Options
}

/** Throws a `RangeError` for invalid options of the transport. */
export const layer = (self: Provider): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { codec, headers, source, streamUrl, transport, url } = self
  const to = (url: string) => Transport.make({ source, url, headers, classify: codec.classify }, transport)
  const whole = to(url)
  const streamed = streamUrl === undefined ? whole : to(streamUrl)
  return Layer.effect(
    Model.Model,
    Effect.zipWith(whole, streamed, (whole, streamed) => fromTransports(self, whole, streamed))
  )
}

const fromTransports = (
  { codec, source }: Provider,
  whole: Transport.Transport,
  streamed: Transport.Transport
): Model.Service => ({
  name: source.model,
  provider: source.provider,
  // The transcript is borrowed: it is encoded when the request starts, and not read later.
  generate: (request) =>
    Model.leaving(
      source.model,
      Effect.suspend(() => {
        const refusal = codec.refuses?.(request)
        return refusal === undefined ? whole.post(codec.encode(request, "whole"), codec.decode) : Effect.fail(refusal)
      })
    ),
  stream: (request): Stream.Stream<Model.Part, LlmError.LlmError> =>
    Stream.unwrap(
      Model.leaving(
        source.model,
        Effect.sync(() => {
          const refusal = codec.refuses?.(request)
          return refusal === undefined
            ? streamed.stream(codec.encode(request, "streamed"), codec.decoder, (answer) =>
                Result.map(codec.decode(answer), Model.partsOf)
              )
            : Stream.fail(refusal)
        })
      )
    )
})
