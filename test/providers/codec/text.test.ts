/** Texts that several wire formats share. */
import { assert, it } from "@effect/vitest"
import { argumentsText, formatName, settlementText } from "../../../packages/providers/src/codec/text.ts"

it("arguments are the text of the model, and absent ones an empty object", () => {
  assert.deepStrictEqual([' {"a": 1,}', "", null, { a: [1] }, ["b"]].map(argumentsText), [
    ' {"a": 1,}',
    "",
    "{}",
    '{"a":[1]}',
    '["b"]'
  ])
})

it("the name of an output has letters, digits, _ and -, at most 64 of them and at least one", () => {
  assert.deepStrictEqual(["a-b_C9", "two words.ü", "", `${"a".repeat(63)} b`].map(formatName), [
    "a-b_C9",
    "two_words__",
    "output",
    `${"a".repeat(63)}_`
  ])
})

it("a failed call says that it failed, unless its text says so at its beginning [C2]", () => {
  for (const said of ["ERROR: a", "transient: a", "permanent: a", "unknown tool: a"]) {
    assert.strictEqual(settlementText({ kind: "told", text: said }), said)
    assert.strictEqual(settlementText({ kind: "told", text: `a ${said}` }), `ERROR: a ${said}`)
  }
  assert.strictEqual(settlementText({ kind: "result", text: "a" }), "a")
})
