import { assert } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import { Duration, Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"

class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String }) {}
class Torn extends Schema.TaggedError<Torn>()("Torn", { at: Schema.Finite, cause: NoKeys }) {}

const countKeys = Tool.make("countKeys", {
  description: "Counts keys.",
  parameters: Schema.Struct({ json: Schema.String }),
  success: Schema.Finite,
  failure: Schema.Union([NoKeys, Torn]),
  timeout: "1 second",
  run: ({ json }): Effect.Effect<number, NoKeys | Torn> =>
    json === "" ? new NoKeys({ json }) : new Torn({ at: 3, cause: new NoKeys({ json }) })
})

const overJson = <T, E>(schema: Schema.Codec<T, E>, value: T): T => {
  const codec = Schema.toCodecJson(schema)
  return Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(value))))
}

it.effect("with a failure schema, any failure of a call comes back from JSON as its class [P1108]", () =>
  Effect.gen(function* () {
    const schema = Tool.errorSchema(countKeys)
    for (const raw of ['{"json":""}', '{"json":"x"}', "not json at all", '{"json":1}']) {
      const error = yield* Effect.flip(Tool.call(countKeys, raw))
      const back = overJson(schema, error)
      assert.deepStrictEqual(back, error)
      assert.strictEqual(back.constructor, error.constructor)
    }
    const late = ToolError.ToolTimeoutError.make({
      tool: "countKeys",
      timeout: Duration.fromInputUnsafe("1 second"),
      callId: "c",
      sideEffects: "none"
    })
    assert.instanceOf(overJson(schema, late), ToolError.ToolTimeoutError)
  })
)

it("a failure schema has to know every failure, and a tool without one has no schema of its errors [P1108]", () => {
  const options = {
    description: "Works.",
    parameters: Schema.Struct({}),
    success: Schema.String
  } as const
  const run = (): Effect.Effect<string, NoKeys | Torn> => Effect.succeed("fine")
  // @ts-expect-error -- the schema does not know `Torn`
  Tool.make("some", { ...options, failure: NoKeys, run })
  const bare = Tool.make("bare", { ...options, run })
  // @ts-expect-error -- its own failures have no schema
  Tool.errorSchema(bare)
  const safe = Tool.make("safe", { ...options, run: () => Effect.succeed("fine") })
  assert.isDefined(Tool.errorSchema(safe))
})
