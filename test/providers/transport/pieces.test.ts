import { assert, it } from "@effect/vitest"
import { Pieces } from "../../../packages/providers/src/transport/pieces.ts"

it("a text in pieces is the same text, however many pieces it has", () => {
  const pieces = new Pieces()
  for (const count of [0, 1, 2, 1023, 1024, 1025, 1026, 2048, 3000]) {
    assert.isTrue(pieces.isEmpty)
    const texts = Array.from({ length: count }, (_, at) => `${at};`)
    for (const text of texts) {
      pieces.add(text)
      assert.isFalse(pieces.isEmpty)
    }
    assert.strictEqual(pieces.take(), texts.join(""))
  }
  assert.strictEqual(pieces.take(), "")
})
