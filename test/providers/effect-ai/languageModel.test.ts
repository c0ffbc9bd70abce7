/** `effect/ai`'s own `LanguageModel` on models of ours: scripted ones. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Layer, Schema, Stream } from "effect"
import { Chat, LanguageModel, Model as AiModel, type Prompt, Tool, Toolkit } from "effect/ai"
import { handlers, toolkit, ways } from "./_support/weatherChat.ts"

/** The names of the layer, and a scripted model behind it. */
const scripted = Effect.fnUntraced(function* (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) {
  const script = yield* ScriptedModel.make(...steps)
  return { requests: script.requests, layer: Layer.provideMerge(EffectAi.languageModel, script.layer) }
})

describe("LanguageModel of effect/ai on a model of ours", () => {
  it.effect("has the names of the model [P1107]", () =>
    Effect.gen(function* () {
      const { layer } = yield* scripted()
      const names = Effect.all([AiModel.ModelName, AiModel.ProviderName])
      assert.deepStrictEqual(yield* Effect.provide(names, layer), ["scripted", "scripted"])
    })
  )

  it.effect("shows a tool whose parameters are recursive, with the definitions of its schema [P1107]", () =>
    Effect.gen(function* () {
      interface Tree {
        readonly leaves: ReadonlyArray<Tree>
      }
      const Tree: Schema.Codec<Tree> = Schema.Struct({
        leaves: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
      }).annotate({ identifier: "Tree" })
      const plant = Tool.make("plant", { parameters: Schema.Struct({ tree: Tree }) })
      const { layer, requests } = yield* scripted(ScriptedModel.text("done"))
      const handlers = Toolkit.make(plant)
      yield* LanguageModel.generateText({ prompt: "hi", toolkit: handlers, disableToolCallResolution: true }).pipe(
        Effect.provide([layer, handlers.toLayer({ plant: () => Effect.void })])
      )
      const { $defs, ...root } = requests[0]?.tools[0]?.parameters ?? {}
      assert.deepInclude(root, { type: "object", required: ["tree"] })
      assert.deepNestedInclude($defs, { "Tree.type": "object", "Tree.required": ["leaves"] })
    })
  )

  for (const [way, ask] of ways) {
    it.effect(
      `arguments that do not fit are mended first, and refused as effect/ai refuses them otherwise (${way}) [P1107]`,
      () =>
        Effect.gen(function* () {
          const { layer } = yield* scripted(
            ScriptedModel.calls(ScriptedModel.call("weather", '```json\n{"city": "Nara", "days": "2"}\n```')),
            ScriptedModel.calls(ScriptedModel.call("weather", "where?"))
          )
          yield* Effect.gen(function* () {
            const chat = yield* Chat.empty
            assert.deepStrictEqual((yield* ask(chat, "hi")).results, [{ sky: "rain in Nara for 2" }])
            const error = yield* Effect.flip(ask(chat, "hi"))
            assert.strictEqual(error.reason._tag, "ToolParameterValidationError")
          }).pipe(Effect.provide([layer, handlers]))
        })
    )

    it.effect(`a call of no tool is named as that (${way}) [P1107]`, () =>
      Effect.gen(function* () {
        const { layer } = yield* scripted(ScriptedModel.calls(ScriptedModel.call("wether", {})))
        const modelCall = Effect.flatMap(Chat.empty, (chat) => ask(chat, "hi"))
        const error = yield* Effect.flip(Effect.provide(modelCall, [layer, handlers]))
        assert.strictEqual(error.reason._tag, "ToolNotFoundError")
        assert.deepInclude(error.reason, { toolName: "wether", availableTools: ["weather"] })
        const method = way === "whole" ? "generateText" : "streamText"
        assert.deepInclude(error, { module: "LanguageModel", method })
      })
    )

    it.effect(
      `thoughts, signatures and items come back to the model through the history of a Chat (${way}) [P1002 P1107]`,
      () =>
        Effect.gen(function* () {
          const opaque = { provider: "scripted", data: { signature: "s1" } }
          const item: Message.ProviderItem = { type: "provider-item", kind: "web_search", opaque }
          const call = { ...ScriptedModel.call("weather", { city: "Nara" }, "c1"), opaque }
          const before = [{ type: "reasoning" as const, text: "hmm", opaque }, item, Message.text("I see")]
          const content = [...before, call]
          const { layer, requests } = yield* scripted(
            ScriptedModel.replies(ScriptedModel.reply({ content })),
            ScriptedModel.text("done")
          )
          yield* Effect.gen(function* () {
            const chat = yield* Chat.empty
            yield* ask(chat, "hi")
            // what is kept of it survives JSON
            const restored = yield* Effect.flatMap(chat.exportJson, Chat.fromJson)
            assert.strictEqual((yield* ask(restored, [])).text, "done")
          }).pipe(Effect.provide([layer, handlers]))
          const settlement: Message.Settlement = { kind: "result", text: '{"sky":"rain in Nara for 1"}' }
          assert.deepStrictEqual(requests[1]?.messages, [
            Message.user("hi"),
            { role: "assistant", content: [...before, { type: "settled-call", call, settlement }] }
          ])
        })
    )
  }

  it.effect(
    "a prompt keeps its texts, images, files and results, and leaves what only others can read [P1107 P1408]",
    () =>
      Effect.gen(function* () {
        const { layer, requests } = yield* scripted(ScriptedModel.text("done"))
        const prompt: Prompt.RawInput = [
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "see" },
              { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
              { type: "file", mediaType: "application/pdf", data: new URL("https://a.test/x.pdf"), fileName: "x.pdf" },
              { type: "file", mediaType: "audio/wav", data: "AQID" },
              { type: "file", mediaType: "application/pdf", data: "file-abc123" }
            ]
          },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hmm", options: { other: { signature: "x" } } },
              { type: "tool-call", id: "p1", name: "search", params: {}, providerExecuted: true },
              { type: "tool-call", id: "c1", name: "weather", params: { city: "Nara" } },
              { type: "tool-call", id: "c2", name: "weather", params: { city: "Uji" } }
            ]
          },
          {
            role: "tool",
            content: [
              { type: "tool-result", id: "c1", name: "weather", isFailure: true, result: { error: "no" } },
              {
                type: "tool-result",
                id: "c2",
                name: "weather",
                isFailure: false,
                result: { sky: "clear" },
                modelOutput: [{ type: "text", text: "clear sky" }]
              }
            ]
          }
        ]
        yield* Effect.provide(LanguageModel.generateText({ prompt }), layer)
        const weather = (id: string, city: string) => ({ type: "tool-call", id, name: "weather", arguments: { city } })
        assert.deepStrictEqual(requests[0]?.messages as unknown, [
          Message.system("Be brief."),
          Message.user([
            Message.text("see"),
            Message.image("image/png", { data: "AQID" }),
            Message.file("application/pdf", { url: "https://a.test/x.pdf" }, "x.pdf"),
            Message.file("audio/wav", { data: "AQID" }),
            Message.file("application/pdf", { url: "file-abc123" })
          ]),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hmm" },
              {
                type: "settled-call",
                call: weather("c1", "Nara"),
                settlement: { kind: "told", text: '{"error":"no"}' }
              },
              { type: "settled-call", call: weather("c2", "Uji"), settlement: { kind: "result", text: "clear sky" } }
            ]
          }
        ])
      })
  )

  it.effect("a stream without its end is an error, after any part [P504 P1107]", () =>
    Effect.gen(function* () {
      const { layer } = yield* scripted(ScriptedModel.cutOff({ type: "text-delta", text: "he" }))
      const seen: Array<string> = []
      const error = yield* LanguageModel.streamText({ prompt: "hi" }).pipe(
        Stream.runForEach((part) => Effect.sync(() => void seen.push(part.type))),
        Effect.flip,
        Effect.provide(layer)
      )
      assert.deepInclude(error, { isRetryable: true, retryAfter: undefined })
      assert.strictEqual(error.reason._tag, "NetworkError")
      assert.include(error.message, "The stream of model 'scripted' ended before its end")
      assert.deepStrictEqual(seen, ["text-start", "text-delta"])
    })
  )

  it.effect(
    "an object is asked for by its name and its closed schema, and mended beside the thoughts before it [P1107]",
    () =>
      Effect.gen(function* () {
        const content = [{ type: "reasoning" as const, text: "hm" }, Message.text('{"count": "3",}')]
        const { layer, requests } = yield* scripted(
          ScriptedModel.replies(ScriptedModel.reply({ content })),
          ScriptedModel.text("hi")
        )
        const schema = Schema.Struct({ count: Schema.Finite })
        const asked = LanguageModel.generateObject({ prompt: "Count", schema, objectName: "counted" })
        const response = yield* Effect.provide(asked, layer)
        assert.deepStrictEqual(
          [response.value, response.reasoningText, response.text],
          [{ count: 3 }, "hm", '{"count":3}']
        )
        yield* Effect.provide(LanguageModel.generateText({ prompt: "Count" }), layer)
        const closed = {
          type: "object",
          properties: { count: { type: "number" } },
          required: ["count"],
          additionalProperties: false
        }
        assert.deepStrictEqual<unknown>(
          requests.map(({ output }) => output),
          [{ name: "counted", schema: closed }, undefined]
        )
      })
  )

  it.effect(
    "tools go with their schema, closed unless they are not strict, and with the choice among them [P1107]",
    () =>
      Effect.gen(function* () {
        const { layer, requests } = yield* scripted(...Array.from({ length: 4 }, () => ScriptedModel.text("hi")))
        const parameters = Schema.Struct({ a: Schema.String })
        const strict = Tool.make("strict", { parameters })
        const loose = Tool.make("loose", { parameters }).annotate(Tool.Strict, false)
        const both = Toolkit.make(strict, loose)
        const handled = both.toLayer({ strict: () => Effect.void, loose: () => Effect.void })
        for (const toolChoice of ["none", "required", { tool: "loose" }] as const) {
          const asked = LanguageModel.generateText({ prompt: "hi", toolkit: both, toolChoice })
          yield* Effect.provide(asked, [layer, handled])
        }
        yield* Effect.provide(LanguageModel.generateText({ prompt: "hi", toolChoice: "required" }), layer)
        assert.deepStrictEqual<unknown>(
          requests.map(({ toolChoice }) => toolChoice),
          ["none", "required", { tool: "loose" }, "auto"]
        )
        const loosely = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
        assert.deepStrictEqual<unknown>(
          requests[0]?.tools.map(({ name, parameters }) => [name, parameters]),
          [
            ["strict", { ...loosely, additionalProperties: false }],
            ["loose", { ...loosely, additionalProperties: true }]
          ]
        )
      })
  )

  it.effect("tools of a provider are refused before anything is sent [P1107]", () =>
    Effect.gen(function* () {
      const { layer } = yield* scripted()
      const search = Tool.providerDefined({ id: "a.search", customName: "Search", providerName: "search" })()
      const error = yield* LanguageModel.generateText({ prompt: "hi", toolkit: Toolkit.make(search) }).pipe(
        Effect.flip,
        Effect.provide(layer)
      )
      assert.strictEqual(error.reason._tag, "ToolConfigurationError")
    })
  )

  it.effect("a reply that was cut off runs no handler [P1107]", () =>
    Effect.gen(function* () {
      const { layer } = yield* scripted(
        ScriptedModel.replies(
          ScriptedModel.reply({ content: [ScriptedModel.call("weather", { city: "Nara" })], finish: "length" })
        )
      )
      const never = toolkit.toLayer({ weather: () => Effect.die(new Error("it was cut off")) })
      const response = yield* LanguageModel.generateText({ prompt: "hi", toolkit }).pipe(Effect.provide([layer, never]))
      assert.isTrue(response.toolResults[0]?.isFailure)
    })
  )
})
