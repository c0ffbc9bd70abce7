/** What the layers of the providers know of prices, and what a run makes of it. */
import { assert, describe } from "@effect/vitest"
import { Agent, type Budget, Model } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Effect, type Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import * as Prices from "../../../packages/providers/src/service/prices.ts"
import { eventLog } from "../../_support/dialogue.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"

const apiKey = Redacted.make("key-of-the-account")

type Options = { readonly model: string; readonly baseUrl?: string; readonly price?: Budget.Price }
type Made = Layer.Layer<Model.Model, never, HttpClient.HttpClient>

/** Each provider, one of its models, and what is known of it. */
const layers: Readonly<Record<string, readonly [(options: Options) => Made, string, unknown]>> = {
  openai: [(options) => OpenAi.layer({ apiKey, ...options }), "gpt-5.6-sol", { input: 4, output: 20 }],
  responses: [(options) => OpenAi.layerResponses({ apiKey, ...options }), "gpt-6.2-sol", { input: 2, output: 10 }],
  anthropic: [(options) => Anthropic.layer({ apiKey, ...options }), "claude-opus-5-5", { input: 4, output: 20 }],
  gemini: [(options) => Gemini.layer({ apiKey, ...options }), "models/gemini-3.8-flash", { input: 1.5, output: 7.5 }],
  deepseek: [(options) => DeepSeek.layer({ apiKey, ...options }), "deepseek-flash", { input: 0.3, output: 1.2 }],
  kimi: [(options) => Kimi.layer({ apiKey, ...options }), "kimi-k3", { input: 3, output: 15 }],
  openrouter: [(options) => OpenRouter.layer({ apiKey, ...options }), "vendor/model", "reported"],
  perplexity: [(options) => Perplexity.layer({ apiKey, ...options }), "vendor/model", "reported"],
  ollama: [(options) => Ollama.layer({ apiKey, ...options }), "qwen3", { input: 0, output: 0 }]
}

const priceOf = (layer: Made) =>
  Effect.map(
    Effect.service(Model.Model).pipe(Effect.provide(layer), Effect.provide(fakeNetwork([]).layer)),
    ({ price }) => price
  )

const own: Budget.Price = { usdPerMillionTokens: { input: 7, output: 8 } }

describe("the layer of a provider", () => {
  for (const [name, [layer, model, expected]] of Object.entries(layers)) {
    it.effect(`${name} knows the price of its model at its own base URL, and takes another [P1382]`, () =>
      Effect.gen(function* () {
        const price = yield* priceOf(layer({ model }))
        if (expected === "reported") assert.strictEqual(price, expected)
        else assert.deepInclude(typeof price === "object" ? price.usdPerMillionTokens : {}, expected as object)
        assert.deepStrictEqual(yield* priceOf(layer({ model, price: own })), own)
        const elsewhere = yield* priceOf(layer({ model, baseUrl: "https://ollama.com.proxy.example/v1" }))
        if (name !== "ollama") assert.isUndefined(elsewhere)
        assert.deepStrictEqual(yield* priceOf(layer({ model, baseUrl: "https://proxy.example", price: own })), own)
        const wrong = { input: 1, output: 2 } as unknown as Budget.Price
        assert.throws(() => layer({ model, price: wrong }), `${model.replace("models/", "")}' must be a price`)
      })
    )
  }

  it.effect("of Ollama has no price where the server is the provider's [P1382]", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* priceOf(Ollama.layer({ model: "qwen3", baseUrl: "https://ollama.com" })))
      assert.isDefined(yield* priceOf(Ollama.layer({ model: "qwen3", baseUrl: "http://gpu.local:11434" })))
    })
  )

  it("finds a model by a name with its day, and no other model by it [P1382]", () => {
    const expected = Prices.find(Prices.anthropic, "claude-haiku-4-5")
    assert.isDefined(expected)
    for (const name of ["claude-haiku-4-5-20251001", "claude-haiku-4-5-2025-10-01", "claude-haiku-4-5-latest"])
      assert.deepStrictEqual(Prices.find(Prices.anthropic, name), expected)
    for (const name of ["claude-haiku-4-5-fast", "claude-haiku", "claude-haiku-latest-4-5", "toString"])
      assert.isUndefined(Prices.find(Prices.anthropic, name))
    assert.deepInclude(Prices.find(Prices.anthropic, "claude-haiku-5-5"), {
      longContext: {
        overInputTokens: 100_000,
        usdPerMillionTokens: { input: 0.5, output: 2.5, cachedInput: 0.05, cacheWrite: 0.625 }
      }
    })
  })

  it("has what its page says, and nothing that the page does not say [P1382]", () => {
    const from = { source: "https://a.test", asOf: "2026-11-26" }
    const plain: Prices.Page = { ...from, models: { m: [1, 2] } }
    const tiers = (model: string) => ({ fast: model.length })
    const models: Prices.Page["models"] = { m: [9, 9], long: { usual: [1, 2, 3, 4], over: 5, long: [6, 7] } }
    const full = { ...from, usdPerItem: { search: 0.1 }, tiers, models }
    assert.deepStrictEqual(Prices.find([plain, full], "m"), { usdPerMillionTokens: { input: 1, output: 2 }, ...from })
    assert.deepStrictEqual(Prices.find([plain, full], "long-latest"), {
      usdPerMillionTokens: { input: 1, output: 2, cachedInput: 3, cacheWrite: 4 },
      longContext: { overInputTokens: 5, usdPerMillionTokens: { input: 6, output: 7 } },
      usdPerItem: { search: 0.1 },
      tiers: { fast: 4 },
      ...from
    })
  })

  it.effect("is the same where a tier has no price of its own, and where it is the user's [P1382]", () =>
    Effect.gen(function* () {
      const of = (more: object) => priceOf(OpenAi.layer({ model: "gpt-5.6-terra", apiKey, ...more }))
      const usual = yield* of({})
      assert.isDefined(usual)
      for (const serviceTier of ["flex", "toString"]) assert.deepStrictEqual(yield* of({ serviceTier }), usual)
      assert.isUndefined(yield* of({ model: "gpt-99", serviceTier: "priority" }))
      const promptCache = { ttl: "1h" } as const
      assert.deepStrictEqual(
        yield* priceOf(Anthropic.layer({ model: "claude-opus-5", apiKey, promptCache, price: own })),
        own
      )
    })
  )

  it("has a page, a day, numbers, and what a search costs for each price [P1382]", () => {
    const pages = [Prices.openAi, Prices.anthropic, Prices.gemini, Prices.deepSeek, Prices.kimi].flat()
    for (const { usdPerItem } of Prices.openAi) assert.deepStrictEqual(usdPerItem, { web_search_call: 0.01 })
    for (const { usdPerItem } of Prices.anthropic) assert.deepStrictEqual(usdPerItem, { web_search_tool_result: 0.01 })
    for (const page of pages) {
      for (const model of Object.keys(page.models)) {
        const price = Prices.find([page], model)
        for (const tokens of [price?.usdPerMillionTokens, price?.longContext?.usdPerMillionTokens]) {
          if (tokens === undefined) continue
          assert.isAbove(tokens.input, 0, model)
          assert.isAbove(tokens.output, tokens.input, model)
        }
        assert.isDefined(price?.usdPerMillionTokens)
        assert.match(price?.source ?? "", /^https:\/\//)
        assert.match(price?.asOf ?? "", /^\d{4}-\d\d-\d\d$/)
        assert.isFalse(Number.isNaN(Date.parse(price?.asOf ?? "")))
      }
    }
  })
})

const usage = {
  prompt_tokens: 1_000_000,
  completion_tokens: 100_000,
  prompt_tokens_details: { cached_tokens: 500_000 }
}
const whole = JSON.stringify({ choices: [{ message: { content: "so" }, finish_reason: "stop" }], usage })
const streamed = [
  { choices: [{ delta: { content: "so" } }] },
  { choices: [{ delta: {}, finish_reason: "stop" }], usage }
]
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("")

const answering = () => {
  const network = fakeNetwork(() =>
    Effect.suspend(() => {
      const isStreamed = network.sent.at(-1)?.body.includes('"stream":true') === true
      return isStreamed
        ? respond(200, streamed, { "content-type": "text/event-stream" })()
        : respond(200, whole, { "content-type": "application/json" })()
    })
  )
  return network
}

it.run("a run books what its model costs by the price of the layer, and stops at its limit [P1382 A904]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const agent = Agent.make("worker", { budget: { maxCost: 20 } }).pipe(log.listen)
    const model = OpenAi.layer({ model: "gpt-5.6-terra", apiKey })
    yield* run(agent, "go").pipe(Effect.provide(model), Effect.provide(answering().layer))
    // a prompt above 272,000 tokens: half of it from the cache
    const cost = 0.5 * 4 + 0.5 * 0.4 + 0.1 * 18
    assert.closeTo(log.of("model-end")[0]?.entry.cost ?? 0, cost, 1e-9)
    const network = answering()
    const unknown = OpenAi.layer({ model: "gpt-99", apiKey })
    const failed = run(Agent.make("worker", { budget: { maxCost: 20 } }), "go")
    const error = yield* Effect.flip(failed.pipe(Effect.provide(unknown), Effect.provide(network.layer)))
    assert.include(error, { _tag: "UnknownPriceError", model: "gpt-99", option: "maxCost" })
    assert.lengthOf(network.sent, 0)
  })
)

const sse = (events: ReadonlyArray<{ readonly type?: string }>) =>
  events
    .map((event) => `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`)
    .join("")

/** A server that gives the same reply whole and streamed. */
const saying = (whole: object, events: ReadonlyArray<{ readonly type?: string }>) => {
  const network = fakeNetwork(() =>
    Effect.suspend(() =>
      network.sent.at(-1)?.body.includes('"stream":true') === true
        ? respond(200, sse(events), { "content-type": "text/event-stream" })()
        : respond(200, JSON.stringify(whole), { "content-type": "application/json" })()
    )
  )
  return network.layer
}

const tokens = { prompt_tokens: 100_000, completion_tokens: 0 }
const completed = (tier: object) =>
  saying({ ...tier, choices: [{ message: { content: "so" }, finish_reason: "stop" }], usage: tokens }, [
    { ...tier, choices: [{ delta: { content: "so" }, finish_reason: "stop" }], usage: tokens } as object
  ])

const messaged = (usage: object) => {
  const message = { id: "m", type: "message", role: "assistant", model: "claude-opus-5", content: [], usage }
  return saying({ ...message, content: [{ type: "text", text: "so" }], stop_reason: "end_turn" }, [
    { type: "message_start", message } as { type: string },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "so" } } as { type: string },
    { type: "content_block_stop", index: 0 } as { type: string },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 0 } } as { type: string },
    { type: "message_stop" }
  ])
}

const million = { input_tokens: 1_000_000, output_tokens: 0 }
const written = { input_tokens: 0, cache_creation_input_tokens: 1_000_000, output_tokens: 0 }
const openAi = (options: object) => OpenAi.layer({ model: "gpt-5.6-terra", apiKey, ...options })
const anthropic = (options: object) => Anthropic.layer({ model: "claude-opus-5", apiKey, ...options })

it.run("a dearer tier of service and a cache for an hour are booked as what they cost [P1382]", (run) =>
  Effect.gen(function* () {
    const priority = { serviceTier: "priority" }
    const hour = { promptCache: { ttl: "1h" } }
    for (const [name, layer, network, cost] of [
      ["standard", openAi({}), completed({}), 0.2],
      ["as the reply says", openAi({}), completed({ service_tier: "priority" }), 0.4],
      ["not said, asked for", openAi(priority), completed({}), 0.4],
      ["fast", openAi({ serviceTier: "fast" }), completed({ service_tier: "fast" }), 0.4],
      ["of extra", openAi({ extra: { service_tier: "priority" } }), completed({}), 0.4],
      ["not served", openAi(priority), completed({ service_tier: "default" }), 0.2],
      ["a strange tier", openAi(priority), completed({ service_tier: "constructor" }), 0.2],
      ["dearer", openAi({ ...priority, model: "gpt-5.5" }), completed(priority), 1.25],
      ["slow Claude", anthropic({}), messaged({ ...million, service_tier: "standard" }), 5],
      ["fast Claude", anthropic({}), messaged({ ...million, service_tier: "standard", speed: "fast" }), 10],
      ["fast Claude asked for", anthropic({ extra: { speed: "fast" } }), messaged(million), 10],
      ["written for minutes", anthropic({ promptCache: {} }), messaged(written), 6.25],
      ["written for an hour", anthropic(hour), messaged(written), 10],
      ["by extra", anthropic({ extra: { cache_control: { ttl: "1h" } } }), messaged(written), 10]
    ] as const) {
      const log = eventLog()
      const agent = Agent.make("worker", { budget: { maxCost: 20 } }).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(layer), Effect.provide(network))
      assert.closeTo(log.of("model-end")[0]?.entry.cost ?? 0, cost, 1e-9, name)
    }
  })
)

const reporting = (cost: object) =>
  saying({ choices: [{ message: { content: "so" }, finish_reason: "stop" }], usage: { ...tokens, ...cost } }, [
    { choices: [{ delta: { content: "so" }, finish_reason: "stop" }], usage: { ...tokens, ...cost } } as object
  ])

it.run("a host that reports its cost, by its name or by option, needs no price under a limit of cost [P1382]", (run) =>
  Effect.gen(function* () {
    const xai = OpenAiCompatible.layer("xai", { model: "grok-4.5", apiKey })
    const there = { model: "m", apiKey, baseUrl: "https://proxy.test/v1" }
    const proxied = OpenAiCompatible.layer("xai", there)
    const opted = OpenAiCompatible.layer("xai", { ...there, price: "reported" })
    const ticks = { cost_in_usd_ticks: 5_000_000_000 }
    const costs = (layer: Made, cost: object) => {
      const log = eventLog()
      const agent = Agent.make("worker", { budget: { maxCost: 20 } }).pipe(log.listen)
      return run(agent, "go").pipe(
        Effect.map(() => log.of("model-end")[0]?.entry.cost),
        Effect.catchTag("UnknownPriceError", ({ _tag }) => Effect.succeed(_tag)),
        Effect.provide(layer),
        Effect.provide(reporting(cost))
      )
    }
    assert.strictEqual(yield* costs(xai, ticks), 0.5)
    assert.strictEqual(yield* costs(opted, ticks), 0.5)
    assert.strictEqual(yield* costs(proxied, ticks), "UnknownPriceError")
    assert.strictEqual(yield* costs(xai, {}), "UnknownPriceError")
    const router = OpenRouter.layer({ model: "vendor/model", apiKey })
    for (const cost of [{}, { cost: -1 }, { cost: "0.5" }]) {
      assert.strictEqual(yield* costs(router, cost), "UnknownPriceError")
    }
    assert.strictEqual(
      yield* priceOf(OpenAiCompatible.layerResponses("xai", { model: "grok-4.5", apiKey })),
      "reported"
    )
    assert.isUndefined(yield* priceOf(OpenAiCompatible.layerResponses("xai", there)))
    assert.isUndefined(yield* priceOf(OpenAiCompatible.layerResponses("groq", { model: "m", apiKey })))
  })
)
