/** Each entry of the option `capabilities` changes what is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Anthropic, Gemini, Kimi, Ollama, OpenAi, Perplexity } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { specOf } from "../_support/toolSpecs.ts"

const apiKey = Redacted.make("k")
const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const chosen = { model: "my-model", apiKey, transport: { retry: false } } as const

type AnyLayer = ReturnType<typeof OpenAi.layer>

const bodyOf = Effect.fnUntraced(function* (layer: AnyLayer, asked: Model.Request = plain) {
  const network = fakeNetwork(() => respond(500, "{}")())
  yield* Effect.exit(
    Effect.flatMap(Model.Model, (model) => model.generate(asked)).pipe(
      Effect.provide(Layer.provide(layer, network.layer))
    )
  )
  return JSON.parse(network.sent[0]?.body ?? "null") as Readonly<Record<string, unknown>>
})

describe("the fields of chat completions", () => {
  it.effect("are Mistral's own at Mistral's host, and OpenAI's at other servers of its models [P1410]", () =>
    Effect.gen(function* () {
      const asked = { ...chosen, model: "mistralai/Mistral-Small-24B-Instruct-2501", seed: 7, maxTokens: 50 }
      const at = (baseUrl: string) => bodyOf(OpenAi.layer({ ...asked, baseUrl }))
      const own = yield* at("https://api.mistral.ai/v1")
      assert.deepInclude(own, { random_seed: 7, max_tokens: 50 })
      assert.notProperty(own, "seed")
      for (const baseUrl of ["http://vllm.test/v1", "https://notmistral.ai/v1", "https://mistral.ai.test/v1"]) {
        const body = yield* at(baseUrl)
        assert.deepInclude(body, { seed: 7, max_completion_tokens: 50 }, baseUrl)
        assert.notProperty(body, "random_seed", baseUrl)
      }
    })
  )

  it.effect("are those that the layer names [P1410]", () =>
    Effect.gen(function* () {
      const capabilities = { maxTokensField: "max_tokens", seedField: "random_seed", reasoningField: "object" } as const
      const asked = { ...chosen, seed: 7, maxTokens: 50, reasoning: "low", capabilities }
      assert.deepInclude(yield* bodyOf(OpenAi.layer(asked)), {
        max_tokens: 50,
        random_seed: 7,
        reasoning: { effort: "low" }
      })
      const kimi = { ...chosen, model: "kimi-k3", reasoning: "low" } as const
      assert.deepInclude(yield* bodyOf(Kimi.layer(kimi)), { reasoning_effort: "low" })
      const switched = { ...kimi, capabilities: { reasoningField: "thinking" } } as const
      assert.deepInclude(yield* bodyOf(Kimi.layer(switched)), { thinking: { type: "enabled" } })
    })
  )
})

const layers = {
  "chat completions": (more: object) => OpenAi.layer({ ...chosen, ...more }),
  Responses: (more: object) => OpenAi.layerResponses({ ...chosen, ...more }),
  "the agent API": (more: object) => Perplexity.layer({ ...chosen, ...more }),
  Anthropic: (more: object) => Anthropic.layer({ ...chosen, ...more }),
  Gemini: (more: object) => Gemini.layer({ ...chosen, ...more }),
  Ollama: (more: object) => Ollama.layer({ ...chosen, ...more })
}

describe("the entry output", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false }
  const asked: Model.Request = { ...plain, output: { name: "report", schema } }
  // by wire: the field that holds an answer to JSON
  const json: Readonly<Record<keyof typeof layers, string | undefined>> = {
    "chat completions": '"response_format":{"type":"json_object"}',
    Responses: '"text":{"format":{"type":"json_object"}}',
    "the agent API": '"response_format":{"type":"json_object"}',
    Anthropic: undefined,
    Gemini: '"generationConfig":{"responseMimeType":"application/json"}',
    Ollama: '"format":"json"'
  }
  const fields = /"(?:response_format|text":\{"format|output_config|responseMimeType|responseJsonSchema|format)"/

  for (const [wire, make] of Object.entries(layers)) {
    it.effect(`tells the schema in words if it is not sent: ${wire} [P1410]`, () =>
      Effect.gen(function* () {
        const sent = (output: "schema" | "json" | "none") =>
          Effect.map(bodyOf(make({ capabilities: { output } }), asked), (body) => JSON.stringify(body))
        const words = "Your final answer is JSON and nothing else."
        const shaped = yield* sent("schema")
        assert.notInclude(shaped, words)
        assert.match(shaped, fields)
        const free = yield* sent("none")
        assert.include(free, words)
        assert.notMatch(free, fields)
        const held = yield* sent("json")
        assert.include(held, words)
        const field = json[wire as keyof typeof layers]
        if (field === undefined) assert.strictEqual(held, free)
        else assert.include(held, field)
      })
    )
  }
})

describe("the entry maxTokens", () => {
  for (const [wire, make] of Object.entries(layers)) {
    it.effect(`is the longest reply if the options set none: ${wire} [P1410]`, () =>
      Effect.gen(function* () {
        const usual = JSON.stringify(yield* bodyOf(make({ capabilities: { maxTokens: 77 } })))
        assert.match(usual, /"(?:max_completion_tokens|max_output_tokens|max_tokens|maxOutputTokens|num_predict)":77\b/)
        const own = JSON.stringify(yield* bodyOf(make({ maxTokens: 50, capabilities: { maxTokens: 77 } })))
        assert.notInclude(own, ":77")
      })
    )
  }
})

describe("the entry promptCache", () => {
  it.effect("keeps out the key, the marks, or both [P1410]", () =>
    Effect.gen(function* () {
      const said = { ...plain, messages: [Message.system("Greet."), ...plain.messages] }
      const chat = (promptCache: "none" | "automatic" | "key" | "breakpoints" | "key-and-breakpoints") => {
        const asked = { key: "desk", breakpoints: ["system"] } as const
        return bodyOf(OpenAi.layer({ ...chosen, promptCache: asked, capabilities: { promptCache } }), said)
      }
      const seen = (body: Readonly<Record<string, unknown>>) => [
        body["prompt_cache_key"],
        JSON.stringify(body).includes("prompt_cache_breakpoint")
      ]
      assert.deepStrictEqual(seen(yield* chat("key-and-breakpoints")), ["desk", true])
      assert.deepStrictEqual(seen(yield* chat("breakpoints")), [undefined, true])
      assert.deepStrictEqual(seen(yield* chat("key")), ["desk", false])
      assert.deepStrictEqual(seen(yield* chat("none")), [undefined, false])
      assert.deepStrictEqual(seen(yield* chat("automatic")), [undefined, false])
      const claude = (promptCache: "none" | "breakpoints") =>
        bodyOf(Anthropic.layer({ ...chosen, promptCache: { ttl: "1h" }, capabilities: { promptCache } }), said)
      assert.include(JSON.stringify(yield* claude("breakpoints")), '"cache_control":{"type":"ephemeral","ttl":"1h"}')
      assert.notInclude(JSON.stringify(yield* claude("none")), "cache_control")
    })
  )
})

describe("an entry about reasoning or calls", () => {
  const withTools = { ...plain, tools: [specOf("search", Schema.Struct({}))] }
  const ofTable = { ...chosen, model: "gpt-5.6" }

  it.effect("wins over the table [P1410]", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [AnyLayer, object]> = [
        [OpenAi.layer({ ...ofTable, reasoning: "low" }), { reasoning_effort: "none" }],
        [
          OpenAi.layer({ ...ofTable, reasoning: "low", capabilities: { reasoningBesideTools: "any" } }),
          { reasoning_effort: "low" }
        ],
        [
          OpenAi.layer({ ...chosen, reasoning: "minimal", capabilities: { efforts: ["low", "high"] } }),
          { reasoning_effort: "low" }
        ],
        [
          OpenAi.layer({
            ...chosen,
            temperature: 0,
            capabilities: { sampling: "without-reasoning", reasoningByDefault: false }
          }),
          { temperature: 0 }
        ],
        [
          OpenAi.layer({
            ...chosen,
            temperature: 0,
            capabilities: { sampling: "without-reasoning", reasoningByDefault: true }
          }),
          { temperature: undefined }
        ],
        [
          OpenAi.layer({ ...chosen, temperature: 0, topP: 0.5, capabilities: { temperatureBesideTopP: false } }),
          { temperature: 0, top_p: undefined }
        ],
        // a temperature of 1 is what these models take without one
        [
          OpenAi.layer({ ...chosen, temperature: 1, topP: 0.5, capabilities: { temperatureBesideTopP: false } }),
          { temperature: undefined, top_p: 0.5 }
        ],
        [
          OpenAi.layer({ ...chosen, topP: 0.5, capabilities: { temperatureBesideTopP: false } }),
          { temperature: undefined, top_p: 0.5 }
        ],
        [OpenAi.layer({ ...ofTable, model: "o4-mini", parallelToolCalls: false }), { parallel_tool_calls: undefined }],
        [
          OpenAi.layer({
            ...ofTable,
            model: "o4-mini",
            parallelToolCalls: false,
            capabilities: { parallelToolCalls: true }
          }),
          { parallel_tool_calls: false }
        ],
        [
          Anthropic.layer({
            ...chosen,
            reasoning: "high",
            capabilities: { budgets: true, efforts: [], leastBudget: 30_000 }
          }),
          { thinking: { type: "enabled", budget_tokens: 30_000 } }
        ],
        [
          Anthropic.layer({
            ...chosen,
            model: "claude-opus-5-5",
            reasoning: "none",
            capabilities: { reasoningOff: true }
          }),
          { thinking: { type: "disabled" } }
        ]
      ]
      for (const [layer, fields] of cases) {
        const body = yield* bodyOf(layer, withTools)
        for (const [name, value] of Object.entries(fields)) assert.deepStrictEqual(body[name], value, name)
      }
    })
  )

  it.effect(
    "of efforts chooses the nearest, and of two the cheaper one; a word of no scale is sent as asked [P1410]",
    () =>
      Effect.gen(function* () {
        const sent = (reasoning: string) =>
          Effect.map(
            bodyOf(Anthropic.layer({ ...chosen, model: "claude-sonnet-4-6", reasoning })),
            ({ output_config }) => output_config
          )
        assert.deepStrictEqual(yield* sent("xhigh"), { effort: "high" })
        assert.deepStrictEqual(yield* sent("ultra"), { effort: "max" })
        assert.deepStrictEqual(yield* sent("extreme"), { effort: "extreme" })
        const budget = yield* bodyOf(Anthropic.layer({ ...chosen, model: "claude-sonnet-4-5", reasoning: "extreme" }))
        assert.deepStrictEqual(budget["output_config"], { effort: "extreme" })
      })
  )

  it.effect("that only switches reasoning on takes each effort as it is [P1410]", () =>
    Effect.gen(function* () {
      const kimi = {
        ...chosen,
        model: "kimi-k2.6",
        reasoning: "high",
        capabilities: { unsupported: "refuse" }
      } as const
      assert.deepInclude(yield* bodyOf(Kimi.layer(kimi)), { thinking: { type: "enabled" } })
    })
  )

  it.effect("holds for tools of the provider alone, too [P1410]", () =>
    Effect.gen(function* () {
      const providerTools = [{ type: "web_search_20260209", name: "web_search" }]
      const layer = Anthropic.layer({ ...chosen, model: "claude-opus-5-5", providerTools })
      const body = yield* bodyOf(layer, { ...plain, toolChoice: "required" })
      assert.deepInclude(body, { tools: providerTools })
      assert.notProperty(body, "tool_choice")
    })
  )
})

describe("an entry that makes no sense", () => {
  it("is a RangeError if it is a number [P1410]", () => {
    for (const name of ["maxTokens", "contextWindow", "leastBudget"]) {
      for (const value of [NaN, 0.5, 0, Infinity]) {
        const make = () => OpenAi.layer({ ...chosen, capabilities: { [name]: value } })
        assert.throws(make, RangeError, `Model: capabilities.${name} must be an integer of at least 1, got ${value}`)
      }
    }
  })

  it("does not compile if it changes nothing [P1410]", () => {
    // @ts-expect-error the wire decides how a failure is marked
    OpenAi.layer({ ...chosen, capabilities: { toolErrors: "flag" } })
    // @ts-expect-error the wire decides what becomes of reasoning in a reply
    OpenAi.layer({ ...chosen, capabilities: { reasoning: "shown" } })
    // @ts-expect-error there is no such entry
    OpenAi.layer({ ...chosen, capabilities: { cacheWrites: "billed" } })
  })
})
