/** Which texts are numbers: those whose digits a number has, in the syntax of JSON. */
import { assert, it } from "@effect/vitest"
import { numberOf } from "../../../packages/core/src/coercion/number.ts"

it("a text is a number if a number has exactly its value [P103]", () => {
  const numbers = { "0": 0, "-1": -1, "1.50": 1.5, "15e-1": 1.5, "1E3": 1000, "9007199254740991": 2 ** 53 - 1 }
  for (const [text, number] of Object.entries(numbers)) assert.strictEqual(numberOf(text), number, text)
  for (const none of ["", "x", "NaN", "Infinity", "0x10", "1_000", "+1", ".5", "9007199254740993", "1".repeat(33)])
    assert.isUndefined(numberOf(none), none)
})
