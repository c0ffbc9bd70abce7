/** The limit of a shared budget in whole numbers, and the amounts of its calls. */
import * as Budget from "@kintsugi/core/Budget"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** The limit of a shared budget. It says how calls reserve, too. */
export type SharedLimit = (
  | {
      /** The most tokens of all requests and replies in a period. */
      readonly tokens: number
      readonly cost?: never
      readonly prices?: never
    }
  | {
      /** What all requests and replies may cost in a period, in US dollars. */
      readonly cost: number
      readonly tokens?: never
      /** What models cost, by their names; before the prices that the layers of the providers know. `*` is the price of all others. */
      readonly prices?: Readonly<Record<string, Budget.Price>>
    }
) & {
  /**
   * Whose budget it is. Calls with the same key share a budget, in all processes. An effect is run for each call, so it can read the tenant
   * of a request that your backend serves.
   */
  readonly key: string | Effect.Effect<string>
  /** The length of a period, at whose end the budget is full again; `1 day` begins at midnight UTC. By default there is one period for ever. */
  readonly per?: Duration.Input
  /**
   * What a call reserves, in tokens or US dollars. By default: one token for 4 characters of the request and 4,096 tokens for the reply; or
   * what they cost at most. `outputTokens` is another length of the reply.
   */
  readonly reserve?: number | { readonly outputTokens: number }
  /**
   * After how long a reservation counts as that of a dead process; 10 minutes by default. It expires after one to two leases. Take more than
   * the longest call lasts.
   */
  readonly lease?: Duration.Input
}

/** A limit whose amounts are whole numbers: `scale` of them are one token or dollar. */
export interface Terms {
  readonly key: Effect.Effect<string>
  readonly unit: "tokens" | "cost"
  readonly limit: number
  readonly scale: number
  readonly per: number
  readonly lease: number
  readonly prices: Readonly<Record<string, Budget.Price>> | undefined
  readonly reserve: NonNullable<SharedLimit["reserve"]>
}

export const termsOf = ({ cost, key, lease = "10 minutes", per, prices, reserve, tokens }: SharedLimit): Terms => {
  const [unit, limit, scale] = tokens === undefined ? (["cost", cost, 1e9] as const) : (["tokens", tokens, 1] as const)
  if (tokens !== undefined && cost !== undefined) {
    throw new RangeError("SharedBudget: a limit has tokens or cost, not both; make a budget of each")
  }
  amountOf(unit, limit, scale)
  if (prices !== undefined) Budget.make({ prices })
  if (Predicate.isNumber(reserve)) amountOf("reserve", reserve, scale)
  else if (reserve !== undefined && !Predicate.isObject(reserve)) {
    throw new RangeError(`SharedBudget: reserve must be a number or { outputTokens }, got ${String(reserve)}`)
  }
  const { outputTokens } = Predicate.isObject(reserve) ? reserve : { outputTokens: 4096 }
  amountOf("outputTokens", outputTokens, 1)
  return {
    key: Predicate.isString(key) ? Effect.succeed(key) : key,
    unit,
    limit: Math.round(limit * scale),
    scale,
    per: per === undefined ? 0 : millisOf("per", per),
    lease: millisOf("lease", lease),
    prices,
    reserve: reserve ?? { outputTokens }
  }
}

const amountOf = (name: string, given: number, scale: number): void => {
  const amount = Math.round(given * scale)
  if (amount >= 1 && Number.isSafeInteger(amount) && (scale > 1 || Number.isSafeInteger(given))) return
  const what =
    scale > 1 ? "at least a billionth of a US dollar, and below 9 million" : "a whole number of tokens of at least 1"
  throw new RangeError(`SharedBudget: ${name} must be ${what}, got ${String(given)}`)
}

const millisOf = (name: string, given: Duration.Input): number => {
  const millis = Option.match(Duration.fromInput(given), { onNone: () => 0, onSome: Duration.toMillis })
  if (Number.isSafeInteger(millis) && millis >= 1) return millis
  throw new RangeError(`SharedBudget: ${name} must be a duration of whole milliseconds, got ${String(given)}`)
}

/** The start of the period at a time. */
export const sinceOf = (at: number, per: number): number => (per === 0 ? 0 : Math.floor(at / per) * per)

/** What a call has used, as its reply or its error reports it. */
export type Counted = { readonly usage: Usage.Usage } & Partial<Message.Reply>

export const nothing: Counted = { usage: Usage.empty, cost: 0 }

/** What a call reserves; `undefined` if that depends on an unknown price. */
export const amountBefore = (terms: Terms, request: Model.Request, model: Model.Service): number | undefined => {
  const { reserve, scale, unit } = terms
  const price = priceOf(terms, model)
  if (Predicate.isNumber(reserve)) {
    return unit === "cost" && price === undefined ? undefined : Math.round(reserve * scale)
  }
  const { outputTokens } = reserve
  const inputTokens = tokensOf(request)
  if (unit === "tokens") return inputTokens + outputTokens
  return price === undefined || price === "reported"
    ? undefined
    : Math.ceil(mostOf(price, inputTokens, outputTokens) * scale)
}

/** About how many tokens a request has: one for 4 characters of its JSON, and 1,000 for a picture or file. */
const tokensOf = ({ messages, output, tools }: Model.Request): number => {
  const texts = messages.map((message) => {
    if (message.role === "user") return message.content.map(shortened)
    if (message.role !== "assistant") return message
    return message.content.map((part) =>
      part.type === "settled-call" && part.settlement.parts !== undefined
        ? { ...part, settlement: { ...part.settlement, parts: part.settlement.parts.map(shortened) } }
        : part
    )
  })
  return Math.ceil(JSON.stringify([texts, tools, output]).length / 4)
}

/** A part whose bytes are replaced by what they count. */
const shortened = (part: { readonly type: string; readonly text?: string }) =>
  part.type === "text" ? part.text : "x".repeat(4000)

/** The highest cost of so many tokens: in the dearest tier, whether the provider reads, writes or has no cache. */
const mostOf = (price: Budget.Price, inputTokens: number, outputTokens: number): number => {
  const usage = Usage.make({ inputTokens, outputTokens })
  const usages = [usage, { ...usage, cachedInputTokens: inputTokens }, { ...usage, cacheWriteTokens: inputTokens }]
  const tiers = ["*", ...Object.keys(price.tiers ?? {})]
  return Math.max(...usages.flatMap((one) => tiers.map((tier) => Budget.costOf(price, one, tier))))
}

/** What a call has used; `undefined` if its reply does not say it, or says no amount. */
export const amountAfter = (terms: Terms, counted: Counted, model: Model.Service): number | undefined => {
  const { cost, usage } = counted
  const isSound = Usage.isSound(usage)
  if (terms.unit === "tokens") return isSound ? amountIn(usage.inputTokens + usage.outputTokens, 1) : undefined
  const price = priceOf(terms, model)
  if (cost !== undefined || !isSound || typeof price !== "object") return amountIn(cost, terms.scale)
  const ofItems = (counted.content ?? []).map((part) =>
    part.type === "provider-item" && Object.hasOwn(price.usdPerItem ?? {}, part.kind)
      ? price.usdPerItem?.[part.kind]
      : 0
  )
  const paid = ofItems.reduce((sum: number, one = 0) => sum + one, Budget.costOf(price, usage, counted.serviceTier))
  return amountIn(paid, terms.scale)
}

/** A whole number of at least 0; `undefined` for what is none. */
const amountIn = (given: unknown, scale: number): number | undefined => {
  const amount = Predicate.isNumber(given) ? Math.round(given * scale) : -1
  return amount >= 0 && Number.isSafeInteger(amount) ? amount : undefined
}

const priceOf = ({ prices }: Terms, { name, price }: Model.Service): Model.Service["price"] =>
  prices !== undefined && Object.hasOwn(prices, name) ? prices[name] : (price ?? prices?.["*"])
