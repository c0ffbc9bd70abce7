/** Hosts by their names or as data, and keys that are effects. */
import type { Model } from "@kintsugi/core"
import { Anthropic, Gemini, OpenAi, type Transport } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import type { Config, Context, Effect, Layer, Redacted } from "effect"
import { it } from "vitest"
import { sameType } from "./_support/Identity.ts"

type Served = Layer.Layer<Model.Model, never, Transport.HttpClient>

declare const token: Effect.Effect<Redacted.Redacted, Error>
declare const plain: Effect.Effect<string>
declare const needy: Effect.Effect<Redacted.Redacted, never, Context.Key<"Vault", "Vault">>

it("a key may be an effect that gives a Redacted and needs nothing [P1414]", () => {
  sameType<Served>()(OpenAi.layer({ model: "m", apiKey: token }))
  sameType<Served>()(Anthropic.layer({ model: "m", apiKey: token, bearer: true }))
  sameType<Served>()(Gemini.layer({ model: "m", apiKey: token, headers: { "x-token": token } }))
  // @ts-expect-error a key that is a text could be shown
  OpenAi.layer({ model: "m", apiKey: plain })
  // @ts-expect-error nothing provides what the effect needs
  OpenAi.layer({ model: "m", apiKey: needy })
})

it("a host is one of those that are known, or data [P1414]", () => {
  sameType<Served>()(OpenAiCompatible.layer("vLlm", { model: "m" }))
  const acme = { provider: "acme", variables: { baseUrl: "ACME_BASE_URL" }, dialect: {} }
  sameType<Served>()(OpenAiCompatible.layerResponses(acme, { model: "m" }))
  sameType<Layer.Layer<Model.Model, Config.ConfigError>>()(OpenAiCompatible.model("groq", "m"))
  // @ts-expect-error no host has this name
  OpenAiCompatible.model("acme", "m")
  const azure = { model: "m", apiKey: token, baseUrl: "https://r.openai.azure.com/openai/v1" }
  sameType<Served>()(OpenAiCompatible.layer("azure", azure))
  sameType<Served>()(OpenAiCompatible.layerResponses("azure", azure))
  sameType<Layer.Layer<Model.Model, Config.ConfigError>>()(OpenAiCompatible.model("azure", "m"))
  // @ts-expect-error the base URL has the resource in it
  OpenAiCompatible.layer("azure", { model: "m", apiKey: token })
  // @ts-expect-error the base URL has the region in it
  OpenAiCompatible.layerResponses("bedrock", { model: "m", apiKey: token })
  // @ts-expect-error a dialect has no such field
  OpenAiCompatible.layer({ ...acme, dialect: { tokens: 5 } }, { model: "m" })
})
