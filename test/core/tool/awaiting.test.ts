/** How the settlement of a deferred call is decoded. */
import { assert, it } from "@effect/vitest"
import * as Issue from "@kintsugi/core/Issue"
import { Effect, Exit, Schema } from "effect"
import { decoder } from "../../../packages/core/src/tool/awaiting.ts"

class Declined extends Schema.TaggedError<Declined>()("Declined", { why: Schema.String }) {}

const Ordered = Schema.Struct({ at: Schema.DateFromString, by: Schema.String })

const decode = decoder({ success: Ordered, failure: Declined })
const withoutFailures = decoder({ success: Ordered, failure: undefined })

const at = "2027-01-01T12:00:00.000Z"

it.effect("a settlement is the JSON of a result or failure, or the value itself [P1521]", () =>
  Effect.gen(function* () {
    const value = { at: new Date(at), by: "Ada" }
    assert.deepStrictEqual(yield* decode(Exit.succeed({ at, by: "Ada" })), Exit.succeed(value))
    assert.deepStrictEqual(yield* decode(Exit.succeed(value)), Exit.succeed(value))
    for (const failure of [{ _tag: "Declined", why: "no" }, new Declined({ why: "no" })]) {
      const exit = yield* decode(Exit.fail(failure))
      assert(Exit.isFailure(exit))
      const error = yield* Effect.flip(exit)
      assert.instanceOf(error, Declined)
      assert.deepInclude(error, { _tag: "Declined", why: "no" })
    }
  })
)

it.effect("what does not fit is refused, with all of its fields [P1521]", () =>
  Effect.gen(function* () {
    const { issue } = yield* Effect.flip(decode(Exit.succeed({ at: 5 })))
    assert.deepStrictEqual(
      Issue.fromSchema(issue, { at: 5 }).map(({ path }) => path),
      [["at"], ["by"]]
    )
    let deep: Schema.Json = []
    for (let level = 0; level < 1001; level++) deep = [deep]
    const refused: ReadonlyArray<readonly [given: unknown, decode: typeof withoutFailures, expected: string]> = [
      ["done", decode, "Expected an Exit"],
      [Exit.die("broken"), decode, "Expected a result or a failure"],
      [Exit.fail("no"), withoutFailures, "Expected a result: the tool has no schema of its failures"],
      [Exit.succeed(deep), decode, "Expected a value that is not nested so deeply"]
    ]
    for (const [given, decode, expected] of refused) {
      // as a program without types may give it
      const error = yield* Effect.flip(decode(given as Exit.Exit<unknown>))
      assert.deepStrictEqual(
        Issue.fromSchema(error.issue, given).map((one) => one.expected),
        [expected]
      )
    }
  })
)
