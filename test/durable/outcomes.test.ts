/** The stored form of the end of a step. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Cause, Schema } from "effect"
import { outcomeOf } from "../../packages/durable/src/outcomes.ts"

/** Schemas that no other test has compiled. */
const fresh = () => ({
  value: Schema.Struct({ at: Schema.DateTimeUtc }).annotate({ title: "fresh" }) as never,
  error: Schema.Struct({ message: Schema.String }).annotate({ title: "fresh" }) as never
})

it("a pair of schemas is compiled once [P1119]", () => {
  const { error, value } = fresh()
  const made = outcomeOf(value, error)
  const other = outcomeOf(value, fresh().error)
  assert.strictEqual(outcomeOf(value, error), made)
  assert.notStrictEqual(other, made)
  assert.strictEqual(outcomeOf(value, error), made)
  assert.notStrictEqual(outcomeOf(fresh().value, error), made)
})

const text = outcomeOf(Schema.String as never, Schema.Struct({ message: Schema.String }) as never)

it.effect("what a step gave dies if its schema refuses it, or no row can hold it [P1393]", () =>
  Effect.gen(function* () {
    const defect = (json: ReturnType<typeof outcomeOf>, value: unknown) =>
      Effect.map(Effect.exit(json.encode({ _tag: "Done", at: 0, value })), (exit) =>
        Exit.isFailure(exit) && Cause.hasDies(exit.cause) ? Cause.squash(exit.cause) : undefined
      )
    assert.isDefined(yield* defect(text, 7))
    const any = outcomeOf(Schema.Json as never, Schema.Never as never)
    let deep: Schema.Json = 1
    for (let level = 0; level < 1200; level++) deep = [deep]
    const tooDeep = yield* defect(any, deep)
    assert.instanceOf(tooDeep, TypeError)
    assert.strictEqual(
      (tooDeep as TypeError).message,
      "What a step gave is nested in more than 1100 levels: no row can hold it"
    )
    assert.isUndefined(yield* defect(any, [[1]]))
    yield* Effect.flip(text.decode({ _tag: "Other" }))
  })
)
