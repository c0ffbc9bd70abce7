/** Reads the usage and the cost of a response. */
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { tokenCount } from "../tokenCount.ts"
import { dollarsOf } from "../xaiCost.ts"

/** The usage of a response; `undefined` if it states none. */
export const usageOf = (response: Schema.Json | undefined): Usage.Usage | undefined => {
  const usage = Json.field(response, "usage")
  if (!Predicate.isObject(usage)) return undefined
  const input = Json.field(usage, "input_tokens_details")
  // the count under OpenAI's name, or under Perplexity's
  const of = (name: string, other: string) =>
    tokenCount(Json.field(input, name)) ?? tokenCount(Json.field(input, other)) ?? 0
  return {
    inputTokens: tokenCount(Json.field(usage, "input_tokens")) ?? 0,
    outputTokens: tokenCount(Json.field(usage, "output_tokens")) ?? 0,
    cachedInputTokens: of("cached_tokens", "cache_read_input_tokens"),
    cacheWriteTokens: of("cache_write_tokens", "cache_creation_input_tokens"),
    reasoningTokens: tokenCount(Json.field(Json.field(usage, "output_tokens_details"), "reasoning_tokens")) ?? 0
  }
}

/** The cost of a response in dollars, if its server reports one, as Perplexity and xAI do. */
export const costOf = (response: Schema.Json | undefined): { readonly cost?: number } => {
  const usage = Json.field(response, "usage")
  const cost = Json.count(Json.field(Json.field(usage, "cost"), "total_cost")) ?? dollarsOf(usage)
  return cost === undefined ? {} : { cost }
}
