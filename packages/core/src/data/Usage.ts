/** Tokens that a model call consumed: a commutative monoid under `add`, with `empty` as its identity. */
import * as Schema from "effect/Schema"
import { quietly } from "./Foreign.ts"

/**
 * Token counts of one reply, or of many added up. `inputTokens` holds the whole prompt, cached part included;
 * `cachedInputTokens`, `cacheWriteTokens` and `reasoningTokens` say how much of it (or of the output) was of that kind.
 * A provider that reports nothing counts as zero.
 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

export const Usage = Schema.Struct({
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedInputTokens: Schema.Finite,
  cacheWriteTokens: Schema.Finite,
  reasoningTokens: Schema.Finite
})

/** No tokens at all. */
export const empty: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0
}

/** A `Usage` from what a provider reported; what it left out is zero. */
export const make = (reported: Partial<Usage>): Usage => ({ ...empty, ...reported })

/**
 * Whether a value is a usage that can be counted: each number is finite and at least 0. A run books an estimate instead of any
 * other, see `Ledger.Entry`.
 */
export const isSound = (usage: unknown): usage is Usage =>
  quietly(() => {
    // each field of it may be anything
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
 * Whether a value is a number of something that was spent: finite and at least 0.
 *
 * @internal
 */
export const isAmount = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value !== Infinity

/**
 * The sum of two amounts, at most the largest number that there is: what was spent is never infinite.
 *
 * @internal
 */
export const sum = (self: number, that: number): number => {
  const both = self + that
  // `Math.min` allocates more here, as `npm run bench -- allocation` shows
  return both > Number.MAX_VALUE ? Number.MAX_VALUE : both
}

/** The sum, field by field; each field is at most `Number.MAX_VALUE`. */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: sum(self.inputTokens, that.inputTokens),
  outputTokens: sum(self.outputTokens, that.outputTokens),
  cachedInputTokens: sum(self.cachedInputTokens, that.cachedInputTokens),
  cacheWriteTokens: sum(self.cacheWriteTokens, that.cacheWriteTokens),
  reasoningTokens: sum(self.reasoningTokens, that.reasoningTokens)
})

/** Input and output together: what a token budget counts. */
export const total = (self: Usage): number => sum(self.inputTokens, self.outputTokens)
