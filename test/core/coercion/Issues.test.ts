/** Which issues with a value are told: not those that the ladder mends anyway, unless there are no others. */
import { assert, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { issuesOf } from "../../../packages/core/src/coercion/Issues.ts"

it("a field that the ladder drops is no issue beside others, and the issue where it is the only one [P103]", () => {
  const decode = Schema.decodeUnknownResult(Schema.Struct({ n: Schema.Finite }), {
    errors: "all",
    onExcessProperty: "error"
  })
  const pathsOf = (value: Schema.Json, ladder: ReadonlyArray<string>) => {
    const read = decode(value)
    assert(Result.isFailure(read))
    return issuesOf(read.failure.issue, value, ladder).map(({ path }) => path.join("."))
  }
  const ladder = ["drop-undeclared", "drop-empty"]
  assert.deepStrictEqual(pathsOf({ n: "x", more: 1 }, []).toSorted(), ["more", "n"])
  assert.deepStrictEqual(pathsOf({ n: "x", more: 1 }, ladder), ["n"])
  assert.deepStrictEqual(pathsOf({ n: 1, more: 1 }, ladder), ["more"])
})
