/** What models cost, as data: providers change their prices, so users bring them. */
import type * as Usage from "./Usage.ts"

/** The price of one model, per million tokens, in whatever currency `maxCost` is meant. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Of prompt tokens that the provider had in its cache; as `input` by default. */
  readonly cachedInput?: number
  /** Of prompt tokens that the provider wrote into its cache; as `input` by default. */
  readonly cacheWrite?: number
}

/** Prices by the name of the model; `*` stands for every other one. */
export type Prices = Readonly<Record<string, Price>>

const perMillion = 1_000_000

export const priceOf = (prices: Prices, model: string): Price | undefined =>
  Object.hasOwn(prices, model) ? prices[model] : Object.hasOwn(prices, "*") ? prices["*"] : undefined

/** What these tokens cost. Reasoning tokens are part of the output. */
export const costOf = (self: Price, usage: Usage.Usage): number => {
  const { cachedInput = self.input, cacheWrite = self.input, input, output } = self
  const { cachedInputTokens: cached, cacheWriteTokens: written, inputTokens, outputTokens } = usage
  const plain = Math.max(0, inputTokens - cached - written)
  return (plain * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / perMillion
}
