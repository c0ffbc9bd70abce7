import { assert, it } from "@effect/vitest"
import { Agent, LlmError, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"

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
