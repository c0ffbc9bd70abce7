/** Models that ask their provider how many tokens a request has. */
import { assert, describe, it } from "@effect/vitest"
import { Message, Model } from "@kintsugi/core"
import { Anthropic, Gemini, OpenAi, Transport } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted } from "effect"
import { failureOf, fakeNetwork, key, type Reaction, respond } from "../../_support/network.ts"

const common = { apiKey: Redacted.make(key), transport: { retry: false } } as const

const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } } as const

const asked: Model.Request = {
  messages: [Message.system("Be kind."), Message.user("go")],
  tools: [look],
  toolChoice: "required"
}

/** What a model says, and what it sends. */
const counting = (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>, ...script: ReadonlyArray<Reaction>) =>
  countingOf(asked, layer, ...script)

const countingOf = (
  request: Model.Request,
  layer: Layer.Layer<Model.Model, never, Transport.HttpClient>,
  ...script: ReadonlyArray<Reaction>
) =>
  Effect.gen(function* () {
    const network = fakeNetwork(script)
    const model = yield* Effect.scoped(Effect.provide(Model.Model, Layer.provide(layer, network.layer)))
    assert.isDefined(model.countTokens)
    const exit = yield* Effect.exit(model.countTokens?.(request) ?? Effect.die("it does not count"))
    return { exit, sent: network.sent, body: () => JSON.parse(network.sent[0]?.body ?? "{}") }
  })

const claude = (more: object = {}) =>
  Anthropic.layer({ ...common, model: "claude-opus-5-5", temperature: 1, stop: ["."], reasoning: "high", ...more })

const gemini = (more: object = {}) => Gemini.layer({ ...common, model: "gemini-3.8-flash", temperature: 1, ...more })

const responses = (more: object = {}) =>
  OpenAi.layerResponses({
    ...common,
    model: "gpt-x",
    maxTokens: 9,
    promptCache: { key: "k" },
    reasoning: "low",
    ...more
  })

describe("the tokens of a request", () => {
  it.effect("are counted by Anthropic, without the fields that this does not take [P1416]", () =>
    Effect.gen(function* () {
      const { body, exit, sent } = yield* counting(claude(), respond(200, { input_tokens: 2095 }))
      assert(exit._tag === "Success")
      assert.strictEqual(exit.value, 2095)
      assert.strictEqual(sent[0]?.url, "https://api.anthropic.com/v1/messages/count_tokens")
      assert.strictEqual(sent[0]?.headers["x-api-key"], key)
      assert.deepStrictEqual(Object.keys(body()).toSorted(), [
        "messages",
        "model",
        "output_config",
        "system",
        "thinking",
        "tools"
      ])
    })
  )

  it.effect("are counted by Gemini, of the whole request [P1416]", () =>
    Effect.gen(function* () {
      const { body, exit, sent } = yield* counting(gemini(), respond(200, { totalTokens: 31 }))
      assert(exit._tag === "Success")
      assert.strictEqual(exit.value, 31)
      assert.match(sent[0]?.url ?? "", /\/v1beta\/models\/gemini-3\.8-flash:countTokens$/)
      assert.deepStrictEqual(Object.keys(body()), ["generateContentRequest"])
      assert.include(body().generateContentRequest, { model: "models/gemini-3.8-flash" })
      assert.deepStrictEqual(body().generateContentRequest.contents, [{ role: "user", parts: [{ text: "go" }] }])
    })
  )

  it.effect("are counted by Vertex, in its own form [P1416]", () =>
    Effect.gen(function* () {
      const baseUrl = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google"
      const { body } = yield* counting(
        gemini({ baseUrl, bearer: true, maxTokens: 9 }),
        respond(200, { totalTokens: 31 })
      )
      assert.deepStrictEqual(Object.keys(body()).toSorted(), [
        "contents",
        "generationConfig",
        "systemInstruction",
        "tools"
      ])
    })
  )

  it.effect("are counted by OpenAI's Responses [P1416]", () =>
    Effect.gen(function* () {
      const { body, exit, sent } = yield* counting(
        responses(),
        respond(200, { object: "response.input_tokens", input_tokens: 11 })
      )
      assert(exit._tag === "Success")
      assert.strictEqual(exit.value, 11)
      assert.strictEqual(sent[0]?.url, "https://api.openai.com/v1/responses/input_tokens")
      assert.deepStrictEqual(Object.keys(body()).toSorted(), ["input", "model", "reasoning", "tool_choice", "tools"])
    })
  )

  it.effect("are counted of a request that waits for a reply in the background [P1416]", () =>
    Effect.gen(function* () {
      const opaque = { provider: "openai", data: { id: "resp_1" } }
      const waiting: Message.Assistant = {
        role: "assistant",
        content: [{ type: "provider-item", kind: "background_job", opaque }],
        paused: true
      }
      const request = { ...asked, messages: [...asked.messages, waiting] }
      const { exit } = yield* countingOf(
        request,
        responses(),
        respond(200, { object: "response.input_tokens", input_tokens: 11 })
      )
      assert(exit._tag === "Success")
      assert.strictEqual(exit.value, 11)
    })
  )

  it.effect("are counted of every field that a provider counts [P1416]", () =>
    Effect.gen(function* () {
      const keysOf = (layer: ReturnType<typeof claude>) =>
        Effect.map(counting(layer, respond(200, { input_tokens: 1 })), ({ body }) => Object.keys(body()).toSorted())
      const ofClaude = ["cache_control", "context_management", "mcp_servers", "output_config", "speed", "thinking"]
      const filled = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, { a: 1 }]))
      assert.deepStrictEqual(
        yield* keysOf(claude({ model: "claude-x", extra: filled([...ofClaude, "metadata", "top_k"]) })),
        [...ofClaude, "messages", "model", "system", "tool_choice", "tools"].toSorted()
      )
      const ofResponses = [
        "conversation",
        "instructions",
        "parallel_tool_calls",
        "previous_response_id",
        "text",
        "truncation"
      ]
      assert.deepStrictEqual(
        yield* keysOf(responses({ extra: filled([...ofResponses, "metadata", "user"]) })),
        [...ofResponses, "input", "model", "reasoning", "tool_choice", "tools"].toSorted()
      )
    })
  )

  it.effect("fail as a request does, with the name of the host [P1416 P1414]", () =>
    Effect.gen(function* () {
      const azure = OpenAiCompatible.layerResponses("azure", { ...common, baseUrl: "https://a.test/v1", model: "m" })
      const limited = yield* counting(azure, respond(429, { error: { message: "slow down" } }, { "retry-after": "3" }))
      const error = failureOf(limited.exit)
      assert.deepInclude(error, { _tag: "RateLimitError", provider: "azure" })
      for (const [wrong, why] of [
        ["{}", "the body holds no input_tokens"],
        ['{"input_tokens":"many"}', "the body holds no input_tokens"],
        ["no JSON", "it is not JSON"]
      ] as const) {
        const { exit } = yield* counting(claude(), respond(200, wrong))
        const error = failureOf(exit)
        assert.strictEqual(error._tag, "UnknownLlmError")
        assert.include(String(error.cause), why)
      }
    })
  )

  it.effect("are sent again as requests are [P1416]", () =>
    Effect.gen(function* () {
      const transport = { retry: { retries: 1, initialBackoff: 0 } }
      const { exit, sent } = yield* counting(
        claude({ transport }),
        respond(500, { error: { message: "oh" } }),
        respond(200, { input_tokens: 1 })
      )
      assert.strictEqual(exit._tag, "Success")
      assert.strictEqual(sent.length, 2)
    })
  )

  it.effect("are not counted in chat completions, on Claude of Vertex, and of a request that is refused [P1416]", () =>
    Effect.gen(function* () {
      for (const layer of [
        OpenAi.layer({ ...common, model: "gpt-x" }),
        claude({ vertex: true, baseUrl: "https://v.test" })
      ]) {
        const model = yield* Effect.provide(Model.Model, Layer.provide(layer, fakeNetwork([]).layer))
        assert.isUndefined(model.countTokens)
      }
      const { exit, sent } = yield* counting(
        responses({ reasoning: "odd", capabilities: { efforts: ["low"], unsupported: "refuse" } })
      )
      const error = failureOf(exit)
      assert(error._tag === "CapabilityMismatchError")
      assert.strictEqual(error.capability, "thinking")
      assert.strictEqual(sent.length, 0)
    })
  )
})

describe("the server of tests", () => {
  it.live("counts tokens in the formats that do, and refuses what is not counted [P1416]", () =>
    Effect.gen(function* () {
      const tokens = ({ messages }: { readonly messages: ReadonlyArray<unknown> }) => 100 * messages.length
      const handler = AnyWire.handler(() => Effect.die(new Error("nothing is asked")), { tokens })
      const { requests, url } = yield* LoopbackServer.make(handler)
      const layers = [
        claude({ baseUrl: url }),
        gemini({ baseUrl: `${url}/v1beta` }),
        responses({ baseUrl: `${url}/v1` })
      ]
      for (const layer of layers) {
        const model = yield* Effect.provide(Model.Model, Layer.provide(layer, Transport.layerFetch))
        assert.strictEqual(yield* model.countTokens?.(asked) ?? Effect.die("it does not count"), 200)
      }
      assert.deepStrictEqual(
        (yield* requests).map(({ path }) => path),
        ["/v1/messages/count_tokens", "/v1beta/models/gemini-3.8-flash:countTokens", "/v1/responses/input_tokens"]
      )
      const body = { model: "gpt-x", input: "go", store: false }
      const headers = { authorization: "Bearer any" }
      const refused = yield* Effect.promise(() =>
        fetch(`${url}/v1/responses/input_tokens`, { method: "POST", headers, body: JSON.stringify(body) })
      )
      assert.strictEqual(refused.status, 400)
    }).pipe(Effect.scoped)
  )

  it.live("counts the whole conversation of a chained request [P1416]", () =>
    Effect.gen(function* () {
      const tokens = ({ messages }: { readonly messages: ReadonlyArray<unknown> }) => messages.length
      const handler = AnyWire.handler(() => Effect.succeed({ content: [Message.text("fine")] }), { tokens })
      const { url } = yield* LoopbackServer.make(handler)
      const layer = responses({ baseUrl: `${url}/v1`, store: true, chained: true })
      const model = yield* Effect.provide(Model.Model, Layer.provide(layer, Transport.layerFetch))
      const reply = yield* model.generate(asked)
      const messages = [...asked.messages, Message.settle(reply, []), Message.user("more")]
      assert.strictEqual(yield* model.countTokens?.({ ...asked, messages }) ?? Effect.die("it does not count"), 4)
    }).pipe(Effect.scoped)
  )
})
