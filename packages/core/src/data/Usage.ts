/** Tokens that a model call consumed: a commutative monoid under `add`, with `empty` as its identity. */
import * as Schema from "effect/Schema"

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

/** The sum, field by field. */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: self.inputTokens + that.inputTokens,
  outputTokens: self.outputTokens + that.outputTokens,
  cachedInputTokens: self.cachedInputTokens + that.cachedInputTokens,
  cacheWriteTokens: self.cacheWriteTokens + that.cacheWriteTokens,
  reasoningTokens: self.reasoningTokens + that.reasoningTokens
})

/** Input and output together: what a token budget counts. */
export const total = (self: Usage): number => self.inputTokens + self.outputTokens
