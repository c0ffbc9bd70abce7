import { assert, it } from "@effect/vitest"
import { LlmError, type Model, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Desk from "@kintsugi/examples/08-routing"
import { Effect, Layer } from "effect"
import { read } from "../_support/dialogue.ts"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, fails, make, text } = ScriptedModel

type Left = LlmError.LlmError | RunError.BudgetExceededError | RunError.RoutingError

const shop = () => {
  const paid: Array<string> = []
  const layer = Layer.succeed(Desk.Shop, {
    hours: Effect.succeed("From nine to five."),
    statusOf: (id) => (id === "4711" ? Effect.succeed("lost") : Effect.fail(new Desk.NoSuchOrder({ id }))),
    payBack: (id) => Effect.sync(() => (paid.push(id), "paid back"))
  })
  return { layer, paid }
}

const overloaded = fails(LlmError.ModelOverloadedError.make({ model: "scripted" }))

it.effect("08-routing: the model chooses refunds, and only then can money be paid back", () =>
  Effect.gen(function* () {
    sameType<Effect.Effect<string, Left, Model.Model | Desk.Shop>>()(Desk.program)
    const { layer, paid } = shop()
    const model = yield* make(
      text('{"name": "refunds", "confidence": 0.95}'),
      calls(call("orderStatus", { id: "4711" }, "c1"), call("payBack", { id: "4711" }, "c2")),
      text("You have it back.")
    )
    const answer = yield* Desk.program.pipe(Effect.provide(Layer.merge(model.layer, layer)))
    assert.strictEqual(answer, "You have it back.")
    assert.deepStrictEqual(read(model), ["result: lost", "result: paid back"])
    assert.deepStrictEqual(paid, ["4711"])
  })
)

it.effect("08-routing: the rule recognises a text about hours, and no model chooses", () =>
  Effect.gen(function* () {
    const model = yield* make()
    const answer = Desk.desk("When are you open?").pipe(Effect.provide(Layer.merge(model.layer, shop().layer)))
    assert.strictEqual(yield* answer, "From nine to five.")
  })
)

it.effect("08-routing: when no model can choose, it talks about orders, and cannot pay", () =>
  Effect.gen(function* () {
    const { layer, paid } = shop()
    const model = yield* make(overloaded, overloaded, calls(call("payBack", { id: "4711" })), text("I cannot do that."))
    const answer = yield* Desk.program.pipe(Effect.provide(Layer.merge(model.layer, layer)))
    assert.strictEqual(answer, "I cannot do that.")
    assert.deepStrictEqual(read(model), ["told: unknown tool: payBack; available tools: orderStatus"])
    assert.deepStrictEqual(paid, [])
  })
)

it.effect("08-routing: a choice of which the model is not sure is an error", () =>
  Effect.gen(function* () {
    const model = yield* make(text('{"name": "refunds", "confidence": 0.4}'))
    const error = yield* Effect.flip(Desk.program.pipe(Effect.provide(Layer.merge(model.layer, shop().layer))))
    assert.instanceOf(error, RunError.RoutingError)
    assert.deepInclude(error, { candidates: ["hours", "orders", "refunds"] })
  })
)
