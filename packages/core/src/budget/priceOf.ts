/** Where the price of a model stands. */
import type { Price, Priced, Prices } from "./Price.ts"

/** The price of a model: by its name in the budget, else what the model says itself, else that of `*`; `undefined` if there is none. */
export const priceOf = (prices: Prices | undefined, { name, price }: Priced): Price | "reported" | undefined => {
  if (prices !== undefined && Object.hasOwn(prices, name)) return prices[name]
  return price ?? (prices !== undefined && Object.hasOwn(prices, "*") ? prices["*"] : undefined)
}
