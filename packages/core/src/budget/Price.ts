/** Prices of models, as data. Providers change their prices, so users bring them. */
import type * as Message from "../data/Message.ts"
import type * as Usage from "../data/Usage.ts"

/**
 * The price of one model per million tokens, in the currency of `maxCost`.
 *
 * @hidden
 */
export interface Price {
  readonly input: number
  readonly output: number
  /** Of prompt tokens that the provider read from its cache; as `input` by default. */
  readonly cachedInput?: number
  /** Of prompt tokens that the provider wrote into its cache; as `input` by default. */
  readonly cacheWrite?: number
  /** Of one item that the provider did on its own side, by its kind (`web_search_call` of OpenAI, for example); 0 by default. */
  readonly items?: Readonly<Record<string, number>>
}

/** Prices by the name of the model; `*` is the price of every model without its own. */
export type Prices = Readonly<Record<string, Price>>

/**
 * The most tokens of one request: of all that it sends, and of its reply.
 *
 * @internal
 */
export type TokensOfRequest = { readonly input: number; readonly output: number }

const perMillion = 1_000_000

/**
 * The highest cost of one request with the dearest of these prices, without what the provider does on its own side; unknown without prices.
 *
 * @internal
 */
export const mostOf = (prices: Prices = {}, { input, output }: TokensOfRequest): number | undefined => {
  const costs = Object.values(prices).map(
    (price) =>
      (input * Math.max(price.input, price.cachedInput ?? 0, price.cacheWrite ?? 0) + output * price.output) /
      perMillion
  )
  return costs.length === 0 ? undefined : Math.max(...costs)
}

/**
 * The cost of the work that a provider did on its own side for a reply: the sum of the prices of its items.
 *
 * @internal
 */
export const costOfItems = ({ items }: Price, content: Message.Reply["content"]): number => {
  if (items === undefined) return 0
  let cost = 0
  for (const part of content) if (part.type === "provider-item") cost += items[part.kind] ?? 0
  return cost
}

/**
 * The cost of these tokens. Reasoning tokens are part of the output.
 *
 * @internal
 */
export const costOf = (self: Price, usage: Usage.Usage): number => {
  const { cachedInput = self.input, cacheWrite = self.input, input, output } = self
  const { cachedInputTokens: cached, cacheWriteTokens: written, inputTokens, outputTokens } = usage
  const plain = Math.max(0, inputTokens - cached - written)
  return (plain * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / perMillion
}
