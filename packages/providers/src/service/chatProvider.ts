/** Code that the providers of chat completions share: the header with the API key, the path, and models by name. */
import type * as Model from "@kintsugi/core/Model"
import type * as Layer from "effect/Layer"
import type { Facts } from "../codec/Capabilities.ts"
import type { Codec } from "../codec/Codec.ts"
import type { ChatParameters } from "../codec/Parameters.ts"
import * as OpenAiChat from "../codec/openai-chat/OpenAiChat.ts"
import { fitting } from "../codec/Fitting.ts"
import * as ModelFamilies from "../codec/ModelFamilies.ts"
import * as Provider from "./Provider.ts"
import type { Secret } from "../transport/Header.ts"
import type * as Source from "../transport/Source.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as Background from "./background.ts"
import type { Counting } from "./counting.ts"
import * as ByName from "./byName.ts"
import * as Prices from "./prices.ts"

/** One provider, as data. */
export interface ChatProvider {
  readonly provider: string
  readonly baseUrl: string
  readonly variables: ByName.Variables
  readonly dialect: OpenAiChat.Dialect
  /** Capability facts that hold for all models of the provider. */
  readonly takes?: Facts | undefined
  /** The table of the provider's model families. */
  readonly catalog?: ModelFamilies.Catalog
  /** The prices of the provider's models. */
  readonly prices?: Prices.Listed
  /**
   * Makes, from the base URL, the URL for requests in which the model continues a message of its own; absent if that URL is the usual one.
   */
  readonly continuationUrl?: (baseUrl: string) => string
  /** Headers that the provider requires. Headers in the user's options override them. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The chosen model and its key. */
export interface Chosen {
  readonly model: string
  /**
   * The API key, or an effect that gives it. The effect runs before each send, for tokens that expire; if it fails, the call fails with an
   * `AuthenticationError`.
   */
  readonly apiKey: Secret
}

export const layer = (
  self: ChatProvider,
  options: ChatParameters & ByName.Reach & Chosen
): Layer.Layer<Model.Model, never, Transport.HttpClient> =>
  at(self, "/chat/completions", options, (source) => {
    const make = (asked: ChatParameters, able: Facts) => {
      const { maxTokensField, reasoningField, seedField } = able
      return OpenAiChat.make(source, asked, {
        ...self.dialect,
        ...(maxTokensField === undefined ? {} : { maxTokensField }),
        ...(reasoningField === undefined ? {} : { reasoning: reasoningField }),
        ...(seedField === undefined ? {} : { seedField }),
        capabilities: { ...(self.dialect.capabilities ?? OpenAiChat.capabilities), ...able }
      })
    }
    return fitting(source, options, self.catalog ?? ModelFamilies.none, make, self.takes)
  })

/**
 * A model of the same account at any path, in any format, such as the Responses API.
 *
 * @internal
 */
export const at = (
  self: Omit<ChatProvider, "dialect">,
  path: string,
  options: Prices.Asked & ByName.Reach & Chosen,
  codec: (source: Source.Source) => Codec,
  background?: typeof Background.make,
  counting?: (url: string) => Counting
): Layer.Layer<Model.Model, never, Transport.HttpClient> => {
  const { apiKey, baseUrl = self.baseUrl, headers, host, model, transport } = options
  const source: Source.Source = {
    provider: host ?? self.provider,
    model,
    secrets: ByName.secretsOf(apiKey, headers, baseUrl)
  }
  return Provider.layer({
    source,
    codec: codec(source),
    url: ByName.join(baseUrl, path),
    counting: counting?.(ByName.join(baseUrl, `${path}/input_tokens`)),
    continuationUrl: self.continuationUrl?.(baseUrl),
    background,
    price: Prices.of(self.prices ?? [], { ...options, baseUrl }, self.baseUrl, model),
    headers: {
      ...ByName.bearer(apiKey),
      ...self.headers,
      ...headers
    },
    transport
  })
}
