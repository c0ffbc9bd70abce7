/**
 * Language models of the Vercel AI SDK as models of this library. `doGenerate` and `doStream` are called directly, so nothing of the SDK
 * resends, loops or runs tools; the transport of `@kintsugi/providers` sends, as for every other model. This module does not need the `ai` package.
 */
import * as Budget from "@kintsugi/core/Budget"
import type * as Model from "@kintsugi/core/Model"
import * as Provider from "@kintsugi/providers/Provider"
import * as Transport from "@kintsugi/providers/Transport"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Client from "./client.ts"
import * as Codec from "./codec.ts"
import type { CallSettings, LanguageModel, ProviderTool, Version } from "./specification.ts"

export type { CallOptions, LanguageModel } from "./specification.ts"

/** The options of `layer`: what each call sends, and facts about the model that the SDK does not know. */
interface Options {
  /** Settings of each call, with the names of the SDK, such as `temperature`, `maxOutputTokens` or `providerOptions`. */
  readonly settings?: CallSettings
  /** Tools that the provider runs, such as `anthropic.tools.webSearch_20250305()`. They are offered beside the tools of the agent. */
  readonly providerTools?: ReadonlyArray<ProviderTool>
  /** The size of the context window in tokens (request and reply together), for `Agent.compactAt`. */
  readonly contextWindow?: number
  /**
   * The price of the model, or `reported` if the provider reports the cost of each reply, as the AI Gateway, OpenRouter and xAI do. A
   * reported cost counts in either case.
   */
  readonly price?: Model.Service["price"]
  /**
   * The API keys with which the model was made, so that no error, event, span or log shows them. Without this option, only keys of a known
   * form are redacted.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
  /** The time limits, sizes and resends of the transport; by default those of every model. */
  readonly transport?: Transport.Options
}

/**
 * The `Model` of a language model of the SDK. The model has version 2, 3 or 4 of the SDK's specification. Throws a `TypeError` for anything
 * else, such as the name of a model, and for an invalid price, and a `RangeError` for invalid options of the transport and for a
 * `contextWindow` that is no number of tokens.
 *
 * @example
 * ```ts no-run
 * import { Agent } from "@kintsugi/core"
 * import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
 *
 * // `openai("gpt-5.6-sol")` of `@ai-sdk/openai`, or any other
 * export const clerk = (theirs: AiSdkModel.LanguageModel) => Agent.make("clerk", { model: AiSdkModel.layer(theirs) })
 * ```
 */
export const layer = (languageModel: LanguageModel, options: Options = {}): Layer.Layer<Model.Model> => {
  const version = versionOf(languageModel)
  const { contextWindow, price, providerTools = [], secrets = [], settings = {}, transport } = options
  if (price !== undefined && price !== "reported") Budget.make({ prices: { [languageModel.modelId]: price } })
  if (contextWindow !== undefined && !(Number.isSafeInteger(contextWindow) && contextWindow >= 1))
    throw new RangeError(`AiSdkModel: contextWindow must be an integer of at least 1, got ${String(contextWindow)}`)
  const provider = nameOf(languageModel.provider)
  const to = { version, provider, providerTools }
  const source = { provider, model: languageModel.modelId, secrets }
  const at = (way: keyof typeof Client.ways) => `https://${hostOf(provider)}/${Client.ways[way]}`
  return Provider.layer({
    source,
    codec: Codec.make(source, to, contextWindow),
    url: at("whole"),
    streamUrl: at("streamed"),
    headers: {},
    price,
    transport
  }).pipe(Layer.provide(Layer.succeed(Transport.HttpClient, Client.make(languageModel, to, settings))))
}

const versions: ReadonlyArray<unknown> = ["v2", "v3", "v4"] satisfies ReadonlyArray<Version>

/** The version of a model. It checks the argument, because programs in JavaScript may pass anything. */
const versionOf = (model: LanguageModel | string): Version => {
  if (typeof model === "string") {
    throw new TypeError(`AiSdkModel: '${model}' is the name of a model; give the model, such as openai('${model}')`)
  }
  if (versions.includes(model.specificationVersion)) return model.specificationVersion
  throw new TypeError(
    `AiSdkModel: a language model of specification version '${String(model.specificationVersion)}' is not read; v2, v3 and v4 are`
  )
}

/**
 * The name of the provider in opaque data, such as `openai.responses`. A name without a dot gets the suffix `.ai-sdk`, so that its data
 * differ from those of this library's own providers.
 */
const nameOf = (provider: string): string => (provider.includes(".") ? provider : `${provider}.ai-sdk`)

/** The host name that errors about connections show. */
const hostOf = (provider: string): string => {
  const host = provider.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-")
  return URL.canParse(`https://${host}`) ? host : "ai-sdk"
}
