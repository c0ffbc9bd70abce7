/**
 * The prices of the providers' models in US dollars per million tokens, with the page and the day of each price. A layer uses the price of
 * its model if its base URL is the provider's own; `price` of the layer, and `prices` of a budget, replace it.
 *
 * The tables have the surcharges of faster service tiers, and no discounts of batches and slower tiers. If a price depends on the hour, or
 * is low until some day, the table has the higher price, so that a limit of cost holds.
 */
import * as Budget from "@kintsugi/core/Budget"
import * as Predicate from "effect/Predicate"

type Price = Budget.Price

/** Prices per million tokens: input, output, input read from the cache, input written to the cache. */
type Tokens = readonly [input: number, output: number, cachedInput?: number, cacheWrite?: number]

/** The prices of a model, or two lists of prices: `usual`, and `long` for prompts of more than `over` tokens. */
type Row = Tokens | { readonly usual: Tokens; readonly over: number; readonly long: Tokens }

/** Prices of one page. */
export interface Page {
  readonly source: string
  readonly asOf: string
  readonly usdPerItem?: Readonly<Record<string, number>>
  /** The factors by which service tiers multiply the price of this model. */
  readonly tiers?: (model: string) => Price["tiers"]
  readonly models: Readonly<Record<string, Row>>
}

/** A date or `-latest` at the end of a model's name: `-20251001`, `-2026-07-09`. */
const version = /-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$/

/** Finds the price of a model, with or without the date in its name; `undefined` if no page has it. */
export const find = (pages: ReadonlyArray<Page>, model: string): Price | undefined => {
  const name = model.replace(version, "")
  for (const { asOf, models, source, tiers, usdPerItem } of pages) {
    const row = Object.hasOwn(models, model) ? models[model] : Object.hasOwn(models, name) ? models[name] : undefined
    if (row === undefined) continue
    const ofModel = tiers?.(name)
    const items = {
      ...(usdPerItem === undefined ? {} : { usdPerItem }),
      ...(ofModel === undefined ? {} : { tiers: ofModel })
    }
    if (!("usual" in row)) return { usdPerMillionTokens: tokensOf(row), ...items, asOf, source }
    const longContext = { overInputTokens: row.over, usdPerMillionTokens: tokensOf(row.long) }
    return { usdPerMillionTokens: tokensOf(row.usual), longContext, ...items, asOf, source }
  }
  return undefined
}

const tokensOf = ([input, output, cachedInput, cacheWrite]: Tokens): Price["usdPerMillionTokens"] => ({
  input,
  output,
  ...(cachedInput === undefined ? {} : { cachedInput }),
  ...(cacheWrite === undefined ? {} : { cacheWrite })
})

/**
 * The price of a layer's model: the option `price` if given, else the price in `prices`, provided that the base URL is the provider's own,
 * because other servers have their own prices. Throws a `TypeError` for an invalid option.
 */
export const of = (prices: Listed, given: Given, own: string, model: string): Price | "reported" | undefined => {
  if (given.price !== undefined) return checked(model, given.price)
  if (hostOf(given.baseUrl) !== hostOf(own)) return undefined
  return prices === "reported" ? prices : asked(find(prices, model), given)
}

/** The options of a layer on which the price depends. */
export interface Asked {
  readonly serviceTier?: string
  readonly promptCache?: object
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The options of a layer from which its price follows. */
interface Given extends Asked {
  readonly baseUrl: string
  readonly price?: Price | "reported" | undefined
}

/**
 * The price of a model, if the layer requests a service tier: a reply that does not state its tier is charged at the requested tier
 * (`"*"`).
 */
const asked = (price: Price | undefined, { extra = {}, serviceTier }: Asked): Price | undefined => {
  if (price === undefined) return undefined
  const tier = [extra["speed"], extra["service_tier"], extra["serviceTier"], serviceTier].find(Predicate.isString)
  const factor = Object.entries(price.tiers ?? {}).find(([name]) => name === tier)?.[1]
  return factor === undefined ? price : { ...price, tiers: { ...price.tiers, "*": factor } }
}

/**
 * The price of a Claude model with the layer's cache lifetime: content cached for one hour costs twice the input price ("1h cache writes"
 * on Anthropic's page). A price in the user's options is not changed.
 */
export const cached = (
  price: Price | "reported" | undefined,
  { extra, price: given, promptCache }: Omit<Given, "baseUrl">
): Price | "reported" | undefined =>
  typeof price === "object" && given === undefined && JSON.stringify([promptCache, extra]).includes(`"ttl":"1h"`)
    ? mapped(price, (tokens) => ({ ...tokens, cacheWrite: 2 * tokens.input }))
    : price

/** Applies a function to the token prices of a price, those of long prompts included. */
const mapped = (
  price: Price,
  tokens: (tokens: Price["usdPerMillionTokens"]) => Price["usdPerMillionTokens"]
): Price => ({
  ...price,
  usdPerMillionTokens: tokens(price.usdPerMillionTokens),
  ...(price.longContext === undefined
    ? {}
    : { longContext: { ...price.longContext, usdPerMillionTokens: tokens(price.longContext.usdPerMillionTokens) } })
})

const checked = (model: string, price: Price | "reported"): Price | "reported" => {
  if (price !== "reported") Budget.make({ prices: { [model]: price } })
  return price
}

/** The known prices of a provider: pages with prices, or `reported` if each reply states its cost. */
export type Listed = ReadonlyArray<Page> | "reported"

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** The prices of a model whose prompts above 272,000 tokens cost double; their output costs 1.5 times as much. */
const doubled = (input: number, output: number, cachedInput: number, cacheWrite = input): Row => ({
  usual: [input, output, cachedInput, cacheWrite],
  over: 272_000,
  long: [2 * input, 1.5 * output, 2 * cachedInput, 2 * cacheWrite]
})

/**
 * The price factors of OpenAI's fast mode, called `priority` until 2026-07-30: 2.5 for GPT-5.5, else 2 (openai.com/api-fast-mode, looked up
 * on 2026-11-26). For GPT-6, which that page does not have, 2 is what developers.openai.com says of GPT-6.1 Sol, as quoted in the release
 * 0.4.7 of Codex-Manager. For GPT-4.1 and GPT-5 mini the page has 1.75 and 1.8; they get 2, so that a limit of cost holds.
 */
const fast = (model: string): Price["tiers"] => {
  const factor = model === "gpt-5.5" ? 2.5 : 2
  return { fast: factor, priority: factor }
}

export const openAi: ReadonlyArray<Page> = [
  {
    // quoted from this page by litellm#42523, and by the releases of TokenMeter 0.17, PromptFuel 1.0.24 and codexometer 0.18.4
    source: "https://developers.openai.com/api/docs/pricing",
    asOf: "2026-11-26",
    usdPerItem: { web_search_call: 0.01 },
    tiers: fast,
    models: {
      "gpt-6.2-astra": doubled(8, 40, 0.4, 10),
      "gpt-6.2-sol": doubled(2, 10, 0.1, 2.5),
      "gpt-6.1-sol": doubled(2, 10, 0.1, 2.5),
      "gpt-6.1-terra": doubled(1, 5, 0.05, 1.25),
      "gpt-6-astra": doubled(10, 50, 1, 12.5),
      "gpt-6-sol": doubled(2, 10, 0.2, 2.5),
      "gpt-6-luna": doubled(0.1, 0.5, 0.01, 0.125),
      "gpt-5.6": doubled(4, 20, 0.4, 5),
      "gpt-5.6-sol": doubled(4, 20, 0.4, 5),
      "gpt-5.6-terra": doubled(2, 12, 0.2, 2.5),
      "gpt-5.6-luna": doubled(0.2, 1.2, 0.02, 0.25),
      "gpt-5.5": doubled(5, 30, 0.5),
      "gpt-5.4": doubled(2.5, 15, 0.25),
      "gpt-5.4-mini": [0.75, 4.5, 0.075],
      "gpt-5.4-nano": [0.2, 1.25, 0.02]
    }
  },
  {
    source: "https://github.com/github/docs/blob/main/data/tables/copilot/models-and-pricing.yml",
    asOf: "2026-11-26",
    usdPerItem: { web_search_call: 0.01 },
    tiers: fast,
    models: {
      "gpt-5.2": [1.75, 14, 0.175],
      "gpt-5-mini": [0.25, 2, 0.025],
      "gpt-4.1": [2, 8, 0.5]
    }
  }
]

/**
 * The price factor of Claude's fast mode: 6 for Opus 4.6 and 4.7, the first models with it, else 2 (platform.claude.com, "Fast mode",
 * quoted by openrouter.ai and docs.litellm.ai, read on 2026-11-26). The codec reports the fast mode as the service tier `fast`, see its
 * `factsIn`.
 */
const fastClaude = (model: string): Price["tiers"] => ({ fast: /opus-4-[67]/.test(model) ? 6 : 2 })

export const anthropic: ReadonlyArray<Page> = [
  {
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    asOf: "2026-11-26",
    usdPerItem: { web_search_tool_result: 0.01 },
    tiers: fastClaude,
    models: {
      "claude-fable-5-1": [10, 50, 0.25, 12.5],
      "claude-fable-5": [10, 50, 1, 12.5],
      "claude-mythos-5-1": [10, 50, 0.25, 12.5],
      "claude-mythos-5": [10, 50, 1, 12.5],
      "claude-opus-5-5": [4, 20, 0.2, 5],
      "claude-opus-5": [5, 25, 0.5, 6.25],
      "claude-opus-4-8": [5, 25, 0.5, 6.25],
      "claude-opus-4-7": [5, 25, 0.5, 6.25],
      "claude-opus-4-6": [5, 25, 0.5, 6.25],
      "claude-opus-4-5": [5, 25, 0.5, 6.25],
      "claude-sonnet-5-5": [2, 10, 0.1, 2.5],
      "claude-sonnet-5": [2, 10, 0.2, 2.5],
      "claude-sonnet-4-6": [3, 15, 0.3, 3.75],
      "claude-sonnet-4-5": [3, 15, 0.3, 3.75],
      "claude-haiku-5-5": {
        usual: [0.1, 0.5, 0.01, 0.125],
        over: 100_000,
        long: [0.5, 2.5, 0.05, 0.625]
      },
      "claude-haiku-4-5": [1, 5, 0.1, 1.25]
    }
  }
]

/** The prices of a model that costs more for prompts above 200,000 tokens. */
const longPrompt = (usual: Tokens, long: Tokens): Row => ({ usual, over: 200_000, long })

export const gemini: ReadonlyArray<Page> = [
  {
    // quoted from this page by TokenMeter 0.17, factquire.com, sim#5812 and litellm#39357; the Flash models 3.6 to 3.8 cost half of these
    // prices until 2026-12-31
    source: "https://ai.google.dev/gemini-api/docs/pricing",
    asOf: "2026-11-26",
    // quotations of ai.google.dev, "Priority inference", have 1.75 or 2; the higher factor keeps a limit of cost
    tiers: () => ({ priority: 2 }),
    models: {
      "gemini-4-neon": [3, 15, 0.15],
      "gemini-4-hydrogen": [1.5, 7.5, 0.075],
      "gemini-3.8-flash": [1.5, 7.5, 0.15],
      "gemini-3.7-flash": [1.5, 7.5, 0.15],
      "gemini-3.6-flash": [1.5, 7.5, 0.15],
      "gemini-3.5-flash": [1.5, 9, 0.15],
      "gemini-3.5-flash-lite": [0.3, 2.5, 0.03],
      "gemini-3.1-pro-preview": longPrompt([2, 12, 0.2], [4, 18, 0.4]),
      "gemini-3.1-flash-lite": [0.25, 1.5, 0.025],
      "gemini-3-flash-preview": [0.5, 3, 0.05],
      "gemini-2.5-pro": longPrompt([1.25, 10, 0.125], [2.5, 15, 0.25]),
      "gemini-2.5-flash": [0.3, 2.5, 0.03],
      "gemini-2.5-flash-lite": [0.1, 0.4, 0.01]
    }
  }
]

/** DeepSeek's prices in the peak hours. At other hours the price is half of it. */
export const deepSeek: ReadonlyArray<Page> = [
  {
    source: "https://api-docs.deepseek.com/quick_start/pricing",
    asOf: "2026-11-26",
    models: { "deepseek-flash": [0.3, 1.2, 0.006], "deepseek-v4-pro": [1.32, 3.96, 0.044] }
  }
]

export const kimi: ReadonlyArray<Page> = [
  {
    // quoted from this page by codeburn#709
    source: "https://platform.kimi.ai/docs/pricing/chat-k3",
    asOf: "2026-11-26",
    models: { "kimi-k3": [3, 15, 0.3] }
  }
]

/** The price of a model on an Ollama server: zero on the user's own server, unknown on `ollama.com`, which charges for tokens. */
export const ofServer = ({ baseUrl, price }: Given, model: string): Price | "reported" | undefined => {
  if (price !== undefined) return checked(model, price)
  return hostOf(baseUrl).endsWith("ollama.com") ? undefined : { usdPerMillionTokens: { input: 0, output: 0 } }
}

/**
 * The price of Claude on Bedrock: Anthropic's price for a `global.` profile, 10 % more for others ("Regional and multi-region endpoints
 * include a 10% premium over global endpoints", on Anthropic's page). The prices of other models differ by region, and are unknown here.
 */
export const ofBedrock = (given: Given, own: string, model: string): Price | "reported" | undefined => {
  const { baseUrl, price } = given
  if (price !== undefined) return checked(model, price)
  // Mutant `"Stryker was here!"` survives: no model has this name
  const [, name = ""] = /(?:^|[./])anthropic\.(claude-[a-z\d-]+?)(?:-v\d+)?(?::\d+)?$/.exec(model) ?? []
  const found = hostOf(baseUrl) === hostOf(own) ? asked(find(anthropic, name), given) : undefined
  // the tier `priority` costs more (aws.amazon.com/bedrock/service-tiers, looked up on 2026-11-26), but how much for Claude is unknown
  if (found === undefined || given.serviceTier === "priority") return undefined
  const factor = /(?:^|\/)global\./.test(model) ? 1 : 1.1
  const tokens = (each: Price["usdPerMillionTokens"]): Price["usdPerMillionTokens"] => ({
    ...each,
    ...Object.fromEntries(Object.entries(each).map(([kind, usd]) => [kind, Number((usd * factor).toFixed(6))]))
  })
  const { usdPerItem: _, ...page } = found
  return mapped(page, tokens)
}
