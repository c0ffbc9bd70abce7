/** Images and files in the late results of deferred calls whose run goes on. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, LlmError, Message, Model, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Schema } from "effect"
import { batch, done, eventLog } from "../../_support/dialogue.ts"
import { namedModel } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { recorder, textOf } from "../telemetry/_support/spans.ts"

const { make, text } = ScriptedModel

const png = "MARKERmarkerMARKERmarker"
const image = Message.image("image/png", { data: png })
const link = Message.file("application/pdf", { url: "https://a.test/b.pdf" }, "b.pdf")
const linked = "[file 'b.pdf', application/pdf, at https://a.test/b.pdf]"
const notShown = "[image, image/png, 18 bytes, not shown]"

/** It settles its call before it has begun, so the next safe point reads the result; or the test settles it. */
const ordering = (
  options: Parameters<typeof Tool.parts>[2] = {},
  of: (png: string) => Message.UserContent = () => [Message.text("The shop"), image, link],
  isEarly = true
) => {
  const tokens: Array<string> = []
  const tool = Tool.deferred("order", {
    description: "Orders a picture.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ png: Schema.String }),
    start: (_, { token }) => {
      tokens.push(token)
      return Effect.as(isEarly ? Tool.settle(token, Exit.succeed({ png })) : Effect.void, { job: 1 })
    },
    wait: "continue",
    deadline: "1 hour",
    cancel: () => Effect.void
  }).pipe(Tool.parts(({ png }) => of(png), options))
  return { tool, tokens }
}

const wire = Effect.fnUntraced(function* (shows: boolean, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) {
  const { requests, service } = yield* namedModel("m", ...steps)
  const shown: Model.Service = shows ? { ...service, showsInResults: ({ type }) => type === "image" } : service
  return { layer: Layer.succeed(Model.Model, shown), requests }
})

const lateIn = (messages: Message.Transcript = []) =>
  messages.flatMap((message) => (message.role === "user" && message.lateResult !== undefined ? message : []))

const head = `The call 'c1' of tool 'order', with the handle <data>{"job":1}</data>, is over. Its result: `
const framed = (where: string) =>
  Message.text(`${head}<data>The shop\n[image, image/png, 18 bytes, ${where}]\n${linked}</data>`)

it.run(
  "a message with a late result has its images and files beside its text, and no event has their bytes [P1376 P1538]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* wire(true, batch("order"), done)
      const spans = recorder()
      const of = () => [Message.text("The shop"), image, image]
      const agent = Agent.make("clerk", { tools: [ordering({}, of).tool] }).pipe(log.listen)
      assert.strictEqual(yield* run(agent, "go").pipe(spans.provide, Effect.provide(model.layer)), "done")
      const words = "[image, image/png, 18 bytes, below]"
      assert.deepStrictEqual(lateIn(model.requests[1]?.messages), [
        {
          ...Message.user([Message.text(`${head}<data>The shop\n${words}\n${words}</data>`), image, image]),
          lateResult: { callId: "c1", tool: "order" }
        }
      ])
      assert.lengthOf(log.of("parts-described"), 0)
      assert.lengthOf(log.of("tool-result"), 1)
      assert.notInclude(JSON.stringify(log.all), png)
      for (const event of log.all) {
        assert.notInclude(JSON.stringify(Schema.encodeUnknownSync(AgentEvent.AgentEvent)(event)), png)
      }
      assert.notInclude(textOf(spans.spans), png)
    })
)

it.run("a model that reads no such parts in results reads of a late result what `unsupported` says [P1538]", (run) =>
  Effect.gen(function* () {
    for (const unsupported of ["describe", "follow"] as const) {
      const log = eventLog()
      const model = yield* wire(false, batch("order"), batch("look"), done)
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.succeed("seen")
      })
      const agent = Agent.make("clerk", { tools: [ordering({ unsupported }).tool, look] }).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      const isFollowed = unsupported === "follow"
      const attached = isFollowed ? [image, link] : [Message.text(notShown), Message.text(linked)]
      for (const { messages } of model.requests.slice(1))
        assert.deepStrictEqual(
          lateIn(messages).map(({ content }) => content),
          [[framed("below"), ...attached]]
        )
      const parts = [
        { type: "image", mediaType: "image/png" },
        { type: "file", mediaType: "application/pdf" }
      ] as const
      assert.deepStrictEqual(
        log.of("parts-described").map(({ callId, model, parts, tool }) => ({ callId, model, parts, tool })),
        isFollowed ? [] : [{ callId: "c1", model: "m", parts, tool: "order" }]
      )
      assert.notInclude(JSON.stringify(log.all), png)
    }
    const refused = yield* wire(false, batch("order"))
    const agent = Agent.make("clerk", { tools: [ordering({ unsupported: "refuse" }).tool] })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(refused.layer)))
    assert(error instanceof LlmError.CapabilityMismatchError)
    assert.deepInclude(error, { capability: "vision", model: "m" })
  })
)

it.run("a late result without images, or with too large ones alone, is a text [P1538]", (run) =>
  Effect.gen(function* () {
    const large = ordering({ maxBytes: 17 }, () => [image])
    const words = ordering({}, () => [Message.text("no picture")])
    for (const [{ tool }, read] of [
      [large, "[image, image/png, 18 bytes, too large]"],
      [words, "no picture"]
    ] as const) {
      const model = yield* wire(true, batch("order"), done)
      yield* run(Agent.make("clerk", { tools: [tool] }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(model.requests[1]?.messages.at(-1), Message.user(`${head}<data>${read}</data>`))
    }
  })
)

it.effect(
  "a suspended run reads the picture of a late result when it goes on, and a later conversation does [P1538]",
  () =>
    Effect.gen(function* () {
      const { tokens, tool } = ordering({}, undefined, false)
      const log = eventLog()
      const agent = Agent.make("clerk", { tools: [tool] }).pipe(log.listen)
      const model = yield* wire(true, batch("order"), text("so far"), done)
      const scripted = model as never as ScriptedModel.ScriptedModel
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", scripted))
      const settlements = [{ token: tokens[0] ?? "", exit: Exit.succeed({ png }) }]
      const resumed = yield* Effect.provide(Agent.resume(agent).start({ from, settlements }), model.layer)
      assert.strictEqual((yield* resumed.outcome)._tag, "Completed")
      const [late] = lateIn(model.requests[2]?.messages)
      assert.deepStrictEqual(late?.content, [framed("below"), image, Message.text(linked)])
      const events = log.all.map((event) => (event.type === "run-suspended" ? { ...event, snapshot: {} } : event))
      assert.notInclude(JSON.stringify(events), png)

      const codec = Schema.toCodecJson(Message.Transcript)
      const stored = JSON.parse(JSON.stringify(yield* Schema.encodeEffect(codec)(yield* resumed.transcript)))
      const blind = yield* make(text("seen"))
      yield* outcomeOf(
        Agent.resume(agent),
        { from: yield* Schema.decodeUnknownEffect(codec)(stored), input: "more" },
        blind
      )
      assert.deepStrictEqual(lateIn(blind.requests[0]?.messages)[0]?.content[1], Message.text(notShown))
    })
)
