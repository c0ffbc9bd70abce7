/** Values that a program gives to runs by a name: copies of the package share them, as their contexts do. */
import { assert, it } from "@effect/vitest"
import { Model } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { Effect } from "effect"
import * as Room from "../../../packages/core/src/event/Room.ts"
import * as Interception from "../../../packages/core/src/model/Interception.ts"
import { Latest } from "../../../packages/core/src/recovery/RetryBudget.ts"
import { Warned } from "../../../packages/core/src/run/priceAge.ts"

it("each has its own name and its usual value", () => {
  const named = {
    "@kintsugi/core/Interception/Current": [Interception.Current, undefined],
    "@kintsugi/core/Model/RealCalls": [Model.RealCalls, "allowed"],
    "@kintsugi/core/PriceAge/Warned": [Warned, { isSaid: false }],
    "@kintsugi/core/RetryBudget/Latest": [Latest, Infinity],
    "@kintsugi/core/Room": [Room.Current, Effect.void],
    "@kintsugi/core/RunContext/Current": [RunContext.Current, undefined],
    "@kintsugi/core/RunContext/Observers": [RunContext.Observers, []]
  } as const
  for (const [name, [reference, usual]] of Object.entries(named)) {
    assert.strictEqual(reference.key, name)
    assert.deepStrictEqual<unknown>(reference.defaultValue(), usual)
  }
  assert.strictEqual(Model.Model.key, "@kintsugi/core/Model")
})
