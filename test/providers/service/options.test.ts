/** Options that several wires have, each by its own name: what is sent of them, whole and streamed. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Anthropic, Gemini, Kimi, OpenAi, OpenRouter, type Transport } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Effect, Layer, Redacted, Stream } from "effect"
import { fakeNetwork, respond } from "../../_support/network.ts"

type Making = Layer.Layer<Model.Model, never, Transport.HttpClient>

const apiKey = Redacted.make("k")
const chosen = { model: "m", apiKey }
const claude = { model: "claude-sonnet-4-6", apiKey }
const amazon = {
  model: "anthropic.claude-sonnet-4-6",
  region: "us-east-1",
  credentials: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret") }
}

const look: Message.ToolSpec = { name: "look", description: "looks", parameters: { type: "object", properties: {} } }
const full: Model.Request = {
  messages: [Message.system("Be brief."), Message.user("hi")],
  tools: [look],
  toolChoice: "auto"
}

/** The body that a layer sends, the same whole and streamed but for what asks for the stream. */
const bodyOf = Effect.fnUntraced(function* (layer: Making, request: Model.Request = full) {
  const network = fakeNetwork(respond(400))
  const model = yield* Effect.provide(Effect.service(Model.Model), Layer.provide(layer, network.layer))
  yield* Effect.flip(model.generate(request))
  yield* Effect.flip(Stream.runDrain(model.stream(request)))
  const [whole, streamed] = network.sent.map(({ body }) => JSON.parse(body))
  const { stream: _s, stream_options: _o, ...rest } = streamed
  assert.deepStrictEqual(rest, whole)
  return whole
})

const cases: Readonly<Record<string, ReadonlyArray<readonly [string, Making, object]>>> = {
  "a tier of service": [
    ["OpenAi", OpenAi.layer({ ...chosen, serviceTier: "flex" }), { service_tier: "flex" }],
    ["OpenAi's responses", OpenAi.layerResponses({ ...chosen, serviceTier: "priority" }), { service_tier: "priority" }],
    ["Anthropic", Anthropic.layer({ ...chosen, serviceTier: "standard_only" }), { service_tier: "standard_only" }],
    ["Bedrock", Bedrock.layer({ ...amazon, serviceTier: "flex" }), { serviceTier: { type: "flex" } }],
    ["Gemini", Gemini.layer({ ...chosen, serviceTier: "flex" }), { service_tier: "flex" }],
    ["OpenRouter", OpenRouter.layer({ ...chosen, serviceTier: "flex" }), { service_tier: "flex" }],
    ["Groq", OpenAiCompatible.layer("groq", { ...chosen, serviceTier: "on_demand" }), { service_tier: "on_demand" }],
    [
      "the tier of extra before the option",
      OpenAi.layer({ ...chosen, serviceTier: "flex", extra: { service_tier: "auto" } }),
      { service_tier: "auto" }
    ]
  ],
  "the length of answers": [
    ["OpenAi", OpenAi.layer({ ...chosen, verbosity: "low" }), { verbosity: "low" }],
    ["OpenRouter", OpenRouter.layer({ ...chosen, verbosity: "max" }), { verbosity: "max" }],
    ["OpenAi's responses", OpenAi.layerResponses({ ...chosen, verbosity: "low" }), { text: { verbosity: "low" } }]
  ],
  "how thoughts are shown": [
    [
      "Anthropic, beside an effort",
      Anthropic.layer({ ...claude, reasoning: "low", includeThoughts: true }),
      { thinking: { type: "adaptive", display: "summarized" } }
    ],
    [
      "Anthropic, beside a budget",
      Anthropic.layer({ ...claude, reasoning: { maxTokens: 2048 }, includeThoughts: false }),
      { thinking: { type: "enabled", budget_tokens: 2048, display: "omitted" } }
    ],
    [
      "Anthropic, without an effort",
      Anthropic.layer({ ...claude, includeThoughts: true }),
      { thinking: { type: "adaptive", display: "summarized" } }
    ],
    [
      "Anthropic, without thoughts",
      Anthropic.layer({ ...claude, reasoning: "none", includeThoughts: true }),
      { thinking: { type: "disabled" } }
    ],
    [
      "Gemini",
      Gemini.layer({ ...chosen, includeThoughts: true, extra: { generationConfig: { thinkingConfig: { x: 1 } } } }),
      { generationConfig: { thinkingConfig: { includeThoughts: true, x: 1 } } }
    ],
    [
      "OpenRouter, beside extra",
      OpenRouter.layer({ ...chosen, reasoning: "low", extra: { reasoning: { exclude: true } } }),
      { reasoning: { effort: "low", exclude: true } }
    ],
    [
      "OpenAi's responses",
      OpenAi.layerResponses({ ...chosen, reasoning: "low", reasoningSummary: "auto" }),
      { reasoning: { effort: "low", summary: "auto" } }
    ]
  ],
  "how long the cache lasts": [
    [
      "OpenAi before GPT-5.6",
      OpenAi.layer({ ...chosen, model: "gpt-5.4", promptCache: { key: "k", ttl: "24h" } }),
      { prompt_cache_key: "k", prompt_cache_retention: "24h" }
    ],
    [
      "OpenAi's responses before GPT-5.6",
      OpenAi.layerResponses({ ...chosen, model: "gpt-5.4", promptCache: { ttl: "in_memory" } }),
      { prompt_cache_retention: "in_memory" }
    ],
    [
      "OpenAi's responses from GPT-5.6 on",
      OpenAi.layerResponses({ ...chosen, model: "gpt-5.6-sol", promptCache: { ttl: "30m" } }),
      { prompt_cache_options: { ttl: "30m" } }
    ],
    [
      "a model that is in no table, at Azure",
      OpenAiCompatible.layer("azure", { ...chosen, baseUrl: "https://a.test", promptCache: { ttl: "12h" } }),
      { prompt_cache_options: { ttl: "12h" } }
    ],
    [
      "extra beside it",
      OpenAi.layer({ ...chosen, promptCache: { ttl: "30m" }, extra: { prompt_cache_options: { mode: "explicit" } } }),
      { prompt_cache_options: { ttl: "30m", mode: "explicit" } }
    ],
    ["Kimi's key", Kimi.layer({ ...chosen, promptCache: { key: "k" } }), { prompt_cache_key: "k" }]
  ]
}

for (const [what, sent] of Object.entries(cases)) {
  describe(what, () => {
    for (const [name, layer, fields] of sent) {
      it.effect(`goes in the words of its wire: ${name} [P1416]`, () =>
        Effect.gen(function* () {
          assert.deepInclude(yield* bodyOf(layer), fields)
        })
      )
    }
  })
}

describe("marks of the cache", () => {
  const cacheControl = { cache_control: { type: "ephemeral" } }
  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } }
  const point = { cachePoint: { type: "default", ttl: "1h" } }

  it.effect("stand behind the tools, the system text and the conversation of Anthropic, as asked [P1416]", () =>
    Effect.gen(function* () {
      const marked = Effect.fnUntraced(function* (promptCache: Anthropic.Options["promptCache"]) {
        const layer = Anthropic.layer({ ...claude, ...(promptCache === undefined ? {} : { promptCache }) })
        const { cache_control, messages, system, tools } = yield* bodyOf(layer)
        return [tools[0], system[0], messages[0].content[0], { cache_control }].map((one) => one.cache_control)
      })
      const mark = cacheControl.cache_control
      assert.deepStrictEqual(yield* marked(undefined), [undefined, undefined, undefined, undefined])
      assert.deepStrictEqual(yield* marked({}), [undefined, mark, mark, undefined])
      assert.deepStrictEqual(yield* marked({ breakpoints: ["tools"] }), [mark, undefined, undefined, undefined])
      assert.deepStrictEqual(yield* marked({ breakpoints: ["tools", "system", "conversation"], ttl: "1h" }), [
        hour.cache_control,
        hour.cache_control,
        hour.cache_control,
        undefined
      ])
      assert.deepStrictEqual(yield* marked({ breakpoints: ["automatic"], ttl: "1h" }), [
        undefined,
        undefined,
        undefined,
        hour.cache_control
      ])
      assert.deepStrictEqual(yield* marked({ breakpoints: ["automatic", "system"] }), [
        undefined,
        mark,
        undefined,
        mark
      ])
    })
  )

  it.effect("stand behind the tools of Bedrock, once, with and without a system text [P1416]", () =>
    Effect.gen(function* () {
      const layer = Bedrock.layer({ ...amazon, promptCache: { breakpoints: ["tools", "system"], ttl: "1h" } })
      const { messages, system, toolConfig } = yield* bodyOf(layer)
      assert.deepStrictEqual(toolConfig.tools.slice(1), [point])
      assert.deepStrictEqual(system, [{ text: "Be brief." }, point])
      assert.deepStrictEqual(messages, [{ role: "user", content: [{ text: "hi" }] }])
      const ofSystem = yield* bodyOf(Bedrock.layer({ ...amazon, promptCache: { breakpoints: ["system"] } }))
      assert.lengthOf(ofSystem.toolConfig.tools, 1)
      const bare = yield* bodyOf(layer, { ...full, messages: [Message.user("hi")] })
      assert.deepStrictEqual(bare.toolConfig.tools.slice(1), [point])
      assert.notProperty(yield* bodyOf(layer, { ...full, tools: [] }), "toolConfig")
    })
  )

  it.effect("of OpenRouter are set by the provider, or stand behind the system text [P1416]", () =>
    Effect.gen(function* () {
      const sent = (promptCache: OpenRouter.Options["promptCache"]) =>
        bodyOf(OpenRouter.layer({ ...chosen, ...(promptCache === undefined ? {} : { promptCache }) }))
      const said = { role: "system", content: "Be brief." }
      const plain = yield* sent(undefined)
      assert.notProperty(plain, "cache_control")
      assert.deepStrictEqual(plain.messages[0], said)
      assert.deepInclude(yield* sent({}), cacheControl)
      assert.deepInclude(yield* sent({ ttl: "1h" }), hour)
      const marked = yield* sent({ breakpoints: ["system"], ttl: "1h" })
      assert.notProperty(marked, "cache_control")
      assert.deepStrictEqual(marked.messages[0], {
        role: "system",
        content: [{ type: "text", text: "Be brief.", ...hour }]
      })
      const own = OpenRouter.layer({ ...chosen, promptCache: {}, extra: { cache_control: { ttl: "1h" } } })
      assert.deepInclude(yield* bodyOf(own), hour)
    })
  )
})

describe("a cached content of Gemini", () => {
  const promptCache = { name: "cachedContents/abc" }

  it.effect("goes by its name, without the prompt and the tools that it has [P1416]", () =>
    Effect.gen(function* () {
      const providerTools = [{ googleSearch: {} }]
      assert.deepStrictEqual(yield* bodyOf(Gemini.layer({ ...chosen, promptCache, providerTools })), {
        cachedContent: "cachedContents/abc",
        contents: [{ role: "user", parts: [{ text: "hi" }] }]
      })
      for (const extra of [{ cachedContent: "cachedContents/abc" }, { cached_content: "cachedContents/abc" }]) {
        assert.deepStrictEqual(yield* bodyOf(Gemini.layer({ ...chosen, extra, providerTools })), {
          ...extra,
          contents: [{ role: "user", parts: [{ text: "hi" }] }]
        })
      }
      const { systemInstruction, tools } = yield* bodyOf(Gemini.layer(chosen))
      assert.isDefined(systemInstruction)
      assert.isDefined(tools)
    })
  )

  it.effect("refuses a forced call, of the request and of the options [P1416]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([])
      const refused = Effect.fnUntraced(function* (layer: Making, request: Model.Request) {
        const model = yield* Effect.provide(Effect.service(Model.Model), Layer.provide(layer, network.layer))
        return [yield* Effect.flip(model.generate(request)), yield* Effect.flip(Stream.runDrain(model.stream(request)))]
      })
      const layer = Gemini.layer({ ...chosen, promptCache })
      const errors = [
        ...(yield* refused(layer, { ...full, toolChoice: "required" })),
        ...(yield* refused(Gemini.layer({ ...chosen, promptCache, toolChoice: { tool: "look" } }), full))
      ]
      assert.lengthOf(errors, 4)
      for (const error of errors) {
        assert.strictEqual(error._tag, "CapabilityMismatchError")
        if (error._tag === "CapabilityMismatchError") assert.strictEqual(error.capability, "toolChoice")
      }
      assert.lengthOf(network.sent, 0)
    })
  )
})

describe("times of a cache that a model does not have", () => {
  it.effect("are left out with an adaptation, the key and the marks stay [P1416]", () =>
    Effect.gen(function* () {
      const later = { key: "k", breakpoints: ["system"] as const, ttl: "24h" as const }
      const earlier = { key: "k", ttl: "30m" as const }
      for (const [model, promptCache, kept] of [
        ["gpt-5.6-sol", later, { key: "k", breakpoints: ["system"] }],
        ["gpt-5.4", earlier, { key: "k" }],
        ["gpt-5.4", { ttl: "30m" as const }, undefined]
      ] as const) {
        for (const layer of [OpenAi.layer, OpenAi.layerResponses]) {
          const making: Making = layer({ apiKey, model, promptCache })
          const body = yield* bodyOf(making)
          assert.notProperty(body, "prompt_cache_retention")
          assert.notProperty(body, "prompt_cache_options")
          const service = yield* Effect.provide(
            Effect.service(Model.Model),
            Layer.provide(making, fakeNetwork([]).layer)
          )
          const { changes } = service.adapts?.(full) ?? { changes: [] }
          const asked = { option: "promptCache", asked: promptCache }
          assert.deepInclude(changes, kept === undefined ? asked : { ...asked, sent: kept })
        }
      }
    })
  )
})
