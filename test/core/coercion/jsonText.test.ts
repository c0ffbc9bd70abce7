import { assert, it } from "@effect/vitest"
import { mendText } from "../../../packages/core/src/coercion/jsonText.ts"

it("a text between two fences loses them and the name of a language", () => {
  const fenced = (text: string) => mendText["strip-fences"](text, "object")
  assert.strictEqual(fenced('```json\n{"a": 1}\n```'), '{"a": 1}')
  assert.strictEqual(fenced(' ```{"a": 1}``` '), '{"a": 1}')
  assert.strictEqual(fenced("``````"), "")
  for (const text of ["```", "`````", '```json\n{"a": 1}', '{"a": 1}\n```', '{"a": 1}', ""])
    assert.isUndefined(fenced(text), text)
})

it("the first block is that whose brackets balance outside of texts", () => {
  const cases = [
    ['so {"a": {"b": 1}} and {"c": 2}', '{"a": {"b": 1}}'],
    ['{"a": "}"} {', '{"a": "}"}'],
    [String.raw`{"a": "\"}"} }`, String.raw`{"a": "\"}"}`],
    [String.raw`{"a": "\\"} "}`, String.raw`{"a": "\\"}`],
    ["} {}", "{}"],
    ["no block }", undefined],
    ["{ {}", undefined],
    ["", undefined]
  ] as const
  for (const [text, block] of cases) {
    assert.strictEqual(mendText["first-block"](text, "object"), block)
    const listed = text.replaceAll("{", "[").replaceAll("}", "]")
    assert.strictEqual(mendText["first-block"](listed, "list"), block?.replaceAll("{", "[").replaceAll("}", "]"))
  }
})
