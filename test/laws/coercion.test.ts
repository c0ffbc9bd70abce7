import { assert } from "@effect/vitest"
import { Coercion } from "@kintsugi/core"
import { Effect, Result, Schema } from "effect"
import fc from "fast-check"
import { codec } from "../_support/coercion.ts"
import { type Case, type Json, schemaAndValue, type Shape, toSchema } from "./_support/coercions.ts"
import { law } from "../_support/laws.ts"

const parsed = (value: Json) => ({ value, changes: [] })

const coerce = (shape: Shape, value: Json, ladder = Coercion.steps) =>
  Coercion.decode(parsed(value), codec(toSchema(shape)), ladder)

const ladders = fc.subarray([...Coercion.steps])

const check = (title: string, test: (generated: Case, ladder: ReadonlyArray<Coercion.CoercionStep>) => void): void =>
  law(title, fc.record({ generated: schemaAndValue, ladder: fc.oneof(fc.constant(Coercion.steps), ladders) }), (one) =>
    Effect.sync(() => test(one.generated, one.ladder))
  )

check(
  "valid input is returned itself, unchanged and unreported, and decodes once [L909]",
  ({ shape, valid }, ladder) => {
    let decodes = 0
    const decode = codec(toSchema(shape))
    const counting = (value: unknown) => (decodes++, decode(value))
    const result = Coercion.decode(parsed(valid), counting, ladder)
    if (Result.isFailure(result)) return assert.fail("a valid value did not decode")
    assert.strictEqual(result.success.value, valid)
    assert.deepStrictEqual([result.success.changes, decodes], [[], 1])
    return undefined
  }
)

check("the output decodes, or the issue is that of the input [L909]", ({ broken, shape }, ladder) => {
  const sent = JSON.stringify(broken)
  const decode = codec(toSchema(shape))
  const result = coerce(shape, broken, ladder)
  assert.strictEqual(JSON.stringify(broken), sent)
  const plain = decode(broken)
  if (Result.isFailure(result)) {
    assert.isTrue(Result.isFailure(plain))
    assert.strictEqual(String(Result.merge(plain)), String(result.failure))
    return
  }
  const twice = decode(result.success.value)
  if (Result.isFailure(twice)) return assert.fail("the output does not decode")
  assert.deepStrictEqual(twice.success, result.success.decoded)
  return
})

check("it is idempotent: the output is unchanged by another pass [L909]", ({ broken, shape }, ladder) => {
  const once = coerce(shape, broken, ladder)
  if (Result.isFailure(once)) return
  const twice = coerce(shape, once.success.value, ladder)
  if (Result.isFailure(twice)) return assert.fail("the output does not decode")
  assert.strictEqual(twice.success.value, once.success.value)
  assert.deepStrictEqual(twice.success.changes, [])
  return
})

check("undoing the reported changes, last first, gives the input back [L909]", ({ broken, shape }, ladder) => {
  const result = coerce(shape, broken, ladder)
  if (Result.isFailure(result)) return
  const undone = result.success.changes.toReversed().reduce(
    (value, { before, path }) => put(value, path, before),
    // what was decoded is JSON
    result.success.value as unknown
  )
  assert.deepEqual(undone, broken)
})

check("it never invents a required field, at any depth [L909]", ({ broken, missing, shape }) => {
  if (missing === undefined) return
  assert.isTrue(Result.isFailure(coerce(shape, missing)))
  assert.isTrue(Result.isFailure(coerce(shape, broken, [])) || Result.isSuccess(coerce(shape, broken)))
})

check("what a model does to valid input is undone [L909]", ({ mendable, shape, valid }) => {
  const result = coerce(shape, mendable)
  if (Result.isFailure(result)) return assert.fail("not mended")
  assert.deepStrictEqual(result.success.value, valid)
  return undefined
})

law(
  "any JSON, and any text, gives a value or a failure and never throws [L909]",
  fc.record({ generated: schemaAndValue, any: fc.jsonValue(), text: fc.string({ unit: "binary", maxLength: 40 }) }),
  ({ any, generated, text }) =>
    Effect.sync(() => {
      const schema = toSchema(generated.shape)
      // a JSON value of the generator
      assert.isTrue(Result.isResult(coerce(generated.shape, any as Json)))
      for (const sent of [
        text,
        `{${text}}`,
        `\`\`\`${text}{"a":${text}`,
        JSON.stringify(generated.broken).slice(0, -1)
      ]) {
        const read = Coercion.parse(sent)
        if (Result.isSuccess(read)) assert.isTrue(Result.isResult(Coercion.decode(read.success, codec(schema))))
      }
      assert.isTrue(Schema.isSchema(schema))
    })
)

/** The value with another one at a path; it may add the key. */
const put = (value: unknown, path: ReadonlyArray<string | number>, inner: unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return inner
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === key ? put(item, rest, inner) : item))
  const fields = Object.entries(value ?? {}).filter(([name]) => name !== key)
  const at: unknown = Object.entries(value ?? {}).find(([name]) => name === key)?.[1]
  return Object.fromEntries([...fields, [key, put(at, rest, inner)]])
}
