/** How the JSON of a model is decoded. */
import { assert, it } from "@effect/vitest"
import * as Issue from "@kintsugi/core/Issue"
import { Effect, Result, Schema } from "effect"
import { reader } from "../../../packages/core/src/tool/reading.ts"

interface Tree {
  readonly a?: Tree
}
const Tree = Schema.Struct({ a: Schema.optionalKey(Schema.suspend((): Schema.Codec<Tree> => Tree)) })

it("a value that is nested too deeply for its schema is an issue, and no defect [P1393]", () => {
  let deep: Schema.Json = {}
  for (let level = 0; level < 100_000; level++) deep = { a: deep }
  const read = reader(Tree)(deep)
  assert(!Effect.isEffect(read) && Result.isFailure(read))
  assert.deepStrictEqual(
    Issue.fromSchema(read.failure, deep).map(({ expected, path }) => [path, expected]),
    [[[], "Expected a value that is not nested so deeply"]]
  )
  assert.deepStrictEqual(reader(Tree)({ a: {} }), Result.succeed({ a: {} }))
})

it("all issues are found, also of fields that the schema does not have", () => {
  const read = reader(Schema.Struct({ n: Schema.Finite, s: Schema.String }))({ n: "x", s: 1, more: true })
  assert(!Effect.isEffect(read) && Result.isFailure(read))
  const paths = Issue.fromSchema(read.failure, {}).map(({ path }) => path.join("."))
  assert.sameMembers([...paths], ["n", "s", "more"])
})

it("a defect of a schema passes", () => {
  const broken = Schema.String.check(
    Schema.makeFilter(() => {
      throw new RangeError("out of it")
    })
  )
  assert.throws(() => reader(broken)("x"), RangeError, "out of it")
  // what a program without types may give in its place
  const none = {
    get ast() {
      throw new RangeError("no schema")
    }
  }
  let caught: unknown
  try {
    reader(none as never)("x")
  } catch (error) {
    caught = error
  }
  assert.strictEqual(String(caught), "RangeError: no schema")
})
