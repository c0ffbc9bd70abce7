/** The properties under which values keep what other modules read: copies of the package find them by the names of the symbols. */
import { assert, it } from "@effect/vitest"
import { Backoff, Recovery } from "@kintsugi/core"
import { Schedule } from "effect"
import { Cost } from "../../../packages/core/src/recovery/Cost.ts"
import { explaining } from "../../../packages/core/src/recovery/Explained.ts"
import { Reads } from "../../../packages/core/src/recovery/FixerInput.ts"

/** The registered names of the symbols that a value has beside those of another. */
const namesOf = (value: object, before: object = {}) =>
  Object.getOwnPropertySymbols(value)
    .filter((symbol) => !Object.hasOwn(before, symbol))
    .map((symbol) => Symbol.keyFor(symbol))

it("each symbol has its registered name", () => {
  assert.strictEqual(Symbol.keyFor(Reads), "~@kintsugi/core/Reads")
  assert.strictEqual(Symbol.keyFor(Cost), "~@kintsugi/core/Cost")
  assert.deepStrictEqual(namesOf(Recovery.tell()), ["~@kintsugi/core/Recovery"])
  assert.deepStrictEqual(namesOf(explaining({}, () => assert.fail("nothing is explained"))), [
    "~@kintsugi/core/Model/Explains"
  ])
  const schedule = Schedule.recurs(1)
  assert.deepStrictEqual(namesOf(Backoff.hinted(schedule), schedule), ["~@kintsugi/core/Backoff/MaxHint"])
})
