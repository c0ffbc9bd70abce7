/** Fields that a request adds to its body, and no other request. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
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
import { Effect, Layer, Redacted, type Schema, Stream } from "effect"
import { fakeNetwork, respond, silence } from "../../_support/network.ts"

const options = { model: "m", apiKey: Redacted.make("k"), extra: { service_tier: "flex", user: "u" } }

const layers = {
  anthropic: Anthropic.layer(options),
  gemini: Gemini.layer(options),
  kimi: Kimi.layer(options),
  ollama: Ollama.layer(options),
  openai: OpenAi.layer(options),
  responses: OpenAi.layerResponses(options)
}

it.effect("options of a request are fields of its body alone, beside those of the model [P1550]", () =>
  Effect.gen(function* () {
    for (const [name, layer] of Object.entries(layers)) {
      const network = fakeNetwork(silence)
      const bodyOf = (options?: Model.Request["options"]) =>
        Effect.gen(function* () {
          const model = yield* Model.Model
          const request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" } as const
          const asked = model.generate(options === undefined ? request : { ...request, options })
          const fiber = yield* Effect.forkChild(asked)
          for (let i = 0; i < 60; i++) yield* Effect.yieldNow
          fiber.interruptUnsafe()
          return JSON.parse(network.sent.at(-1)?.body ?? "{}") as Record<string, unknown>
        }).pipe(Effect.provide(Layer.provide(layer, network.layer)))
      const usual = yield* bodyOf()
      const own = { user: "someone", metadata: { id: "1" } }
      // what the library writes stays
      assert.deepStrictEqual(yield* bodyOf(own), { ...usual, user: "someone", metadata: { id: "1" } }, name)
      assert.deepStrictEqual(yield* bodyOf(), usual)
    }
  })
)

type Fields = Readonly<Record<string, Schema.Json>>
type Making = Layer.Layer<Model.Model, never, Transport.HttpClient>

interface Given {
  readonly extra?: Fields
  readonly temperature?: number
}

const chosen = { model: "m", apiKey: Redacted.make("k") }
const credentials = { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret") }

const makers: Readonly<Record<string, (given: Given) => Making>> = {
  Anthropic: (given) => Anthropic.layer({ ...chosen, ...given }),
  Bedrock: (given) => Bedrock.layer({ model: "m", region: "us-east-1", credentials, ...given }),
  DeepSeek: (given) => DeepSeek.layer({ ...chosen, ...given }),
  Gemini: (given) => Gemini.layer({ ...chosen, ...given }),
  Kimi: (given) => Kimi.layer({ ...chosen, ...given }),
  Ollama: (given) => Ollama.layer({ ...chosen, ...given }),
  OpenAi: (given) => OpenAi.layer({ ...chosen, ...given }),
  "OpenAi's responses": (given) => OpenAi.layerResponses({ ...chosen, ...given }),
  OpenRouter: (given) => OpenRouter.layer({ ...chosen, ...given }),
  Perplexity: (given) => Perplexity.layer({ ...chosen, ...given })
}

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** What a layer sends for requests with these options, whole and streamed, and how they end. */
const exchange = Effect.fnUntraced(function* (layer: Making, options?: Fields) {
  const network = fakeNetwork(respond(400))
  const asked = options === undefined ? request : { ...request, options }
  const model = yield* Effect.provide(Effect.service(Model.Model), Layer.provide(layer, network.layer))
  const whole = yield* Effect.flip(model.generate(asked))
  const streamed = yield* Effect.flip(Stream.runDrain(model.stream(asked)))
  return { whole, streamed, bodies: network.sent.map(({ body }) => JSON.parse(body) as Fields) }
})

/** The field of the temperature, beside what else is in its object. */
const temperatures: Readonly<Record<string, (value: number) => Fields>> = {
  Bedrock: (temperature) => ({ inferenceConfig: { temperature } }),
  Gemini: (temperature) => ({ generationConfig: { temperature } }),
  Ollama: (temperature) => ({ options: { temperature } })
}

describe("fields of extra and of the options of a request", () => {
  for (const [name, make] of Object.entries(makers)) {
    const fieldOf = temperatures[name] ?? ((temperature: number) => ({ temperature }))
    it.effect(`win over the option that sets them, the request over the model: ${name} [P1416]`, () =>
      Effect.gen(function* () {
        const extra = { ...fieldOf(0.5), user: "u" }
        const plain = yield* exchange(make({ temperature: 0 }))
        const ofModel = yield* exchange(make({ temperature: 0, extra }))
        const ofRequest = yield* exchange(make({ temperature: 0, extra }), fieldOf(0.75))
        for (const mode of [0, 1]) {
          assert.deepInclude(plain.bodies[mode], fieldOf(0))
          assert.deepInclude(ofModel.bodies[mode], extra)
          assert.deepInclude(ofRequest.bodies[mode], { user: "u", ...fieldOf(0.75) })
        }
      })
    )

    const written = name === "Gemini" ? "contents" : /responses|Perplexity/.test(name) ? "input" : "messages"
    it.effect(`are refused by name where only the library writes them, and nothing is sent: ${name} [P1416]`, () =>
      Effect.gen(function* () {
        const words = `the library writes the field '${written}': use the messages of the request`
        assert.throws(() => make({ extra: { [written]: [] } }), RangeError, words)
        const { bodies, streamed, whole } = yield* exchange(make({}), { [written]: [] })
        assert.deepStrictEqual(bodies, [])
        for (const error of [whole, streamed]) {
          assert.strictEqual(error._tag, "InvalidRequestError")
          assert.include(error.message, `the options of the request: ${words}`)
        }
      })
    )
  }

  it.effect("win over the option that sets the same field by another of its names [P1416]", () =>
    Effect.gen(function* () {
      const options = { maxTokens: 100, seed: 1, serviceTier: "flex", ...chosen }
      const older = { max_tokens: 50, random_seed: 2 }
      const tier = { serviceTier: "priority" }
      const ofOpenAi = (given: Given) => OpenAi.layer({ ...options, ...given })
      const ofGemini = (given: Given) => Gemini.layer({ ...options, ...given })
      for (const [make, extra, without] of [
        [ofOpenAi, older, ["max_completion_tokens", "seed"]],
        [ofGemini, tier, ["service_tier"]]
      ] as const) {
        const { bodies } = yield* exchange(make({ extra }))
        const { bodies: ofRequest } = yield* exchange(make({}), extra)
        assert.lengthOf([...bodies, ...ofRequest], 4)
        for (const body of [...bodies, ...ofRequest]) {
          assert.deepInclude(body, extra)
          assert.doesNotHaveAnyKeys(body, [...without])
        }
      }
    })
  )

  it.effect("hold JSON alone: what JSON would lose is refused by the name of its field [P1416]", () =>
    Effect.gen(function* () {
      for (const lost of [NaN, Infinity, { deep: [1, -Infinity] }]) {
        for (const make of Object.values(makers)) {
          assert.throws(() => make({ extra: { odd: lost } }), RangeError, "the field 'odd' holds what is no JSON")
          const { bodies, streamed, whole } = yield* exchange(make({}), { odd: lost })
          assert.deepStrictEqual(bodies, [])
          for (const error of [whole, streamed]) assert.strictEqual(error._tag, "InvalidRequestError")
        }
      }
    })
  )

  it.effect("ask for one reply, because one is read: more are refused by the name of their field [P1416]", () =>
    Effect.gen(function* () {
      const several = { Gemini: { generationConfig: { candidateCount: 2 } }, OpenAi: { n: 2 }, OpenRouter: { n: "2" } }
      for (const [name, fields] of Object.entries(several)) {
        const make = makers[name] ?? assert.fail(name)
        const words = name === "Gemini" ? "'generationConfig.candidateCount' has to be 1" : "'n' has to be 1"
        assert.throws(() => make({ extra: fields }), RangeError, words)
        const { bodies, streamed, whole } = yield* exchange(make({}), fields)
        assert.deepStrictEqual(bodies, [])
        for (const error of [whole, streamed]) {
          assert.strictEqual(error._tag, "InvalidRequestError")
          assert.include(error.message, words)
        }
      }
      const { bodies } = yield* exchange(OpenAi.layer({ ...chosen, extra: { n: 1 } }))
      for (const body of bodies) assert.strictEqual(body["n"], 1)
    })
  )

  it.effect("are merged as objects, unless these have different types [P1416]", () =>
    Effect.gen(function* () {
      const budget = { reasoning: { maxTokens: 2048 } }
      const thinking = Effect.fnUntraced(function* (extra: Fields, options?: Fields) {
        const { bodies } = yield* exchange(Anthropic.layer({ ...chosen, ...budget, extra }), options)
        assert.deepStrictEqual(bodies[0]?.["thinking"], bodies[1]?.["thinking"])
        return bodies[0]?.["thinking"]
      })
      const shown = { thinking: { display: "summarized" } }
      const enabled = { type: "enabled", budget_tokens: 2048 }
      assert.deepStrictEqual(yield* thinking(shown), { ...enabled, display: "summarized" })
      assert.deepStrictEqual(yield* thinking({}, shown), { ...enabled, display: "summarized" })
      assert.deepStrictEqual(yield* thinking({ thinking: { type: "adaptive" } }), { type: "adaptive" })
      assert.deepStrictEqual(yield* thinking(shown, { thinking: { type: "adaptive" } }), {
        type: "adaptive",
        display: "summarized"
      })
      const choice = { functionCallingConfig: { streamFunctionCallArguments: true } }
      const { bodies } = yield* exchange(Gemini.layer({ ...chosen, extra: { toolConfig: choice } }))
      for (const { toolConfig } of bodies) assert.deepStrictEqual(toolConfig, choice)
    })
  )

  it.effect("of responses say whether they are stored and made in the background [P1416]", () =>
    Effect.gen(function* () {
      const layer = OpenAi.layerResponses({ ...chosen, store: false, extra: { store: true } })
      for (const body of (yield* exchange(layer)).bodies) {
        assert.strictEqual(body["store"], true)
        assert.notProperty(body, "include")
      }
      const later = OpenAi.layerResponses({ ...chosen, background: true, extra: { background: false } })
      for (const body of (yield* exchange(later)).bodies) assert.deepInclude(body, { background: false, store: false })
    })
  )

  it.effect("that only a stream has are in its body alone [P1416]", () =>
    Effect.gen(function* () {
      const extra = { stream_options: { include_obfuscation: false } }
      const [whole, streamed] = (yield* exchange(OpenAi.layer({ ...chosen, extra }))).bodies
      assert.notProperty(whole, "stream_options")
      assert.deepStrictEqual(streamed?.["stream_options"], { include_usage: true, include_obfuscation: false })
      const own = { stream_options: { include_usage: false } }
      const { bodies } = yield* exchange(OpenAi.layer({ ...chosen, extra }), own)
      assert.deepStrictEqual(bodies[1]?.["stream_options"], { include_usage: false, include_obfuscation: false })
    })
  )
})
