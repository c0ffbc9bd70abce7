/** Options of a turn over real connections: what a server gets of them, and a run whose options are refused. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Message, type Model } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { runners } from "../../../_support/run.ts"

const options = { apiKey: Redacted.make("k"), model: "m", transport: { retry: false } } as const
const tier = { serviceTier: "flex" } as const

const clients: Readonly<
  Record<Wire.ClientFormat, (url: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>>
> = {
  "anthropic-messages": (baseUrl) =>
    Anthropic.layer({ ...options, ...tier, promptCache: { breakpoints: ["automatic", "tools"] }, baseUrl }),
  "openai-chat": (url) =>
    OpenAi.layer({ ...options, ...tier, promptCache: { ttl: "24h" }, verbosity: "low", baseUrl: `${url}/v1` }),
  "openai-responses": (url) =>
    OpenAi.layerResponses({ ...options, ...tier, verbosity: "low", parallelToolCalls: false, baseUrl: `${url}/v1` }),
  "gemini-content": (url) => Gemini.layer({ ...options, ...tier, includeThoughts: true, baseUrl: `${url}/v1beta` }),
  "ollama-chat": (baseUrl) => Ollama.layer({ ...options, extra: { service_tier: "flex" }, baseUrl })
}

describe("options of a turn", () => {
  for (const { format } of AnyWire.wires) {
    for (const [way, run] of Object.entries(runners)) {
      it.live(
        `win at the server over those of the layer, and end the run if they are refused: ${format} (${way}) [P1416]`,
        () =>
          Effect.gen(function* () {
            const server = yield* LoopbackServer.make(
              AnyWire.handler(() => Effect.succeed({ content: [Message.text("so")] }))
            )
            const model = Layer.provide(clients[format](server.url), Transport.layerFetch)
            const answerTo = (fields?: Model.Request["options"]) =>
              run(
                Agent.make("clerk", { model }).pipe(
                  Agent.prepareTurn(() => Effect.succeed(fields === undefined ? {} : { options: fields }))
                ),
                "hi"
              )
            assert.strictEqual(yield* answerTo(), "so")
            assert.strictEqual(yield* answerTo({ service_tier: "auto" }), "so")
            const error = yield* Effect.flip(answerTo({ tools: [] }))
            assert.strictEqual(error._tag, "InvalidRequestError")
            assert.include(error.message, "the library writes the field 'tools'")
            const bodies = (yield* server.requests).map(({ body }) => body as Readonly<Record<string, unknown>>)
            assert.deepStrictEqual(
              bodies.map(({ service_tier }) => service_tier),
              ["flex", "auto"]
            )
          })
      )
    }
  }
})
