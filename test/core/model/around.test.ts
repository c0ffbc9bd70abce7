import { assert } from "@effect/vitest"
import { Agent, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { eventLog } from "../../_support/dialogue.ts"
import { asked, namedModel, overloaded } from "../../_support/namedModels.ts"

const { fails, text } = ScriptedModel

/** Notes what it surrounds, by the request's first message. */
const noting = () => {
  const notes: Array<string> = []
  const around = Model.around({
    generate: (reply, { messages }) =>
      Effect.tap(reply, ({ model }) => Effect.sync(() => notes.push(`${messages.length}: ${model ?? "whole"}`))),
    stream: (parts, { messages }) =>
      Stream.tap(parts, ({ type }) => Effect.sync(() => notes.push(`${messages.length}: ${type}`)))
  })
  return { notes, around }
}

asked("Model.around stands around each call of a model, whole or in parts", (ask) =>
  Effect.gen(function* () {
    const { around, notes } = noting()
    const { service } = yield* namedModel("a", text("hi"))
    const surrounded = around(service)
    assert.deepInclude(surrounded, { name: "a", provider: "of a" })
    yield* ask(surrounded)
    assert.deepStrictEqual(notes, ask.isStreamed ? ["1: text-delta", "1: text-delta", "1: finish"] : ["1: whole"])
  })
)

asked("Model.around stands around an order as a whole, also within another order", (ask) =>
  Effect.gen(function* () {
    const { around, notes } = noting()
    const a = yield* namedModel("a", fails(overloaded()), fails(overloaded()))
    const b = yield* namedModel("b", fails(overloaded()), text("hi"))
    const c = yield* namedModel("c", text("hi"))
    const order = Model.fallback(around(Model.fallback(a.service, b.service)), c.service)
    assert.strictEqual((yield* ask(order)).model, "c")
    assert.deepStrictEqual(notes, [])
    assert.strictEqual((yield* ask(order)).model, "b")
    assert.deepStrictEqual(notes, ask.isStreamed ? ["1: text-delta", "1: text-delta", "1: finish"] : ["1: b"])
  })
)

it.run("Model.around leaves a run every attempt of an order, where a copy of the service does not", (run) =>
  Effect.gen(function* () {
    const { around, notes } = noting()
    for (const isCopy of [false, true]) {
      const a = yield* namedModel("a", fails(overloaded()))
      const b = yield* namedModel("b", text("hi"))
      const order = Model.fallback(a.service, b.service)
      const model = Layer.succeed(Model.Model, isCopy ? { ...order } : around(order))
      const log = eventLog()
      assert.strictEqual(yield* run(Agent.make("w", { model }).pipe(log.listen), "go"), "hi")
      const starts = log.all.flatMap((event) => (event.type === "model-start" ? [event.model] : []))
      assert.deepStrictEqual(starts, isCopy ? ["a or b"] : ["a", "b"])
    }
    // a run asks an order for one reply, streamed or not
    assert.deepStrictEqual(notes, ["1: b"])
  })
)
