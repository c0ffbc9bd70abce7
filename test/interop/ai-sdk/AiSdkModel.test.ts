/** Language models of the AI SDK under agents of ours; `test/sdk/aiSdkModel.process.test.ts` tries the real types. */
import { assert, describe } from "@effect/vitest"
import { type LlmError, Model, Tool } from "@kintsugi/core"
import * as AiSdkModel from "@kintsugi/interop/AiSdkModel"
import { Effect, Fiber, Stream } from "effect"
import { agentWith, busy, eventLog, lastUsage, scripted as tooled } from "../../_support/dialogue.ts"
import { calm } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/languageModel.ts"

const { plainRequest, replies, scripted, versions } = Script

const once = { transport: { retry: false } } as const

describe.each(versions)("a model of version %s", (version) => {
  it.run("answers, after it has called tools of the agent, and knows each result [P1381]", (run) =>
    Effect.gen(function* () {
      const { called, model } = scripted(version, [
        Script.calls(["look", '{"n":1}', "c1"], ["look", '{"n":2}', "c2"]),
        Script.says("do", "ne")
      ])
      const { runs, tool } = tooled("look", Effect.succeed("seen"), Effect.fail(busy("not now")))
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: () => Effect.succeed("later") })))
      const log = eventLog()
      const text = yield* run(log.listen(agent), "go").pipe(Effect.provide(AiSdkModel.layer(model)))
      assert.strictEqual(text, "done")
      assert.deepStrictEqual(
        runs.map(({ params }) => params),
        [{ n: 1 }, { n: 2 }]
      )
      const [first, second] = called
      assert(first !== undefined)
      assert.strictEqual(first.isStreamed, run.isStreamed)
      assert.deepStrictEqual(first.toolChoice, { type: "auto" })
      assert.deepInclude((first.tools as ReadonlyArray<object>)[0], { type: "function", name: "look" })
      const output = (value: string) => ({ type: "text", value })
      assert.deepStrictEqual(second?.prompt.slice(-2), [
        {
          role: "assistant",
          content: [
            { type: "tool-call", toolCallId: "c1", toolName: "look", input: { n: 1 } },
            { type: "tool-call", toolCallId: "c2", toolName: "look", input: { n: 2 } }
          ]
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "c1", toolName: "look", output: output("seen") },
            { type: "tool-result", toolCallId: "c2", toolName: "look", output: output("later") }
          ]
        }
      ])
      assert.deepInclude(lastUsage(log.end()) ?? {}, { inputTokens: 20, outputTokens: 10 })
    })
  )

  it.effect("gives its usage, its ids and its finish reason [P1381]", () =>
    Effect.gen(function* () {
      const step: Script.Reply = {
        ...Script.says("hello"),
        finish: "length",
        raw: "max_tokens",
        usage: [100, 40, 30, 12],
        headers: { "X-Request-Id": "req-7", "content-encoding": "gzip" }
      }
      const { model } = scripted(version, [step, step])
      assert.deepStrictEqual(yield* replies(AiSdkModel.layer(model)), {
        content: [{ type: "text", text: "hello" }],
        finish: "length",
        usage: {
          inputTokens: 100,
          outputTokens: 30,
          cachedInputTokens: 40,
          cacheWriteTokens: 0,
          reasoningTokens: 12
        },
        model: "script-1-large",
        responseId: "r-1",
        requestId: "req-7",
        rawFinish: version === "v2" ? "length" : "max_tokens"
      })
    })
  )

  it.effect("an interrupted call aborts its signal [P1381]", () =>
    Effect.gen(function* () {
      for (const way of ["generate", "stream"] as const) {
        const { called, model } = scripted(version, ["silence"])
        const fiber = yield* Effect.forkChild(calling(model, way))
        yield* awaited(() => called.length === 1)
        const signal = called[0]?.abortSignal
        assert(signal !== undefined && !signal.aborted)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(signal.aborted, true)
      }
      const { called, model } = scripted(version, [{ ...Script.says("hello"), breaks: "silence" }])
      const heard: Array<Model.Part> = []
      const listening = Effect.flatMap(Model.Model, ({ stream }) =>
        Stream.runForEach(stream(plainRequest), (part) => Effect.sync(() => heard.push(part)))
      )
      const fiber = yield* Effect.forkChild(listening.pipe(Effect.provide(AiSdkModel.layer(model))))
      yield* awaited(() => heard.length === 2)
      yield* Fiber.interrupt(fiber)
      yield* awaited(() => called[0]?.abortSignal.aborted === true)
    })
  )
})

const calling = (model: AiSdkModel.LanguageModel, way: "generate" | "stream") =>
  Effect.flatMap(Model.Model, (service): Effect.Effect<void, LlmError.LlmError> =>
    way === "generate" ? Effect.asVoid(service.generate(plainRequest)) : Stream.runDrain(service.stream(plainRequest))
  ).pipe(Effect.provide(AiSdkModel.layer(model)))

/** Lets promises settle until that is so. */
const awaited = (isSo: () => boolean) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 100 && !isSo(); tries++) yield* calm
    assert.isTrue(isSo())
  })

describe("a model", () => {
  const served = (provider: string, options: Parameters<typeof AiSdkModel.layer>[1] = {}) => {
    const lost = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error(), { code: "ECONNRESET" })
    })
    const { model } = scripted("v3", [{ throws: lost }], { provider, modelId: "large" })
    return Effect.provide(Model.Model, AiSdkModel.layer(model, { ...once, ...options }))
  }

  it.effect("has the name of its provider, which is no name of ours, and shows its host [P1381]", () =>
    Effect.gen(function* () {
      for (const [provider, name, host] of [
        ["openai.responses", "openai.responses", "openai.responses"],
        ["openai", "openai.ai-sdk", "openai.ai-sdk"],
        ["My Gateway!", "My Gateway!.ai-sdk", "my-gateway-.ai-sdk"],
        ["gateway.999", "gateway.999", "ai-sdk"]
      ] as const) {
        const service = yield* served(provider)
        assert.deepInclude(service, { name: "large", provider: name })
        const error = yield* Effect.flip(service.generate(plainRequest))
        assert.deepInclude<object>(error, { _tag: "NetworkError", host })
      }
    })
  )

  it.effect("has a context window and a price if the options say them [P1381]", () =>
    Effect.gen(function* () {
      const { contextWindow, price } = yield* served("openai")
      assert.deepStrictEqual([contextWindow, price], [undefined, undefined])
      const other = yield* served("openai", { contextWindow: 1, price: "reported" })
      assert.deepStrictEqual([other.contextWindow, other.price], [1, "reported"])
      for (const contextWindow of [0, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
        assert.throws(
          () => void served("openai", { contextWindow }),
          RangeError,
          `AiSdkModel: contextWindow must be an integer of at least 1, got ${contextWindow}`
        )
    })
  )
})

describe("refused", () => {
  it("is what is no language model of a known version [P1381]", () => {
    const { model } = scripted("v3", [])
    assert.throws(
      () => AiSdkModel.layer({ ...model, specificationVersion: "v1" as "v2" }),
      "a language model of specification version 'v1' is not read; v2, v3 and v4 are"
    )
    // a program without types may pass a name, which generateText admits
    assert.throws(() => AiSdkModel.layer("openai/gpt-5" as never), "'openai/gpt-5' is the name of a model")
  })
})
