/** The tokens that model calls have consumed. A run sums them field by field, from `empty`. */
import * as Schema from "effect/Schema"
import { quietly } from "./Foreign.ts"

/**
 * The token counts of one reply, or their sums over many. `inputTokens` counts the whole prompt, and `cachedInputTokens` and
 * `cacheWriteTokens` are parts of it; `reasoningTokens` is a part of `outputTokens`. A count that the provider does not report is 0.
 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

export const Usage = Schema.Struct({
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedInputTokens: Schema.Finite,
  cacheWriteTokens: Schema.Finite,
  reasoningTokens: Schema.Finite
})

/** No tokens. */
export const empty: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0
}

/** A `Usage` of the counts that a provider reported. Other counts are 0. */
export const make = (reported: Partial<Usage>): Usage => ({ ...empty, ...reported })

/** Whether each count is a finite number of at least 0. If not, a run books an estimate, see `Ledger.Entry`. */
export const isSound = (usage: unknown): usage is Usage =>
  quietly(() => {
    // each field may be any value
    const { cacheWriteTokens, cachedInputTokens, inputTokens, outputTokens, reasoningTokens } = usage as Usage
    return (
      isAmount(inputTokens) &&
      isAmount(outputTokens) &&
      isAmount(cachedInputTokens) &&
      isAmount(cacheWriteTokens) &&
      isAmount(reasoningTokens)
    )
  }, false)

/**
 * Whether a value is a finite number of at least 0.
 *
 * @internal
 */
export const isAmount = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value !== Infinity

/**
 * The sum of two amounts, at most `Number.MAX_VALUE`: it is never infinite.
 *
 * @internal
 */
export const sum = (self: number, that: number): number => {
  const both = self + that
  // `Math.min` allocates more here, as `npm run bench -- allocation` shows
  return both > Number.MAX_VALUE ? Number.MAX_VALUE : both
}

/** The sum of two usages, field by field. Each field is at most `Number.MAX_VALUE`. */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: sum(self.inputTokens, that.inputTokens),
  outputTokens: sum(self.outputTokens, that.outputTokens),
  cachedInputTokens: sum(self.cachedInputTokens, that.cachedInputTokens),
  cacheWriteTokens: sum(self.cacheWriteTokens, that.cacheWriteTokens),
  reasoningTokens: sum(self.reasoningTokens, that.reasoningTokens)
})

/**
 * The sum of input and output tokens, which `maxTokens` limits.
 *
 * @internal
 */
export const total = (self: Usage): number => sum(self.inputTokens, self.outputTokens)
