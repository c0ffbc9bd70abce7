import { assert, it } from "@effect/vitest"
import { Completion, KintsugiError } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { through } from "../_support/json.ts"

it("a completion is a value: it is no error, and knows its summary, success, result and metadata [T28]", () => {
  const completion = Completion.make("Analysis complete")
  assert.deepInclude(completion, { summary: "Analysis complete", isSuccess: true, metadata: {}, hasResult: false })
  assert.notInstanceOf(completion, Error)
  assert.isFalse(KintsugiError.isKintsugiError(completion))
  assert.isTrue(Completion.isCompletion(completion))
  assert.isFalse(Completion.isCompletion({ ...completion }))
})

it("each constructor of a completion [T29]", () => {
  const { failed, make, withMetadata, withResult } = Completion
  assert.deepInclude(make("Done"), { isSuccess: true, hasResult: false })
  const created = withResult("Task done", { filesCreated: 5 })
  assert.deepInclude(created, { summary: "Task done", isSuccess: true, hasResult: true, result: { filesCreated: 5 } })
  assert.isTrue(withResult("Nothing found", null).hasResult)
  assert.deepInclude(failed("Could not complete", "API unavailable"), {
    summary: "Could not complete",
    isSuccess: false,
    hasResult: false,
    metadata: { reason: "API unavailable" }
  })
  assert.deepInclude(withMetadata("Done", { duration: "45s" }), { isSuccess: true, metadata: { duration: "45s" } })
  for (const completion of [make("Done"), created, failed("No", "why"), withMetadata("Done", { n: 1 })]) {
    assert.deepStrictEqual(through(Completion.Completion, completion), completion)
  }
})

it.effect("resultAs decodes the result, or fails typed: without a result, or with one that does not fit [T29]", () =>
  Effect.gen(function* () {
    const Files = Schema.Struct({ created: Schema.Finite, at: Schema.DateFromString })
    const at = "2027-01-01T12:00:00.000Z"
    const fits = Completion.withResult("Done", { created: 5, at })
    assert.deepStrictEqual(yield* fits.resultAs(Files), { created: 5, at: new Date(at) })
    for (const completion of [Completion.make("Done"), Completion.withResult("Done", { created: "5" })]) {
      const error = yield* Effect.flip(completion.resultAs(Files))
      assert.strictEqual(error._tag, "SchemaError")
    }
    const both = yield* Effect.flip(Completion.withResult("Done", {}).resultAs(Files))
    for (const field of ["created", "at"]) assert.include(both.message, field)
  })
)
