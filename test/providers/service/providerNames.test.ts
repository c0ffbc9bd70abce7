/** The name under which errors, spans and the ledger show a provider. */
import { assert, it } from "@effect/vitest"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, Ollama } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import { Effect, Layer, Redacted } from "effect"
import { fakeNetwork } from "../../_support/network.ts"

const apiKey = Redacted.make("k")
const chosen = { model: "m", apiKey }
const credentials = { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret") }

type ByHost = (more: { readonly host?: string }) => ReturnType<typeof Gemini.layer>

const makers: ReadonlyArray<readonly [string, ByHost]> = [
  ["anthropic", (more) => Anthropic.layer({ ...chosen, ...more })],
  ["vertex", (more) => Anthropic.layer({ ...chosen, vertex: true, baseUrl: "https://v.test", ...more })],
  ["gemini", (more) => Gemini.layer({ ...chosen, ...more })],
  ["ollama", (more) => Ollama.layer({ model: "m", ...more })],
  ["bedrock", (more) => Bedrock.layer({ model: "m", region: "us-east-1", credentials, ...more })]
]

it.effect("is its own, or that of the host [A814]", () =>
  Effect.gen(function* () {
    const nameOf = (layer: ReturnType<typeof Gemini.layer>) =>
      Effect.map(
        Effect.provide(Effect.service(Model.Model), Layer.provide(layer, fakeNetwork([]).layer)),
        ({ provider }) => provider
      )
    for (const [name, make] of makers) {
      assert.strictEqual(yield* nameOf(make({})), name)
      assert.strictEqual(yield* nameOf(make({ host: "gateway" })), "gateway")
    }
  })
)
