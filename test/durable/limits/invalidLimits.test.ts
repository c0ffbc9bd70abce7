/** Limits of a shared budget that have no room for a call, or are no limits. */
import { assert, it } from "@effect/vitest"
import { Agent, LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { SharedBudget } from "@kintsugi/durable"
import { Effect, Layer } from "effect"
import { it as both } from "../../_support/run.ts"

const key = "acme"

both.run("a call that reserves more than the whole limit is invalid, and asks no storage [P1720]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make()
    const limits = [
      { key, tokens: 50, per: "1 day" },
      {
        key,
        cost: 0.001,
        per: "1 day",
        reserve: 0.002,
        prices: { "*": { usdPerMillionTokens: { input: 1, output: 1 } } }
      }
    ] as const
    const broken = { reserve: () => Effect.die("asked"), settle: () => Effect.die("asked") }
    const store = Layer.effect(
      SharedBudget.SharedBudgets,
      Effect.map(SharedBudget.SharedBudgets, (store) => ({ ...store, ...broken }))
    ).pipe(Layer.provide(SharedBudget.layerMemory))
    const errors = yield* Effect.forEach(limits, (limit) =>
      Effect.provide(
        Effect.flip(run(Agent.make("clerk", { model: SharedBudget.layer(model.layer, limit) }), "hi")),
        store
      )
    )
    for (const error of errors) assert.instanceOf(error, LlmError.InvalidRequestError)
    assert.match(
      errors[0]?.message ?? "",
      /^The call of model 'scripted' reserves 4\d\d\d of the shared budget 'acme', whose whole limit is 50 tokens \(scripted\): shorten the request/
    )
    assert.include(
      errors[1]?.message,
      "reserves 0.002 of the shared budget 'acme', whose whole limit is 0.001 US dollars"
    )
    assert.lengthOf(model.requests, 0)
  })
)

it("throws for limits that are no amounts and times [P1720]", () => {
  const invalid: ReadonlyArray<object> = [
    { tokens: 0 },
    { tokens: 1.5 },
    { tokens: Infinity },
    { tokens: 10, reserve: 0 },
    { tokens: 10, reserve: { outputTokens: NaN } },
    { cost: -1 },
    { cost: 1e-10 },
    { cost: 1, reserve: 1e-10 },
    { tokens: 10, cost: 1 },
    { tokens: 10, reserve: "9" },
    { tokens: 10, reserve: true },
    { tokens: 10, reserve: null },
    { cost: 1e10 },
    { tokens: 10, per: 0 },
    { tokens: 10, lease: "0.5 millis" }
  ]
  for (const one of invalid) {
    // cast: the types refuse none of these numbers, and callers in JavaScript have no types
    const limit = { key, ...one } as SharedBudget.SharedLimit
    assert.throws(() => SharedBudget.spending(limit), RangeError, /^SharedBudget: /, JSON.stringify(one))
  }
})
