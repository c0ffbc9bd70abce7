/** The AI SDK reads the UI message stream of our runs. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, LlmError, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { isToolUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai"
import { Effect, Schema, Stream } from "effect"

const { call, calls, fails, make, replies, reply, text } = ScriptedModel

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })

const weather = Tool.make("weather", {
  description: "Tells the weather.",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.Struct({ sky: Schema.String }),
  run: ({ city }, { progress }) =>
    Effect.andThen(
      progress({ request: city }),
      city === "Oslo" ? Effect.fail(new Error("no station")) : Effect.succeed({ sky: "blue" })
    )
}).pipe(Tool.onError({ orElse: Recovery.tell() }))

const pay = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("paid")
}).pipe(Tool.requireApproval({ reason: "money" }))

const agent = Agent.make("a", {
  skills: [Skill.make("all", { description: "All", tools: [weather, pay] })]
}).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" }))

/** The message that a front end has in the end; every chunk on the way has to pass the SDK's own schema. */
const messageOf = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>): Effect.Effect<UIMessage> =>
  Effect.gen(function* () {
    const model = yield* make(...steps)
    const approver = Approval.layer(() => Effect.succeed(Approval.refuse("too much")))
    const chunks = yield* Stream.runCollect(
      UiMessageStream.fromStream(agent.stream("go").pipe(Stream.provide(model.layer), Stream.provide(approver)))
    )
    const { validate } = uiMessageChunkSchema()
    const sent: Array<UIMessageChunk> = []
    for (const chunk of chunks) {
      const read = yield* Effect.promise(async () => validate!(JSON.parse(JSON.stringify(chunk))))
      assert(read.success, `the SDK refuses ${JSON.stringify(chunk)}`)
      sent.push(read.value)
    }
    return yield* Effect.promise(async () => {
      let last: UIMessage | undefined
      const stream = new ReadableStream<UIMessageChunk>({
        start: (controller) => {
          for (const chunk of sent) controller.enqueue(chunk)
          controller.close()
        }
      })
      const messages = readUIMessageStream({ stream, terminateOnError: true })
      for await (const message of messages) last = message
      assert.isDefined(last)
      return last!
    })
  }).pipe(Effect.scoped)

const partsOf = (message: UIMessage) =>
  message.parts.flatMap((part) => {
    if (part.type === "text") return [`text: ${part.text}`]
    if (!isToolUIPart(part)) return []
    const end = part.state === "output-available" ? JSON.stringify(part.output) : (part.errorText ?? "").slice(0, 20)
    return [`${part.toolCallId}: ${part.state} ${end}`.trim()]
  })

describe("readUIMessageStream", () => {
  it.effect("reads text, calls, progress, results and failures; repeated ids stay distinct", () =>
    Effect.gen(function* () {
      const both = calls(call("weather", { city: "Graz" }, "c1"), call("weather", { city: "Oslo" }, "c2"))
      const message = yield* messageOf(both, calls(call("weather", { city: "Wien" }, "c1")), text("All blue."))
      const parts = partsOf(message)
      assert.deepStrictEqual(parts[0], 'c1: output-available {"sky":"blue"}')
      assert.match(parts[1] ?? "", /^c2: output-error \S/)
      assert.deepStrictEqual(parts.slice(2), ['c1#2: output-available {"sky":"blue"}', "text: All blue."])
    })
  )

  it.effect("has nothing of an attempt that was discarded [P502]", () =>
    Effect.gen(function* () {
      const message = yield* messageOf(fails(overloaded, { type: "text-delta", text: "wro" }), text("All is well."))
      assert.deepStrictEqual(partsOf(message), ["text: All is well."])
    })
  )

  it.effect("has the cited pages as sources, and what the last reply says about itself [P1407]", () =>
    Effect.gen(function* () {
      const url = "https://a.test/1"
      const data = [{ type: "url_citation", url_citation: { url, title: "A" } }]
      const cited = { type: "provider-item", kind: "annotations", opaque: { provider: "openai", data } } as const
      const content = [Message.text("So."), cited]
      const message = yield* messageOf(replies({ ...reply({ content }), responseId: "resp_1" }))
      const sources = message.parts.filter((part) => part.type === "source-url")
      assert.deepStrictEqual(
        sources.map(({ sourceId, title, url }) => [sourceId, url, title]),
        [[url, url, "A"]]
      )
      assert.deepInclude(message.metadata, { reply: { responseId: "resp_1" } })
    })
  )

  it.effect("knows requests for approval and refusals [P902]", () =>
    Effect.gen(function* () {
      const message = yield* messageOf(calls(call("pay", {}, "c1")), text("Then not."))
      assert.deepStrictEqual(partsOf(message), ["c1: output-denied", "text: Then not."])
    })
  )
})
