/** A shared budget removes periods that have ended: the calls of a layer do it, and none of them fails for it. */
import { assert, it } from "@effect/vitest"
import { Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { SharedBudget } from "@kintsugi/durable"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { storages } from "./_support/budgets.ts"

const key = "acme"
const limit = { key, tokens: 1000, reserve: 1, per: "1 second", lease: "1 minute" } as const
const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }
const scripted = ScriptedModel.answering(() =>
  ScriptedModel.replies(
    ScriptedModel.reply({ content: [{ type: "text", text: "ok" }], usage: Usage.make({ inputTokens: 1 }) })
  )
)

const on = (store: SharedBudget.BudgetStore) =>
  Layer.build(SharedBudget.layer(scripted, limit)).pipe(
    Effect.map((services) => Context.get(services, Model.Model)),
    Effect.provideService(SharedBudget.SharedBudgets, store)
  )

it.effect("periods that ended two leases ago are removed by later calls, in memory and in a table [P1720]", () =>
  Effect.gen(function* () {
    for (const stores of Object.values(storages)) {
      const [store] = yield* stores
      const model = yield* on(store)
      yield* Effect.repeat(Effect.andThen(model.generate(request), TestClock.adjust("1 second")), { times: 449 })
      // the 400th call has left the 121 periods before its own
      assert.strictEqual(yield* store.removeOlder(Number.MAX_SAFE_INTEGER), 121 + 51)
    }
  })
)

it.effect("a storage that cannot remove periods does not fail a call [P1720]", () =>
  Effect.gen(function* () {
    const memory = yield* SharedBudget.SharedBudgets
    const store = { ...memory, removeOlder: () => Effect.fail("locked") }
    const model = yield* on(store)
    yield* Effect.repeat(model.generate(request), { times: 149 })
    assert.deepStrictEqual(yield* SharedBudget.spending(limit), { spent: 150, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)
