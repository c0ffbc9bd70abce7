/** What providers did on their own side: asked for in one way, seen under a stable kind, priced by it. */
import { Budget } from "@kintsugi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, OpenAi, OpenRouter, type Transport } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { participants } from "../_support/participants.ts"
import { specOf } from "../_support/toolSpecs.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"

const apiKey = Redacted.make("k")

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const exchangeWith = Effect.fnUntraced(function* (
  layer: ModelLayer,
  body: object,
  tools: ReadonlyArray<Message.ToolSpec> = []
) {
  const network = fakeNetwork([respond(200, body)])
  const request: Model.Request = { messages: [Message.user("hi")], tools, toolChoice: "auto" }
  const reply = yield* Effect.flatMap(Model.Model, (model) => model.generate(request)).pipe(
    Effect.provide(Layer.provide(layer, network.layer))
  )
  return { body: JSON.parse(network.sent[0]?.body ?? ""), reply }
})

const answerOf = (name: string): object =>
  participants.find((each) => each.name === name)?.says("answer", () => "m", 0) ?? {}

const search = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } }
const searched = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }
const wrong = { ...searched, content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" } }
const ran = { type: "code_execution_tool_result", tool_use_id: "s2", content: {} }

const openAiItems = [
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call"
]

describe("provider items", () => {
  const cases: ReadonlyArray<{
    readonly of: string
    readonly layer: ModelLayer
    readonly body: object
    readonly kinds: ReadonlyArray<string>
  }> = [
    {
      of: "Anthropic",
      layer: Anthropic.layer({ model: "m", apiKey }),
      body: {
        type: "message",
        content: [
          search,
          searched,
          search,
          wrong,
          { ...search, name: "code_execution" },
          ran,
          { type: "text", text: "x" }
        ],
        stop_reason: "end_turn",
        usage: { server_tool_use: { web_search_requests: 2 } }
      },
      kinds: ["web_search_tool_result", "web_search_tool_result", "code_execution_tool_result"].flatMap((kind) => [
        "server_tool_use",
        kind
      ])
    },
    {
      of: "OpenAI's responses",
      layer: OpenAi.layerResponses({ model: "m", apiKey }),
      body: { status: "completed", output: openAiItems.map((type) => ({ type, id: "i", status: "completed" })) },
      kinds: openAiItems
    },
    {
      of: "Gemini",
      layer: Gemini.layer({ model: "m", apiKey }),
      body: {
        candidates: [
          {
            content: {
              parts: [
                { executableCode: { language: "PYTHON", code: "1" } },
                { codeExecutionResult: { outcome: "OUTCOME_OK" } },
                { text: "x" }
              ]
            },
            finishReason: "STOP",
            groundingMetadata: { webSearchQueries: ["q"] }
          }
        ]
      },
      kinds: ["executableCode", "codeExecutionResult", "groundingMetadata"]
    }
  ]

  for (const { body, kinds, layer, of } of cases) {
    it.effect(`each has the word of the wire for its kind, and its price: ${of} [P703]`, () =>
      Effect.gen(function* () {
        const { reply } = yield* exchangeWith(layer, body)
        const found = reply.content.flatMap((part) => (part.type === "provider-item" ? [part.kind] : []))
        assert.deepStrictEqual(found, kinds)
        for (const kind of new Set(kinds)) {
          const price: Budget.Price = { usdPerMillionTokens: { input: 0, output: 0 }, usdPerItem: { [kind]: 3 } }
          assert.strictEqual(Budget.costOfItems(price, reply.content), 3 * kinds.filter((each) => each === kind).length)
        }
      })
    )
  }
})

describe("provider tools", () => {
  const look = specOf("look", Schema.Struct({}))
  const theirs: Schema.Json = { type: "web_search" }
  const providerTools = [theirs]
  const cases: Readonly<Record<string, readonly [ModelLayer, string]>> = {
    Anthropic: [Anthropic.layer({ model: "m", apiKey, providerTools }), "anthropic"],
    "OpenAI's responses": [OpenAi.layerResponses({ model: "m", apiKey, providerTools }), "openai-responses"],
    Gemini: [Gemini.layer({ model: "m", apiKey, providerTools }), "gemini"],
    OpenRouter: [OpenRouter.layer({ model: "m", apiKey, providerTools }), "openrouter"]
  }
  for (const [of, [layer, wire]] of Object.entries(cases)) {
    it.effect(`are offered as the wire names them, alone and beside those of an agent: ${of} [A814]`, () =>
      Effect.gen(function* () {
        const alone = yield* exchangeWith(layer, answerOf(wire))
        assert.deepStrictEqual(alone.body.tools, [theirs])
        const beside = yield* exchangeWith(layer, answerOf(wire), [look])
        assert.strictEqual(beside.body.tools.length, 2)
        assert.deepStrictEqual(beside.body.tools[1], theirs)
      })
    )
  }
})
