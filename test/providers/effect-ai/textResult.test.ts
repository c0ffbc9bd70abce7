import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Schema } from "effect"

it("a text in the place of a result is known by its tag, also behind JSON [P1107]", () => {
  const text = new EffectAi.TextResult({ kind: "told", text: "closed" })
  assert.strictEqual(text._tag, "TextResult")
  assert.strictEqual(EffectAi.TextResult.identifier, "@kintsugi/providers/EffectAi/TextResult")
  const json = Schema.encodeSync(EffectAi.TextResult)(text)
  assert.deepStrictEqual(json, { _tag: "TextResult", kind: "told", text: "closed" })
  assert.deepStrictEqual(Schema.decodeSync(EffectAi.TextResult)(json), text)
})

it.effect("a failure that its schema does not fit is read as the JSON that it is [P1107]", () =>
  Effect.gen(function* () {
    class Closed extends Schema.TaggedError<Closed>()("Closed", { shop: Schema.String }) {}
    const unlock = Tool.make("unlock", {
      description: "Unlocks a shop",
      parameters: Schema.Struct({ shop: Schema.String }),
      success: Schema.String,
      failure: Closed,
      run: () => Effect.succeed("open")
    })
    const [made] = Object.values(EffectAi.toToolkit([unlock]).toolkit.tools)
    if (made === undefined) return assert.fail("the toolkit has no tool")
    const read = Schema.decodeUnknownEffect(Schema.toCodecJson(made.failureSchema))
    assert.deepStrictEqual<unknown>(yield* read({ _tag: "Closed", shop: "a" }), new Closed({ shop: "a" }))
    for (const other of ["closed", null, { _tag: "Closed" }, ["closed"]])
      assert.deepStrictEqual<unknown>(yield* read(other), other)
  })
)
