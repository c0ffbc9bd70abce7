/** What the keys of a value mean to a schema that it does not fit. */
import { assert, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { failingIn, isAbsence, isExtraAt, meantAt } from "../../../packages/core/src/coercion/failing.ts"
import { codec, mend } from "../../_support/coercion.ts"

const failingOf = (schema: Schema.Codec<unknown, unknown>, value: unknown) => {
  const read = codec(schema)(value)
  return Result.isFailure(read) ? failingIn(read.failure) : assert.fail("it fits")
}

const schema = Schema.Struct({
  street: Schema.String,
  note: Schema.optionalKey(Schema.String),
  inner: Schema.optionalKey(Schema.Struct({ city: Schema.String }))
})

it("a key means nothing, or is a slip of a field that is absent [P101]", () => {
  const value = { stret: "x", other: 1, note: null, inner: { cty: "y", city: null, more: 1 } }
  const failing = failingOf(schema, value)
  const at = (path: ReadonlyArray<string>) => ({
    isExtra: isExtraAt(failing, value, path),
    meant: meantAt(failing, value, path),
    isAbsence: isAbsence(failing, value, path)
  })
  const none = { isExtra: false, meant: undefined, isAbsence: false }
  assert.deepStrictEqual(at(["stret"]), { ...none, meant: "street" })
  assert.deepStrictEqual(at(["other"]), { ...none, isExtra: true })
  assert.deepStrictEqual(at(["note"]), { ...none, isAbsence: true })
  // the field that it is near to is there
  assert.deepStrictEqual(at(["inner", "cty"]), { ...none, isExtra: true })
  assert.deepStrictEqual(at(["inner", "city"]), none)
  assert.deepStrictEqual(at(["inner", "more"]), { ...none, isExtra: true })
  for (const path of [[], ["inner", "none"], ["none", "more"], ["other", "more"]])
    assert.deepStrictEqual(at(path), none, path.join("."))
})

it("only null in place of an optional field is an absence, and a field of any member of a union has a meaning [P101]", () => {
  const isAbsenceIn = (one: Schema.Codec<unknown, unknown>, value: unknown, key: string) =>
    isAbsence(failingOf(one, value), value, [key])
  assert.isTrue(isAbsenceIn(schema, { street: "x", note: null }, "note"))
  assert.isFalse(isAbsenceIn(schema, { street: "x", note: 5 }, "note"))
  assert.isFalse(isAbsenceIn(Schema.Record(Schema.String, Schema.String), { note: null }, "note"))
  const either = Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])
  const value = { a: "x", b: "y", c: "z" }
  const failing = failingOf(either, value)
  assert.deepStrictEqual(
    ["a", "b", "c"].map((key) => isExtraAt(failing, value, [key])),
    [false, false, true]
  )
})

it("of more than a hundred keys that fail none is looked at [P105]", () => {
  const of = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]))
  assert.deepStrictEqual(mend(schema, { street: "x", ...of(100) }).value, { street: "x" })
  assert.isUndefined(mend(schema, { street: "x", ...of(101) }).value)
  // `street` itself fails as well
  for (const [count, meant] of [
    [98, "street"],
    [99, undefined]
  ] as const) {
    const value = { stret: "x", ...of(count) }
    assert.strictEqual(meantAt(failingOf(schema, value), value, ["stret"]), meant)
  }
})
