import { assert, it } from "@effect/vitest"
import type * as Usage from "@kintsugi/core/Usage"
import { merged } from "../../../packages/providers/src/codec/mergedUsage.ts"

it("a later report of a reply counts, and what it does not count is counted as before", () => {
  const counts = (first: number): Usage.Usage => ({
    inputTokens: first,
    outputTokens: first && first + 1,
    cachedInputTokens: first && first + 2,
    cacheWriteTokens: first && first + 3,
    reasoningTokens: first && first + 4
  })
  assert.deepStrictEqual(merged(undefined, counts(10)), counts(10))
  assert.deepStrictEqual(merged(counts(20), counts(10)), counts(10))
  assert.deepStrictEqual(merged(counts(20), counts(0)), counts(20))
  assert.deepStrictEqual(merged(counts(0), counts(10)), counts(10))
  assert.deepStrictEqual(merged(counts(0), counts(0)), counts(0))
})
