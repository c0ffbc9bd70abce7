/** What Bedrock answers: frames, recorded answers and failures, over real connections and over a fake network. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Redaction from "@kintsugi/core/Redaction"
import { Transport } from "@kintsugi/providers"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { failsWith, failureOf, fakeNetwork, finished, respond, streamParts } from "../../_support/network.ts"
import { eventStream, frame, frames, layer, message, recorded } from "../_support/bedrock.ts"
import { collect, generate as ask } from "../_support/replay.ts"

const retry = false

const serving = LoopbackServer.make

const at = (baseUrl: string, options: Parameters<typeof layer>[0] = {}) =>
  Layer.provide(layer({ baseUrl, transport: { retry }, ...options }), Transport.layerFetch)

const streamOf = (body: Uint8Array, more: object = {}) =>
  serving(() => Effect.succeed({ headers: eventStream, body, ...more }))

describe("answers of Bedrock", () => {
  for (const split of ["whole", "byte", { every: 7 }, { every: 200 }] as const) {
    it.live(`reads a recorded stream in any pieces: ${JSON.stringify(split)} [P1414]`, () =>
      Effect.gen(function* () {
        const server = yield* streamOf(recorded.bytes("ok.base64"), {
          split,
          headers: { ...eventStream, "x-amzn-requestid": "r-1" }
        })
        const reply = yield* Effect.provide(collect, at(server.url))
        assert.deepStrictEqual(reply.content, [Message.text("OK.")])
        assert.deepInclude(reply, { finish: "stop", rawFinish: "end_turn", requestId: "r-1" })
        assert.deepInclude(reply.usage, { inputTokens: 12, outputTokens: 5 })
      })
    )
  }

  it.effect("show neither the secret key nor the session token, from when the layer is built [P1414]", () =>
    Effect.gen(function* () {
      const [secret, token] = ["words-of-a-secret-that-is-long", "words-of-a-token-that-is-long"]
      const network = fakeNetwork(respond(400, { message: `${secret} and ${token} do not fit` }))
      const credentials = {
        accessKeyId: "AKIDEXAMPLE",
        secretAccessKey: Redacted.make(secret),
        sessionToken: Redacted.make(token)
      }
      const own = Layer.provide(layer({ credentials, transport: { retry } }), network.layer)
      yield* Effect.scoped(Layer.build(own))
      assert.notMatch(Redaction.own(`${secret}, ${token}`), /words-of/)
      const error = failureOf(yield* Effect.exit(Effect.provide(ask, own)))
      assert.include(String(error), "do not fit")
      assert.notMatch(JSON.stringify(error) + String(error), /words-of/)
    })
  )

  it.live("reads recorded thoughts with their signature, whole and streamed [P1414]", () =>
    Effect.gen(function* () {
      const whole = yield* serving(() => Effect.succeed({ body: recorded.text("reasoning.json") }))
      const streamed = yield* streamOf(frames(recorded.events("reasoning.jsonl")), { split: { every: 100 } })
      for (const [reply, output] of [
        [yield* Effect.provide(ask, at(whole.url)), 78],
        [yield* Effect.provide(collect, at(streamed.url)), 94]
      ] as const) {
        const [thought, text] = reply.content
        assert(thought?.type === "reasoning")
        assert.match(thought.text, /^Let me count the r's in "strawberry":\n\ns-t-r-a-w-b-e-r-r-y/)
        assert.match(String(thought.opaque?.data), /^E[vp].{200,}GAE=$/)
        assert.strictEqual(thought.opaque?.provider, "bedrock")
        assert(text?.type === "text" && text.text.startsWith("There are **3** r's"))
        assert.deepInclude(reply.usage, { inputTokens: 51, outputTokens: output })
      }
    })
  )

  it.live("reads recorded calls, whole and streamed, with the usage before the end [P1414]", () =>
    Effect.gen(function* () {
      const whole = yield* serving(() => Effect.succeed({ body: recorded.text("tool.json") }))
      const streamed = yield* streamOf(frames(recorded.events("tool.jsonl")))
      const one = yield* Effect.provide(ask, at(whole.url))
      assert.deepStrictEqual(one.content, [
        { type: "tool-call", id: "tooluse_rTk04lpyTTTvtXcoOyVT6p", name: "weather", arguments: { location: "Seattle" } }
      ])
      const other = yield* Effect.provide(collect, at(streamed.url))
      assert.deepStrictEqual(other.content, [
        { type: "tool-call", id: "tool-use-id", name: "test-tool", arguments: { value: "Sparkle Day" } }
      ])
      assert.deepStrictEqual([one.finish, other.finish], ["tool-calls", "tool-calls"])
      assert.deepInclude(other.usage, { inputTokens: 125, outputTokens: 45 })
    })
  )

  it.effect("resends a stream whose first message is an exception, as a failure of the server [P1414]", () =>
    Effect.gen(function* () {
      const bytes = (body: Uint8Array) => () =>
        Effect.sync(() => new Response(new Uint8Array(body), { headers: eventStream }))
      const network = fakeNetwork([bytes(recorded.bytes("exception.base64")), bytes(recorded.bytes("ok.base64"))])
      const exit = yield* finished(streamParts.pipe(Effect.provide(layer()), Effect.provide(network.layer)))
      assert(Exit.isSuccess(exit))
      assert.strictEqual(network.sent.length, 2)
      const alone = fakeNetwork([bytes(recorded.bytes("exception.base64"))])
      const once = layer({ transport: { retry } })
      const failed = yield* finished(streamParts.pipe(Effect.provide(once), Effect.provide(alone.layer)))
      const error = failsWith(failed, LlmError.ServerError)
      assert.deepInclude(error, { status: 424, detail: "Model Stream Error" })
    })
  )

  it.live("fails with what a stream says behind its first words, and keeps these [P1414]", () =>
    Effect.gen(function* () {
      const begun = [
        { messageStart: { role: "assistant" } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } }
      ]
      const cases = [
        [
          frame({ throttlingException: { message: "Too many tokens, please wait before trying again." } }),
          "RateLimitError"
        ],
        [frame({ serviceUnavailableException: { message: "busy" } }), "ModelOverloadedError"],
        [frame({ validationException: { message: "Input is too long for requested model." } }), "ContextTooLongError"],
        [
          message({ ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "no" }, ""),
          "ServerError"
        ],
        [frame({ messageStop: { stopReason: "content_filtered" } }), "ContentFilteredError"],
        [frame({ messageStop: { stopReason: "malformed_tool_use" } }), "MalformedToolCallError"]
      ] as const
      for (const [end, tag] of cases) {
        const server = yield* streamOf(Buffer.concat([frames(begun), end]))
        const texts: Array<string> = []
        const read = Effect.flatMap(Model.Model, (model) =>
          Stream.runForEach(model.stream({ messages: [Message.user("hi")], tools: [], toolChoice: "auto" }), (part) =>
            Effect.sync(() => part.type === "text-delta" && texts.push(part.text))
          )
        )
        const error = failureOf(yield* Effect.exit(Effect.provide(read, at(server.url))))
        assert(LlmError.isLlmError(error), String(error))
        assert.strictEqual(error._tag, tag)
        assert.deepStrictEqual(texts, ["Hi"])
      }
    })
  )

  it.live("takes a broken message, a cut stream and a stream of another length for a lost connection [P1414]", () =>
    Effect.gen(function* () {
      const whole = recorded.bytes("ok.base64")
      const flipped = Uint8Array.from(whole, (byte, index) => (index === 120 ? byte ^ 1 : byte))
      for (const body of [flipped, whole.subarray(0, 300), Uint8Array.of(0, 0, 0, 3, 1, 2, 3, 4), new Uint8Array()]) {
        const server = yield* streamOf(body)
        const error = failureOf(yield* Effect.exit(Effect.provide(collect, at(server.url))))
        assert.strictEqual(error._tag, "NetworkError")
      }
      const server = yield* streamOf(whole)
      const small = at(server.url, { transport: { retry, maxEventBytes: 100 } })
      const error = failsWith(yield* Effect.exit(Effect.provide(collect, small)), LlmError.ReplyTooLargeError)
      assert.strictEqual(error.option, "maxEventBytes")
    })
  )

  it.live("reads a whole answer in the place of a stream [P1414]", () =>
    Effect.gen(function* () {
      const server = yield* serving(() => Effect.succeed({ body: recorded.text("tool.json") }))
      const reply = yield* Effect.provide(collect, at(server.url))
      assert.strictEqual(Message.callsOf(reply)[0]?.name, "weather")
    })
  )

  it.live("has the price and the host of its layer [P1414 P1382]", () =>
    Effect.gen(function* () {
      const price = { usdPerMillionTokens: { input: 1, output: 2 } }
      const model = yield* Effect.provide(Model.Model, at("http://127.0.0.1:9", { price, host: "aws" }))
      assert.deepInclude(model, { price, provider: "aws", name: "anthropic.claude-sonnet-4-6-v1:0" })
    })
  )

  it.live("ends the request when a reader of the stream is interrupted [P1414]", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const server = yield* streamOf(recorded.bytes("ok.base64"), { cut: { after: 400, how: "silence" } })
      const model = yield* Effect.provide(Model.Model, at(server.url))
      const parts = model.stream({ messages: [Message.user("hi")], tools: [], toolChoice: "auto" })
      const fiber = yield* Effect.forkChild(Stream.runForEach(parts, () => Deferred.succeed(begun, undefined)))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* server.nextAbort
      assert(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    })
  )

  const failures = [
    ["recorded: a sampling option", 400, recorded.text("sampling.json"), "InvalidRequestError", {}],
    ["recorded: another operation", 404, recorded.text("operation.json"), "InvalidRequestError", {}],
    ["recorded: a guardrail", 200, recorded.text("guardrail.json"), "ContentFilteredError", {}],
    [
      "a name in the head",
      429,
      '{"message":"wait"}',
      "ModelOverloadedError",
      { "x-amzn-errortype": "ModelNotReadyException:http://x/" }
    ],
    [
      "an expired token",
      403,
      '{"message":"The security token is expired"}',
      "AuthenticationError",
      { "x-amzn-errortype": "ExpiredTokenException" }
    ],
    [
      "a model that is not there",
      404,
      '{"message":"no"}',
      "ModelNotFoundError",
      { "x-amzn-errortype": "ResourceNotFoundException" }
    ],
    ["no access", 403, '{"Message":"User is not authorized"}', "AuthenticationError", {}],
    [
      "a timeout of the model",
      408,
      '{"message":"slow"}',
      "RequestTimeoutError",
      { "x-amzn-errortype": "ModelTimeoutException" }
    ],
    [
      "a spent quota",
      400,
      '{"message":"no"}',
      "QuotaExhaustedError",
      { "x-amzn-errortype": "ServiceQuotaExceededException" }
    ],
    [
      "a prompt that is too long",
      400,
      '{"message":"Input is too long for requested model."}',
      "ContextTooLongError",
      { "x-amzn-errortype": "ValidationException" }
    ],
    ["a failure of the server", 500, "{}", "ServerError", { "x-amzn-errortype": "InternalServerException" }]
  ] as const
  for (const [what, status, body, tag, headers] of failures) {
    it.live(`classifies ${what}, whole and streamed [P1414]`, () =>
      Effect.gen(function* () {
        const server = yield* serving(() => Effect.succeed({ status, body, headers }))
        for (const call of [Effect.asVoid(ask), Effect.asVoid(collect)]) {
          const error = failureOf(yield* Effect.exit(Effect.provide(call, at(server.url))))
          assert.strictEqual(error._tag, tag, error.message)
          if (tag === "ContentFilteredError") {
            assert.deepInclude(error.usage, { inputTokens: 18, outputTokens: 12 })
            assert.include(error.detail, "Sorry, the model cannot answer")
          }
        }
      })
    )
  }
})
