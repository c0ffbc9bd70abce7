import { assert, it } from "@effect/vitest"
import { Approval, type LlmError, type Model, type RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Clerk from "@kintsugi/examples/13-approvals"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { read } from "../_support/dialogue.ts"
import { sameType } from "../types/_support/Identity.ts"

const { call, calls, make, text } = ScriptedModel

type Own = LlmError.LlmError | RunError.BudgetExceededError

const bank = () => {
  const paid: Array<string> = []
  const layer = Layer.succeed(Clerk.Bank, {
    transfer: (to, cents) => Effect.sync(() => (paid.push(`${to} ${cents}`), "paid"))
  })
  return { layer, paid }
}

const paying = (cents: number) => calls(call("transfer", { to: "landlord", cents }))

for (const [isAllowed, reads, transfers] of [
  [true, "result: paid", ["landlord 80000"]],
  [false, "The owner says no.", []]
] as const) {
  it.effect(`13-approvals: the run waits for the clerk at the desk, who answers ${isAllowed ? "yes" : "no"}`, () =>
    Effect.gen(function* () {
      sameType<Effect.Effect<string, Own, Model.Model | Clerk.Bank | Approval.Approver>>()(Clerk.program)
      const { layer, paid } = bank()
      const prompts: Array<string> = []
      const desk = Clerk.desk((prompt) =>
        Effect.as(
          Effect.sync(() => prompts.push(prompt)),
          isAllowed
        )
      )
      const model = yield* make(paying(80_000), text("Well."))
      assert.strictEqual(yield* Effect.provide(Clerk.program, Layer.mergeAll(model.layer, layer, desk)), "Well.")
      assert.deepStrictEqual(prompts, ['transfer {"to":"landlord","cents":80000}: more than 100 euros?'])
      assert.include(read(model)[0], reads)
      assert.deepStrictEqual(paid, [...transfers])
    })
  )
}

it.effect("13-approvals: without a clerk the run is stored as JSON, and goes on with the decision", () =>
  Effect.gen(function* () {
    const { layer, paid } = bank()
    const model = yield* make(paying(80_000), text("Paid."))
    const playing = Effect.provide(Layer.merge(model.layer, layer))
    const { waiting } = yield* playing(Clerk.begin("Pay the rent."))
    assert.deepStrictEqual(paid, [])
    yield* TestClock.adjust("23 hours")
    const stored: unknown = JSON.parse(JSON.stringify(waiting))
    assert.deepStrictEqual(yield* playing(Clerk.goOn(stored, Approval.approve)), { answer: "Paid." })
    assert.deepStrictEqual(paid, ["landlord 80000"])
  })
)

it.effect("13-approvals: a decision that comes too late does not count, and the run requests approval once more", () =>
  Effect.gen(function* () {
    const { layer, paid } = bank()
    const model = yield* make(paying(80_000), text("Not paid."))
    const playing = Effect.provide(Layer.merge(model.layer, layer))
    const first = yield* playing(Clerk.begin("Pay the rent."))
    yield* TestClock.adjust("2 days")
    const second = yield* playing(Clerk.goOn(first.waiting, Approval.approve))
    assert.isDefined(second.waiting)
    assert.deepStrictEqual(paid, [])
    const third = yield* playing(Clerk.goOn(second.waiting, Approval.refuse("too late")))
    assert.deepStrictEqual(third, { answer: "Not paid." })
    assert.include(read(model)[0], "too late")
    assert.deepStrictEqual(paid, [])
  })
)

it.effect("13-approvals: a small sum is paid without a request for approval", () =>
  Effect.gen(function* () {
    const { layer, paid } = bank()
    const model = yield* make(paying(9900), text("Paid."))
    const begun = yield* Effect.provide(Clerk.begin("Pay the water."), Layer.merge(model.layer, layer))
    assert.deepStrictEqual(begun, { answer: "Paid." })
    assert.deepStrictEqual(paid, ["landlord 9900"])
  })
)
