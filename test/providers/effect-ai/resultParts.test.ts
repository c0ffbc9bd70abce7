/** Images and files in results, to and from models and tools of `effect/ai`. */
import { assert, describe } from "@effect/vitest"
import { Message, Model, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Anthropic } from "@kintsugi/providers"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { LanguageModel, Prompt, Tool as AiTool, Toolkit } from "effect/ai"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { fakeNetwork, respond } from "../../_support/network.ts"
import { it } from "../../_support/run.ts"
import * as Script from "./_support/scriptedLanguageModel.ts"

const data = Buffer.from("MARKER").toString("base64")

const shot = Tool.make("shot", {
  description: "Takes a picture.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed(data)
}).pipe(Tool.parts((png) => [Message.text("Here"), Message.image("image/png", { data: png })]))

describe("images and files in results", () => {
  it.run("go to a model of effect/ai that takes them as what it reads, and else as their description [P1538]", (run) =>
    Effect.gen(function* () {
      for (const showsInResults of [undefined, () => true]) {
        const script = yield* Script.make(Script.calls(Script.call("shot", {}, "c1")), Script.says("done"))
        const log = eventLog()
        const model = EffectAi.model({ isScripted: true, ...(showsInResults && { showsInResults }) })
        yield* run(agentWith(shot).pipe(log.listen), "go").pipe(Effect.provide(model), Effect.provide(script.layer))
        const last = script.requests[1]?.prompt.content.at(-1)
        const [result] = last?.role === "tool" ? last.content : []
        assert(result?.type === "tool-result")
        assert.strictEqual(result.result, "Here\n[image, image/png, 6 bytes, not shown]")
        assert.deepStrictEqual(
          result.modelOutput?.map((part) =>
            part.type === "text" ? part.text : [part.mediaType, Buffer.from(part.data as Uint8Array).toString()]
          ),
          showsInResults && ["Here", ["image/png", "MARKER"]]
        )
        assert.strictEqual(log.of("parts-described").length, showsInResults ? 0 : 1)
        assert.notInclude(JSON.stringify(log.all), data)
      }
    })
  )

  it.effect("are not sent to a model that does not say that it takes them [P1538]", () =>
    Effect.gen(function* () {
      const call = { type: "tool-call", id: "c1", name: "shot", arguments: {} } as const
      const parts = [Message.text("Here"), Message.image("image/png", { data })]
      const settlement = { kind: "result", text: "described", parts } as const
      const request: Model.Request = {
        messages: [Message.user("look"), { role: "assistant", content: [{ type: "settled-call", call, settlement }] }],
        tools: [],
        toolChoice: "auto"
      }
      const script = yield* Script.make(Script.says("done"), Script.says("done"))
      const model = EffectAi.fromLanguageModel(script.service, { name: "m", provider: "p", isScripted: true })
      yield* model.generate(request)
      yield* Stream.runDrain(model.stream(request))
      for (const { prompt } of script.requests) {
        const last = prompt.content.at(-1)
        const [result] = last?.role === "tool" ? last.content : []
        assert(result?.type === "tool-result")
        assert.deepStrictEqual([result.result, result.modelOutput], ["described", undefined])
      }
    })
  )

  it.run("of a toolkit are parts of the result, and no base64 of them is in a text [P1538]", (run) =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(
        AiTool.make("shot", {
          success: Schema.Struct({ png: Schema.String }),
          toModelOutput: ({ png }) => [
            Prompt.textPart({ text: "Here" }),
            Prompt.filePart({ mediaType: "image/png", data: png }),
            Prompt.filePart({ mediaType: "application/pdf", data: new TextEncoder().encode("%PDF"), fileName: "a.pdf" })
          ]
        })
      )
      const handlers = toolkit.toLayer({ shot: () => Effect.succeed({ png: data }) })
      const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("shot", {}, "c1")), done)
      const log = eventLog()
      const agent = agentWith(EffectAi.fromToolkit(toolkit).shot).pipe(log.listen)
      const eyes = { ...(yield* Effect.provide(Model.Model, model.layer)), showsInResults: () => true }
      yield* run(agent, "go").pipe(Effect.provideService(Model.Model, eyes), Effect.provide(handlers))
      assert.deepStrictEqual(read(model), [
        "result: Here\n[image, image/png, 6 bytes, not shown]\n[file 'a.pdf', application/pdf, 4 bytes, not shown]"
      ])
      const [part] = (model.requests[1]?.messages ?? []).flatMap((message) =>
        message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
      )
      assert.deepStrictEqual(part?.settlement.parts, [
        Message.text("Here"),
        Message.image("image/png", { data }),
        Message.file("application/pdf", { data: Buffer.from("%PDF").toString("base64") }, "a.pdf")
      ])
      assert.notInclude(JSON.stringify(log.all), data)
    })
  )

  it.effect("in a prompt of effect/ai go to a model of ours whose wire carries them [P1538]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(500))
      const layer = Anthropic.layer({ model: "m", apiKey: Redacted.make("k"), transport: { retry: false } })
      const part = { id: "c1", name: "shot", providerExecuted: false, options: {} }
      const prompt = Prompt.fromMessages([
        Prompt.userMessage({ content: [Prompt.textPart({ text: "look" })] }),
        Prompt.assistantMessage({ content: [Prompt.toolCallPart({ ...part, params: {} })] }),
        Prompt.toolMessage({
          content: [
            Prompt.toolResultPart({
              ...part,
              isFailure: false,
              result: "raw",
              modelOutput: [Prompt.textPart({ text: "Here" }), Prompt.filePart({ mediaType: "image/png", data })]
            })
          ]
        })
      ])
      yield* Effect.exit(
        LanguageModel.generateText({ prompt }).pipe(
          Effect.provide(EffectAi.languageModel),
          Effect.provide(Layer.provide(layer, network.layer))
        )
      )
      assert.deepStrictEqual(JSON.parse(network.sent[0]?.body ?? "{}").messages[2].content[0].content, [
        { type: "text", text: "Here" },
        { type: "image", source: { type: "base64", media_type: "image/png", data } }
      ])
    })
  )
})
