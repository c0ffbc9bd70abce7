/** Requests for an object, from a model of `effect/ai`. */
import { assert } from "@effect/vitest"
import { Message, type Model } from "@kintsugi/core"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect } from "effect"
import { AiError, Telemetry } from "effect/ai"
import { asked } from "../../_support/namedModels.ts"
import * as Script from "./_support/scriptedLanguageModel.ts"

const info = { name: "script-1", provider: "scripts", isScripted: true }

const counted = {
  name: "counted",
  schema: { type: "object", properties: { count: { type: "number" } }, required: ["count"] }
} as const

const look: Message.ToolSpec = { name: "look", description: "Looks.", parameters: { type: "object" } }

const request = (tools: Model.Request["tools"]): Model.Request => ({
  messages: [Message.user("Count")],
  tools,
  toolChoice: "auto",
  output: counted
})

asked("a request with an output asks for an object, and one that has tools as well for a text [P1107]", (ask) =>
  Effect.gen(function* () {
    const script = yield* Script.make(Script.says('{"count":3}'), Script.says("3 of them"))
    const model = EffectAi.fromLanguageModel(script.service, info)
    assert.strictEqual(Message.textOf(yield* ask(model, request([]))), '{"count":3}')
    assert.strictEqual(Message.textOf(yield* ask(model, request([look]))), "3 of them")
    assert.deepStrictEqual(
      script.requests.map(({ responseFormat: { type }, tools }) => [type, tools.length]),
      [
        ["json", 0],
        ["text", 1]
      ]
    )
  })
)

asked("a model that does not support the schema is asked for a text, and any other failure stays [P1107]", (ask) =>
  Effect.gen(function* () {
    const failing = (reason: AiError.AiErrorReason) =>
      Script.fails(AiError.make({ module: "OpenAi", method: "create", reason }))
    const script = yield* Script.make(
      failing(new AiError.UnsupportedSchemaError({ description: "no numbers" })),
      Script.says("3 of them"),
      failing(new AiError.ContentPolicyError({ description: "No." }))
    )
    const model = EffectAi.fromLanguageModel(script.service, info)
    assert.strictEqual(Message.textOf(yield* ask(model, request([]))), "3 of them")
    yield* Effect.flip(ask(model, request([])))
    assert.deepStrictEqual(
      script.requests.map(({ responseFormat: { type } }) => type),
      ["json", "text", "json"]
    )
  })
)

asked("the span transformer of the caller hears a response that does not fit [P1107]", (ask) =>
  Effect.gen(function* () {
    const heard: Array<ReadonlyArray<string>> = []
    const script = yield* Script.make(Script.says("3 of them"))
    const reply = yield* Effect.provideService(
      ask(EffectAi.fromLanguageModel(script.service, info), request([])),
      Telemetry.CurrentSpanTransformer,
      ({ response }) => void heard.push(response.map(({ type }) => type))
    )
    assert.strictEqual(Message.textOf(reply), "3 of them")
    assert.deepStrictEqual(heard, [["text", "finish"]])
  })
)
