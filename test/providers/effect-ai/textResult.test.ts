import { assert, it } from "@effect/vitest"
import { TextResult } from "@kintsugi/providers/EffectAi"
import { Schema } from "effect"

it("a text in the place of a result is known by its tag, also behind JSON [P1107]", () => {
  const text = new TextResult({ kind: "told", text: "closed" })
  assert.strictEqual(text._tag, "TextResult")
  assert.strictEqual(TextResult.identifier, "@kintsugi/providers/EffectAi/TextResult")
  const json = Schema.encodeSync(TextResult)(text)
  assert.deepStrictEqual(json, { _tag: "TextResult", kind: "told", text: "closed" })
  assert.deepStrictEqual(Schema.decodeSync(TextResult)(json), text)
})
