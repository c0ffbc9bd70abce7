/** Prices of models, as data. The providers ship those that they know; users replace them, or bring their own. */
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import { property } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"

/** US dollars per million tokens. */
interface TokenPrices {
  readonly input: number
  readonly output: number
  /** The price of prompt tokens that the provider read from its cache; the price of `input` by default. */
  readonly cachedInput?: number
  /** The price of prompt tokens that the provider wrote into its cache; the price of `input` by default. */
  readonly cacheWrite?: number
}

/**
 * The price of one model, in US dollars.
 *
 * @hidden
 */
export interface Price {
  readonly usdPerMillionTokens: TokenPrices
  /** A dearer price for long requests: it applies to all tokens if the prompt, cached tokens included, is longer than this. */
  readonly longContext?: { readonly overInputTokens: number; readonly usdPerMillionTokens: TokenPrices }
  /** The price of one item of the provider's own work, by its kind (for example `web_search_call` of OpenAI); 0 by default. */
  readonly usdPerItem?: Readonly<Record<string, number>>
  /**
   * Factors for service tiers, by `serviceTier` of the reply: `{ priority: 2 }` doubles the price of tokens. A tier without a factor costs
   * the price itself. `*` is the factor of a reply without a tier, and of an attempt that broke off; 1 by default.
   */
  readonly tiers?: Readonly<Record<string, number>>
  /** The day on which the price was read at its source, as in `2026-11-26`. A run with `maxCost` warns if that is over 90 days ago. */
  readonly asOf?: string
  /** The address of the page with this price. */
  readonly source?: string
}

/** Prices by the name of the model; `*` is the price of every model without its own. */
export type Prices = Readonly<Record<string, Price>>

/** A model's name, and the price in its own layer. */
export interface Priced {
  readonly name: string
  readonly price?: Price | "reported"
}

/**
 * The price of a model: by its name in the budget, else what the model says itself, else that of `*`; `undefined` if there is none.
 *
 * @internal
 */
export const of = (prices: Prices | undefined, { name, price }: Priced): Price | "reported" | undefined => {
  if (prices !== undefined && Object.hasOwn(prices, name)) return prices[name]
  return price ?? (prices !== undefined && Object.hasOwn(prices, "*") ? prices["*"] : undefined)
}

/**
 * Throws a `TypeError` for an invalid price: without a valid price, a cost would never reach a limit.
 *
 * @internal
 */
export const check = (whose: string, price: unknown): void => {
  const [asOf, long, perItem] = [property(price, "asOf"), property(price, "longContext"), property(price, "usdPerItem")]
  const prices = [price, ...(long === undefined ? [] : [long])].map((each) => property(each, "usdPerMillionTokens"))
  for (const tokens of prices) {
    const isPrice = Predicate.isObject(tokens)
    demand(whose, "a price, as in { usdPerMillionTokens: { input: 1, output: 5 } }", price, isPrice)
    for (const name of ["input", "output", "cachedInput", "cacheWrite"] as const) {
      const given = property(tokens, name)
      const isAbsent = given === undefined && name.startsWith("cache")
      demand(`${whose}: ${name}`, "US dollars of at least 0", given, isAbsent || Usage.isAmount(given))
    }
  }
  const tiers = property(price, "tiers")
  demand(`${whose}: tiers`, "factors of at least 0 by tiers of service", tiers, tiers === undefined || isAmounts(tiers))
  const over = property(long, "overInputTokens")
  demand(`${whose}: overInputTokens`, "a number of tokens", over, long === undefined || Usage.isAmount(over))
  demand(
    `${whose}: usdPerItem`,
    "US dollars of at least 0 by kinds of items",
    perItem,
    perItem === undefined || isAmounts(perItem)
  )
  const isDay = Predicate.isString(asOf) && /^\d{4}-\d\d-\d\d$/.test(asOf) && !Number.isNaN(Date.parse(asOf))
  demand(`${whose}: asOf`, "a day, as in '2026-11-26'", asOf, asOf === undefined || isDay)
}

const isAmounts = (value: unknown): boolean => Predicate.isObject(value) && Object.values(value).every(Usage.isAmount)

/**
 * The most tokens of one request: those of its prompt, and those of its reply.
 *
 * @internal
 */
export type TokensOfRequest = { readonly input: number; readonly output: number }

const perMillion = 1_000_000

/**
 * The highest cost of one request, with the dearest of these prices and without the provider's own work; unknown without prices.
 *
 * @internal
 */
export const mostOf = (prices: Prices = {}, { input, output }: TokensOfRequest): number | undefined => {
  const costs = Object.values(prices).map((price) => {
    const tokens = tokensAt(price, input)
    const dearest = Math.max(tokens.input, tokens.cachedInput ?? 0, tokens.cacheWrite ?? 0)
    const tier = Math.max(1, ...Object.values(price.tiers ?? {}))
    return (tier * (input * dearest + output * tokens.output)) / perMillion
  })
  return costs.length === 0 ? undefined : Math.max(...costs)
}

/**
 * The cost of the work that a provider did on its own side for a reply: the sum of the prices of its items.
 *
 * @internal
 */
export const costOfItems = ({ usdPerItem }: Price, content: Message.Reply["content"]): number => {
  if (usdPerItem === undefined) return 0
  let cost = 0
  for (const part of content) {
    // own keys only: a provider may call a kind `constructor`
    if (part.type === "provider-item" && Object.hasOwn(usdPerItem, part.kind)) cost += usdPerItem[part.kind] ?? 0
  }
  return cost
}

/** The cost of these tokens in US dollars, in a tier of service. Reasoning tokens are part of the output. */
export const costOf = (self: Price, usage: Usage.Usage, tier = "*"): number => {
  const { cachedInputTokens: cached, cacheWriteTokens: written, inputTokens, outputTokens } = usage
  const { input, output, cachedInput = input, cacheWrite = input } = tokensAt(self, inputTokens)
  const plain = Math.max(0, inputTokens - cached - written)
  const cost = (plain * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / perMillion
  return self.tiers !== undefined && Object.hasOwn(self.tiers, tier) ? cost * (self.tiers[tier] ?? 1) : cost
}

const tokensAt = ({ longContext, usdPerMillionTokens }: Price, inputTokens: number): TokenPrices =>
  longContext !== undefined && inputTokens > longContext.overInputTokens
    ? longContext.usdPerMillionTokens
    : usdPerMillionTokens
