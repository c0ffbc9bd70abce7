import { assert, it } from "@effect/vitest"
import * as Issue from "@kintsugi/core/Issue"
import { Effect, Schema } from "effect"

const issuesOf = (schema: Schema.Codec<unknown, unknown>, input: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknownEffect(schema, { errors: "all" })(input)), ({ issue }) =>
    Issue.fromSchema(issue, input)
  )

it.effect("an issue has its place, what was expected there and what is there", () =>
  Effect.gen(function* () {
    const schema = Schema.Struct({
      toString: Schema.String,
      tags: Schema.Array(Schema.String),
      name: Schema.Struct({ length: Schema.Finite })
    })
    const found = yield* issuesOf(schema, { tags: [5, null, { a: 1 }, ["x"], true, undefined], name: "Ada" })
    assert.deepStrictEqual(
      found.map(({ actual, path }) => [Issue.formatPath(path), actual]),
      [
        // what an object inherits is not its own
        ["toString", "nothing"],
        ["tags[0]", "number 5"],
        ["tags[1]", "null"],
        ["tags[2]", "an object"],
        ["tags[3]", "an array of 1"],
        ["tags[4]", "boolean true"],
        ["tags[5]", "nothing"],
        ["name", 'string "Ada"']
      ]
    )
    assert.deepStrictEqual(yield* issuesOf(Schema.String, { a: 1 }), [
      { path: [], expected: "Expected string", actual: "an object" }
    ])
  })
)
