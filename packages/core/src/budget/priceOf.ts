/** Where the price of a model stands. */
import type { Price, Prices } from "./Price.ts"

/** The price of a model: its own, else the price of `*`; `undefined` if it has neither. */
export const priceOf = (prices: Prices, model: string): Price | undefined =>
  Object.hasOwn(prices, model) ? prices[model] : Object.hasOwn(prices, "*") ? prices["*"] : undefined
