/** What Bedrock is asked with: an API key in the place of a signature, tools of the provider. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError, Message, Model } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, ConfigProvider, Effect, Exit, Layer, Redacted } from "effect"
import * as Aws from "../../../packages/providers/src/service/aws.ts"
import { failsWith, fakeNetwork, finished, generate, respond, streamParts } from "../../_support/network.ts"
import { eventStream, frames, layer, recorded } from "../_support/bedrock.ts"
import { collect, generate as ask } from "../_support/replay.ts"

const common = { model: "us.amazon.nova-2-lite-v1:0", region: "eu-west-1", transport: { retry: false } } as const

const ways = [
  ["whole", Effect.asVoid(generate)],
  ["streamed", Effect.asVoid(streamParts)]
] as const

describe("an API key of Bedrock", () => {
  for (const [way, call] of ways) {
    it.effect(`goes as a bearer token, asked for at each send, and nothing is signed (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        let asked = 0
        const apiKey = Effect.sync(() => Redacted.make(`bedrock-api-key-${++asked}`))
        const network = fakeNetwork(respond(503, { message: "busy" }))
        const transport = { retry: { retries: 1 } }
        // a program without types may give both
        const both = { apiKey, credentials: Effect.die("not asked") } as { readonly apiKey: typeof apiKey }
        const made = Bedrock.layer({ ...common, ...both, transport })
        failsWith(
          yield* finished(call.pipe(Effect.provide(made), Effect.provide(network.layer))),
          LlmError.ModelOverloadedError
        )
        assert.deepStrictEqual(
          network.sent.map(({ headers }) => headers["authorization"]),
          ["Bearer bedrock-api-key-1", "Bearer bedrock-api-key-2"]
        )
        for (const { headers, url } of network.sent) {
          assert.notProperty(headers, "x-amz-date")
          assert.include(
            url,
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.amazon.nova-2-lite-v1%3A0/converse"
          )
        }
      })
    )

    it.effect(`that an effect does not give is an AuthenticationError, and nothing is sent (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        const made = Bedrock.layer({ ...common, apiKey: Effect.fail(new Error("the vault is closed")) })
        const exit = yield* finished(call.pipe(Effect.provide(made), Effect.provide(network.layer)))
        failsWith(exit, LlmError.AuthenticationError)
        assert.strictEqual(network.sent.length, 0)
      })
    )

    it.effect(
      `is that of the environment before the keys that sign; given credentials come first (${way}) [P1414]`,
      () =>
        Effect.gen(function* () {
          const environment = {
            AWS_REGION: "eu-west-1",
            AWS_BEARER_TOKEN_BEDROCK: "bedrock-api-key-9",
            AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
            AWS_SECRET_ACCESS_KEY: "secret-0123456789"
          }
          const secretAccessKey = Redacted.make("given-0123456789")
          for (const [options, expected] of [
            [{}, /^Bearer bedrock-api-key-9$/],
            [{ credentials: { accessKeyId: "GIVEN", secretAccessKey } }, /^AWS4-HMAC-SHA256 Credential=GIVEN\//],
            [{ apiKey: Redacted.make("given-key") }, /^Bearer given-key$/]
          ] as const) {
            const network = fakeNetwork(respond(500))
            const made = Bedrock.model("m", { transport: common.transport, ...options })
            yield* Effect.exit(
              call.pipe(
                Effect.provide(made),
                Effect.provide(network.layer),
                Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
              )
            )
            assert.match(network.sent[0]?.headers["authorization"] ?? "", expected)
          }
        })
    )
  }

  it.live("reads the frames of a stream [P1414]", () =>
    Effect.gen(function* () {
      const body = frames(recorded.events("tool.jsonl"))
      const server = yield* LoopbackServer.make(() => Effect.succeed({ headers: eventStream, body }))
      const made = Bedrock.layer({ ...common, baseUrl: server.url, apiKey: Redacted.make("k") })
      const reply = yield* Effect.provide(collect, Layer.provide(made, Transport.layerFetch))
      assert.strictEqual(Message.callsOf(reply)[0]?.name, "test-tool")
    })
  )

  it.effect("needs one package alone [P1414]", () =>
    Effect.gen(function* () {
      const needed: Array<ReadonlyArray<string>> = []
      const exit = yield* Effect.exit(
        Aws.loadReading((names) => {
          needed.push(names)
          return Promise.reject(new Error("Cannot find package '@smithy/eventstream-codec' imported from /app"))
        })
      )
      assert(Exit.isFailure(exit))
      assert.match(String(Cause.squash(exit.cause)), /which is not installed: npm install @smithy\/eventstream-codec$/)
      assert.deepStrictEqual(needed, [["@smithy/eventstream-codec"]])
    })
  )
})

const grounding = { systemTool: { name: "nova_grounding" } }

describe("the options of Bedrock", () => {
  it.live("have tools of the provider, whose calls and results go back as they came [P1416]", () =>
    Effect.gen(function* () {
      const call = { toolUseId: "t1", name: "nova_grounding", input: { query: "rain" }, type: "server_tool_use" }
      const content = [{ toolUse: call }, { toolResult: { toolUseId: "t1", content: [] } }, { text: "It rains." }]
      const body = JSON.stringify({
        output: { message: { role: "assistant", content } },
        stopReason: "end_turn",
        usage: { inputTokens: 1, outputTokens: 1 }
      })
      const server = yield* LoopbackServer.make(() => Effect.succeed({ body }))
      const made = Layer.provide(
        Bedrock.layer({ ...common, baseUrl: server.url, apiKey: Redacted.make("k"), providerTools: [grounding] }),
        Transport.layerFetch
      )
      const reply = yield* Effect.provide(ask, made)
      assert.deepStrictEqual(
        reply.content.map((part) => (part.type === "provider-item" ? part.kind : part.type)),
        ["server_tool_use", "toolResult", "text"]
      )
      const model = yield* Effect.provide(Model.Model, made)
      assert.isTrue(model.providerTools)
      const [said] = Message.repair([{ role: "assistant", content: reply.content }])
      assert(said !== undefined)
      yield* model.generate({
        messages: [Message.user("hi"), said, Message.user("so?")],
        tools: [],
        toolChoice: "auto"
      })
      const [first, second] = (yield* server.requests).map(({ body }) => body as Record<string, never>)
      assert.deepStrictEqual(first?.["toolConfig"], { tools: [grounding] })
      assert.deepStrictEqual(second?.["messages"]?.[1], { role: "assistant", content })
    })
  )

  it.effect("have the price of Claude, with the premium of a region, and no price of other models [P1382]", () =>
    Effect.gen(function* () {
      const priceOf = (options: Parameters<typeof layer>[0]) =>
        Effect.map(
          Effect.provide(Model.Model, Layer.provide(layer(options), fakeNetwork([]).layer)),
          ({ price }) => price
        )
      for (const [model, expected] of [
        ["global.anthropic.claude-sonnet-5-5", { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 }],
        ["us.anthropic.claude-sonnet-5-5", { input: 2.2, output: 11, cachedInput: 0.11, cacheWrite: 2.75 }],
        [
          "anthropic.claude-sonnet-4-5-20250929-v1:0",
          { input: 3.3, output: 16.5, cachedInput: 0.33, cacheWrite: 4.125 }
        ],
        [
          "arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0",
          { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 }
        ]
      ] as const) {
        const price = yield* priceOf({ model })
        assert(typeof price === "object")
        assert.deepStrictEqual(price.usdPerMillionTokens, expected)
        assert.deepInclude(price, { source: "https://platform.claude.com/docs/en/about-claude/pricing" })
      }
      // a cache for an hour costs twice the input, and the premium of `priority` is not known
      const hour = yield* priceOf({ model: "us.anthropic.claude-sonnet-5-5", promptCache: { ttl: "1h" } })
      assert.deepNestedInclude(hour, { "usdPerMillionTokens.cacheWrite": 4.4 })
      assert.isUndefined(yield* priceOf({ model: "us.anthropic.claude-sonnet-5-5", serviceTier: "priority" }))
      const long = yield* priceOf({ model: "eu.anthropic.claude-haiku-5-5" })
      assert(typeof long === "object")
      assert.deepInclude(long.longContext?.usdPerMillionTokens, { input: 0.55, output: 2.75 })
      for (const model of ["us.amazon.nova-2-lite-v1:0", "anthropic.claude-unheard-of-9", "my-profile"]) {
        assert.isUndefined(yield* priceOf({ model }))
      }
      assert.isUndefined(yield* priceOf({ model: "anthropic.claude-sonnet-5-5", baseUrl: "https://proxy.test" }))
      const price = { usdPerMillionTokens: { input: 7, output: 8 } }
      assert.deepStrictEqual(yield* priceOf({ model: "m", baseUrl: "https://proxy.test", price }), price)
    })
  )
})
