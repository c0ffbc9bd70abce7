import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"

it.effect("the models of a fallback are told apart by their names, in events and in the ledger", () =>
  Effect.gen(function* () {
    const { fails, make, makeNamed, text } = ScriptedModel
    const overloaded = fails(LlmError.ModelOverloadedError.make({ model: "any" }))
    const models = [
      yield* makeNamed("large", overloaded),
      yield* makeNamed("small", overloaded),
      yield* make(text("Hi."))
    ]
    const [large, small, last] = models.map(({ layer }) => layer)
    assert.isDefined(large)
    assert.isDefined(small)
    assert.isDefined(last)
    const seen: Array<string> = []
    const clerk = Agent.make("clerk", {}).pipe(
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if (event.type === "model-failed" || event.type === "model-end") seen.push(event.model)
          if (event.type === "run-completed") seen.push(...event.ledger.map(({ model }) => model))
        })
      )
    )
    assert.strictEqual(yield* Effect.provide(clerk("Hi"), Model.fallback(large, small, last)), "Hi.")
    assert.deepStrictEqual(seen, ["large", "small", "scripted", "large", "small", "scripted"])
  })
)

it("a stream sends each text in two pieces, an empty one in none, and other parts whole", () => {
  const call = ScriptedModel.call("look", {})
  const item: Message.ProviderItem = { type: "provider-item", kind: "search", opaque: { provider: "p", data: 1 } }
  const opaque = { provider: "p", data: "s" }
  const reply = ScriptedModel.reply({
    content: [
      Message.text(""),
      Message.text("a"),
      Message.text("abcde"),
      { type: "reasoning", text: "hm" },
      { type: "reasoning", text: "", opaque },
      item,
      call
    ]
  })
  const { content: _, ...end } = reply
  assert.deepStrictEqual(toParts(reply), [
    { type: "text-delta", text: "a" },
    { type: "text-delta", text: "abc" },
    { type: "text-delta", text: "de" },
    { type: "reasoning-delta", text: "hm" },
    { type: "reasoning-delta", text: "", opaque },
    item,
    call,
    { type: "finish", ...end }
  ])
})

it.effect("a request beyond the script shows the last message, cut to 300 characters [P1105]", () =>
  Effect.gen(function* () {
    const said = (...messages: Message.Transcript) =>
      Effect.gen(function* () {
        const { layer } = yield* ScriptedModel.make()
        const { generate } = yield* Effect.provide(Effect.service(Model.Model), layer)
        const exit = yield* Effect.exit(generate({ messages, tools: [], toolChoice: "auto" }))
        return String(Exit.isFailure(exit) && Cause.squash(exit.cause))
      })
    const before = "request 1 is not in the script of 0 steps; its last message is "
    assert.isTrue((yield* said()).endsWith(`${before}none`))
    const last = Message.user("x".repeat(400))
    assert.isTrue(
      (yield* said(Message.user("first"), Message.user("second"), last)).endsWith(
        `${before}${JSON.stringify(last).slice(0, 300)}…`
      )
    )
    const short = Message.user("short")
    assert.isTrue((yield* said(last, short)).endsWith(before + JSON.stringify(short)))
  })
)

it.effect("a model that is cut off is for streamed runs, and each model has its name [P1105 P1106]", () =>
  Effect.gen(function* () {
    const nothing: Model.Request = { messages: [], tools: [], toolChoice: "auto" }
    const exit = yield* Effect.exit(ScriptedModel.cutOff().answer(nothing))
    assert(Exit.isFailure(exit))
    assert.strictEqual(String(Cause.squash(exit.cause)), "Error: ScriptedModel: cutOff is for streamed runs")
    const silent = { calls: [], failures: [], partial: "", takes: 0, text: "", finish: "stop" } as const
    const playing = yield* Effect.provide(Effect.service(Model.Model), ScriptedModel.playing([silent]))
    assert.deepStrictEqual((yield* playing.generate(nothing)).content, [])
    for (const [layer, name] of [
      [ScriptedModel.noRealModels, "none"],
      [ScriptedModel.playing([]), "scripted"]
    ] as const) {
      const model = yield* Effect.provide(Effect.service(Model.Model), layer)
      assert.deepStrictEqual([model.name, model.provider], [name, name])
    }
  })
)
