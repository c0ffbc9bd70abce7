/** Call ids that every provider takes. */
import { assert, it } from "@effect/vitest"
import { CallIds } from "../../../packages/providers/src/codec/callIds.ts"

const idsOf = (...given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ids = new CallIds()
  return given.map((id) => ids.next(id))
}

it("an id stays if it is valid and new, else its characters, its length or its end change [P1002]", () => {
  assert.deepStrictEqual(idsOf("call_1-A", "f:0", "é b", ""), ["call_1-A", "f_0", "__b", "call"])
  const long = "x".repeat(64)
  assert.deepStrictEqual(idsOf(long, `${long}y`, long), [long, `${"x".repeat(62)}_2`, `${"x".repeat(62)}_3`])
  assert.deepStrictEqual(idsOf("a", "a", "b", "a", "", ""), ["a", "a_2", "b", "a_3", "call", "call_2"])
  // a numbered id may be that of another call
  assert.deepStrictEqual(idsOf("a_2", "a", "a", "a_2"), ["a_2", "a", "a_3", "a_2_2"])
})

it("an assigned id depends on the ids before it alone [P1002]", () => {
  const given = ["a", "a", "f:0", "a", "f_0"]
  for (let length = 0; length <= given.length; length++) {
    assert.deepStrictEqual(idsOf(...given.slice(0, length)), idsOf(...given).slice(0, length))
  }
})
