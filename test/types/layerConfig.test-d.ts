/** Layers whose options are read from the configuration. */
import type { Model } from "@kintsugi/core"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  type Transport
} from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Config, Effect, type Layer, Redacted } from "effect"
import { it } from "vitest"
import { sameType } from "./_support/Identity.ts"

type Configured = Layer.Layer<Model.Model, Config.ConfigError, Transport.HttpClient>
type ByName = Layer.Layer<Model.Model, Config.ConfigError>

const apiKey = Config.Redacted("MY_KEY")
const model = Config.String("MY_MODEL")

it("a layer from the configuration needs an HttpClient, and fails with a ConfigError; a model by name needs nothing [P1414]", () => {
  sameType<Configured>()(OpenAi.layerConfig({ model, apiKey, organization: Config.String("MY_ORGANIZATION") }))
  sameType<Configured>()(OpenAi.layerResponsesConfig({ model, apiKey, store: Config.Boolean("MY_STORE") }))
  sameType<Configured>()(Anthropic.layerConfig({ model: "m", temperature: Config.Number("MY_TEMPERATURE") }))
  sameType<Configured>()(Gemini.layerConfig({ model, apiKey, seed: 7 }))
  sameType<Configured>()(DeepSeek.layerConfig({ model, apiKey }))
  sameType<Configured>()(Kimi.layerConfig({ model, apiKey }))
  sameType<Configured>()(OpenRouter.layerConfig({ model, apiKey, routing: { sort: "price" } }))
  sameType<Configured>()(Perplexity.layerConfig({ model, apiKey }))
  sameType<Configured>()(Perplexity.layerConfig({ model, api: "chat", stop: ["."] }))
  sameType<Configured>()(Ollama.layerConfig({ model, numCtx: Config.Int("MY_SIZE") }))
  sameType<Configured>()(OpenAiCompatible.layerConfig("groq", { model, apiKey, strict: Config.Boolean("MY_STRICT") }))
  sameType<Configured>()(OpenAiCompatible.layerResponsesConfig("azure", { model, apiKey }))
  const credentials = Config.all({ accessKeyId: Config.String("MY_ID"), secretAccessKey: Config.Redacted("MY_SECRET") })
  sameType<Configured>()(Bedrock.layerConfig({ model, region: Config.String("MY_REGION"), credentials }))

  sameType<ByName>()(OpenAi.responses("m"))
  sameType<ByName>()(Anthropic.model("m"))
  sameType<ByName>()(Gemini.model("m"))
  sameType<ByName>()(Ollama.model("m"))
  sameType<ByName>()(Bedrock.model("m"))
  sameType<ByName>()(OpenAiCompatible.responses("azure", "m"))
})

it("an optional option may be a Config of undefined, and a required one may not [P1414]", () => {
  const maybeKey: Config.Config<Redacted.Redacted | undefined> = Config.withDefault(apiKey, undefined)
  const maybeMost: Config.Config<number | undefined> = Config.withDefault(Config.Int("MY_MOST"), undefined)
  sameType<Configured>()(Gemini.layerConfig({ model, apiKey: maybeKey, maxTokens: maybeMost }))
  // @ts-expect-error a model has a name
  Gemini.layerConfig({ model: Config.withDefault(model, undefined) })
})

it("a layer from the configuration takes the options of its provider alone, of their types [P1414]", () => {
  // @ts-expect-error a model has a name
  Anthropic.layerConfig({ apiKey })
  // @ts-expect-error a key that is a text could be shown
  Anthropic.layerConfig({ model, apiKey: Config.String("MY_KEY") })
  // @ts-expect-error a temperature is a number
  Anthropic.layerConfig({ model, temperature: Config.String("MY_TEMPERATURE") })
  // @ts-expect-error DeepSeek takes no seed
  DeepSeek.layerConfig({ model, seed: Config.Int("MY_SEED") })
  // @ts-expect-error the chat completions of Perplexity have no tools to choose from
  Perplexity.layerConfig({ model, api: "chat", toolChoice: "required" })
  // @ts-expect-error no host has this name
  OpenAiCompatible.layerConfig("acme", { model })
  // @ts-expect-error a model by name has the key of the environment
  OpenAi.model("m", { apiKey })
})

it("Bedrock has credentials or an API key, and not both [P1414]", () => {
  const secret: Redacted.Redacted = Redacted.make("k")
  const where = { model: "m", region: "us-east-1" }
  const credentials = { accessKeyId: "id", secretAccessKey: secret }
  type Served = Layer.Layer<Model.Model, never, Transport.HttpClient>
  sameType<Served>()(Bedrock.layer({ ...where, credentials }))
  sameType<Served>()(
    Bedrock.layer({ ...where, apiKey: secret, providerTools: [{ systemTool: { name: "nova_grounding" } }] })
  )
  sameType<Served>()(Bedrock.layer({ ...where, apiKey: Effect.succeed(secret) }))
  sameType<Configured>()(Bedrock.layerConfig({ model, apiKey }))
  sameType<ByName>()(Bedrock.model("m", { apiKey: secret, region: "us-east-1" }))
  // @ts-expect-error one of them alone
  Bedrock.layer({ ...where, credentials, apiKey: secret })
  // @ts-expect-error it needs one of them
  Bedrock.layer(where)
  // @ts-expect-error a key that is a text could be shown
  Bedrock.layer({ ...where, apiKey: "k" })
})
