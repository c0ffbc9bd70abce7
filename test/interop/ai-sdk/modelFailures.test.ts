/** What models of the AI SDK throw, and how their replies end, as errors of ours: one classification for all models. */
import { assert, describe } from "@effect/vitest"
import { Agent, LlmError, Message, Model } from "@kintsugi/core"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect, Redacted, Stream } from "effect"
import { finished } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import { keeps, seen, texts } from "../../providers/_support/observers.ts"
import * as Script from "./_support/languageModel.ts"

const { ApiCallError, plainRequest, failures, says, scripted, versions } = Script

const once = { transport: { retry: false } } as const

const openAi = (code: string, message = "no") => JSON.stringify({ error: { message, type: "error", code } })

/** A failure that a model throws, and the error that it is. */
const thrown: ReadonlyArray<readonly [name: string, failure: unknown, tag: LlmError.LlmError["_tag"]]> = [
  ["a status", new ApiCallError("Unauthorized", { statusCode: 401, responseBody: "" }), "AuthenticationError"],
  [
    "a code before the status",
    new ApiCallError("no", { statusCode: 429, responseBody: openAi("insufficient_quota") }),
    "QuotaExhaustedError"
  ],
  [
    "words before the status",
    new ApiCallError("no", { statusCode: 400, responseBody: openAi("", "maximum context length is 10 tokens") }),
    "ContextTooLongError"
  ],
  [
    "the SDK's own reading of a body",
    Object.assign(new ApiCallError("no", { statusCode: 400 }), { data: { error: { code: "model_not_found" } } }),
    "ModelNotFoundError"
  ],
  ["an overload", new ApiCallError("Overloaded", { statusCode: 529 }), "ModelOverloadedError"],
  [
    "a gateway of the SDK",
    Object.assign(new Error("slow down"), {
      name: "GatewayRateLimitError",
      statusCode: 429,
      type: "rate_limit_exceeded"
    }),
    "RateLimitError"
  ],
  [
    "a connection that fails",
    new ApiCallError("Cannot connect to API", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
    "NetworkError"
  ],
  [
    "a failure of fetch",
    new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) }),
    "NetworkError"
  ],
  ["a missing key", Object.assign(new Error("no key"), { name: "AI_LoadAPIKeyError" }), "AuthenticationError"],
  ["an unknown model", Object.assign(new Error("no"), { name: "AI_NoSuchModelError" }), "ModelNotFoundError"],
  [
    "what the model cannot do",
    Object.assign(new Error("audio"), { name: "AI_UnsupportedFunctionalityError" }),
    "CapabilityMismatchError"
  ],
  ["a wrong prompt", Object.assign(new Error("no"), { name: "AI_InvalidPromptError" }), "InvalidRequestError"],
  ["an unreadable reply", Object.assign(new Error("no"), { name: "AI_JSONParseError" }), "UnknownLlmError"],
  ["a mistake of a program", new RangeError("oh"), "UnknownLlmError"],
  ["a text", "oh", "UnknownLlmError"]
]

describe.each(versions)("a model of version %s", (version) => {
  it.effect.each(thrown)("fails as %s says [P1381]", ([, failure, tag]) =>
    Effect.gen(function* () {
      const { model } = scripted(version, [{ throws: failure }, { throws: failure }])
      const error = yield* failures(AiSdkModel.layer(model, once))
      assert.strictEqual(error._tag, tag)
      assert.deepInclude(error, { model: "script-1", provider: "script.chat" })
    })
  )

  it.run("a stream that breaks off keeps what was shown; before that it is sent again [P1381]", (run) =>
    Effect.gen(function* () {
      if (!run.isStreamed) return
      const reset = Object.assign(new Error("x"), { code: "ECONNRESET" })
      const nothing: Script.Reply = { content: [], breaks: reset }
      const { called, model } = scripted(version, [nothing, { ...says("half a text"), breaks: reset }])
      const agent = Agent.make("clerk", { model: AiSdkModel.layer(model) })
      const exit = yield* finished(Effect.flip(run(agent, "hi")))
      assert(exit._tag === "Success" && exit.value instanceof LlmError.NetworkError)
      assert.strictEqual(exit.value.partial, "half a text")
      assert.strictEqual(called.length, 2)
    })
  )

  it.run("an error part of a stream is read as the provider's error [P1381]", (run) =>
    Effect.gen(function* () {
      if (!run.isStreamed) return
      const errors: ReadonlyArray<readonly [error: unknown, tag: string]> = [
        [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "ModelOverloadedError"],
        [new ApiCallError("no", { statusCode: 401 }), "AuthenticationError"],
        ["oh", "UnknownLlmError"]
      ]
      for (const [error, tag] of errors) {
        const { model } = scripted(version, [{ content: [{ type: "error", error }], breaks: "silence" }])
        const agent = Agent.make("clerk", { model: AiSdkModel.layer(model, once) })
        const failure = yield* Effect.flip(run(agent, "hi"))
        assert.strictEqual(failure._tag, tag)
      }
    })
  )
})

describe("a reply of version 4", () => {
  it.effect("that was interrupted is a broken connection, and is sent again [P1381]", () =>
    Effect.gen(function* () {
      for (const way of ["generate", "stream"] as const) {
        const cut = { content: [], finish: "interrupted" }
        const { called, model } = scripted("v4", [cut, cut, cut])
        const failing = Effect.flip(way === "generate" ? generating(model, {}) : streaming(model))
        const exit = yield* finished(failing)
        assert(exit._tag === "Success" && exit.value instanceof LlmError.NetworkError)
        assert.strictEqual(called.length, 3)
      }
    })
  )
})

describe("a key of the model", () => {
  // Finds out nothing of its own: no mutant leaves the secrets out of what is passed on
  it.effect("that was given as a secret is shown by no failure, event, span and log [P1381]", () =>
    Effect.gen(function* () {
      const secret = "c0rrect-H0rse-b4ttery-5taple"
      const throws = new ApiCallError(`no key ${secret}`, {
        statusCode: 401,
        responseBody: `{"error":"bad ${secret}"}`
      })
      for (const call of [generating, streaming]) {
        const { model } = scripted("v4", [{ throws }])
        const secrets = [Redacted.make(secret)]
        const observed = yield* seen(call(model, { ...once, secrets }))
        assert(observed.exit._tag === "Failure")
        keeps(texts(observed), secret)
      }
    })
  )
})

describe("what is refused before it is sent", () => {
  it.effect("is an option of a request without the name of a provider, and going on from an own message [P1381]", () =>
    Effect.gen(function* () {
      const { called, model } = scripted("v3", [])
      const layer = AiSdkModel.layer(model)
      const unnamed = yield* failures(layer, { ...plainRequest, options: { temperature: 1 } })
      assert(unnamed instanceof LlmError.InvalidRequestError)
      assert.include(unnamed.message, "the option 'temperature' is no object")
      const begun: Message.Assistant = { ...Message.assistant("be"), incomplete: true }
      const going = yield* failures(layer, { ...plainRequest, messages: [...plainRequest.messages, begun] })
      assert(going instanceof LlmError.CapabilityMismatchError)
      assert.strictEqual(called.length, 0)
    })
  )
})

const generating = (model: AiSdkModel.LanguageModel, options: object = once) =>
  Effect.flatMap(Model.Model, ({ generate }) => generate(plainRequest)).pipe(
    Effect.provide(AiSdkModel.layer(model, options))
  )

const streaming = (model: AiSdkModel.LanguageModel, options: object = {}) =>
  Effect.flatMap(Model.Model, ({ stream }) => Stream.runDrain(stream(plainRequest))).pipe(
    Effect.provide(AiSdkModel.layer(model, options))
  )
