/** Reads the usage and the cost of a chat completion. */
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { merged } from "../mergedUsage.ts"
import { tokenCount } from "../tokenCount.ts"
import { dollarsOf } from "../xaiCost.ts"
import * as ChatError from "./error.ts"

/**
 * The token counts at the top of a body, or in its choice; `undefined` without counts. A zero does not override a
 * count of `before`.
 *
 * xAI does not include reasoning in its output count; the total count shows that. At Azure it does not include cached input in the input
 * count either, which shows only if the cached count is the larger one (recorded answers in `test/fixtures/hosts`).
 */
export const usageOf = (body: Schema.Json, before?: Usage.Usage): Usage.Usage | undefined => {
  const usage = [Json.field(body, "usage"), Json.field(ChatError.firstChoice(body), "usage")].find(Predicate.isObject)
  if (usage === undefined) return undefined
  const of = (...path: ReadonlyArray<string>) =>
    tokenCount(path.reduce<Schema.Json | undefined>((value, key) => Json.field(value, key), usage))
  const input = of("prompt_tokens") ?? 0
  const output = of("completion_tokens") ?? 0
  const cached =
    of("prompt_tokens_details", "cached_tokens") ?? of("cached_tokens") ?? of("prompt_cache_hit_tokens") ?? 0
  const reasoning = of("completion_tokens_details", "reasoning_tokens") ?? 0
  const isReasoningBeside = of("total_tokens") === input + output + reasoning
  return merged(before, {
    inputTokens: cached > input ? input + cached : input,
    outputTokens: isReasoningBeside ? output + reasoning : output,
    cachedInputTokens: cached,
    cacheWriteTokens: of("prompt_tokens_details", "cache_write_tokens") ?? 0,
    reasoningTokens: reasoning
  })
}

/**
 * The cost of a reply as its server reports it: in OpenRouter's credits, or in dollars for Perplexity and xAI. For a request with your own
 * provider key (`is_byok`), `cost` is only OpenRouter's charge, and the provider's charge is in another field (openrouter.ai/docs, "Usage
 * Accounting", looked up on 2026-11-26; for other keys both are the same amount: release 3.0.4 of ORO-AI/oro).
 */
export const costOf = (body: Schema.Json): { readonly cost?: number } => {
  const usage = Json.field(body, "usage")
  const cost = Json.field(usage, "cost")
  const amount = Json.count(cost) ?? Json.count(Json.field(cost, "total_cost")) ?? dollarsOf(usage)
  const beside =
    Json.field(usage, "is_byok") === true
      ? Json.count(Json.field(Json.field(usage, "cost_details"), "upstream_inference_cost"))
      : 0
  return amount === undefined || beside === undefined ? {} : { cost: amount + beside }
}
