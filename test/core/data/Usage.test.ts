import { assert, it } from "@effect/vitest"
import * as Usage from "@kintsugi/core/Usage"

it("a sum of amounts is never infinite [P1397]", () => {
  const most = Number.MAX_VALUE
  assert.deepStrictEqual([Usage.sum(1, 2), Usage.sum(most, 0), Usage.sum(most, most)], [3, most, most])
  const counts = Usage.make({ inputTokens: most, outputTokens: 1 })
  assert.deepStrictEqual(Usage.add(counts, counts), Usage.make({ inputTokens: most, outputTokens: 2 }))
})

it("usage is sound if each count is a finite number of at least 0 [P1397]", () => {
  assert.isTrue(Usage.isSound(Usage.empty))
  for (const field of Object.keys(Usage.empty))
    for (const wrong of [-1, Infinity, Number.NaN, "1", undefined])
      assert.isFalse(Usage.isSound({ ...Usage.empty, [field]: wrong }), `${field} ${wrong}`)
  for (const wrong of [undefined, null, 5, {}]) assert.isFalse(Usage.isSound(wrong))
})
