/** Reads the usage of a response. */
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { tokenCount } from "../tokenCount.ts"

/** The token counts of a response; `undefined` without counts. */
export const usageOf = (response: Schema.Json | undefined): Usage.Usage | undefined => {
  const usage = Json.field(response, "usage")
  if (!Predicate.isObject(usage)) return undefined
  const input = Json.field(usage, "input_tokens_details")
  return {
    inputTokens: tokenCount(Json.field(usage, "input_tokens")) ?? 0,
    outputTokens: tokenCount(Json.field(usage, "output_tokens")) ?? 0,
    cachedInputTokens: tokenCount(Json.field(input, "cached_tokens")) ?? 0,
    cacheWriteTokens: tokenCount(Json.field(input, "cache_write_tokens")) ?? 0,
    reasoningTokens: tokenCount(Json.field(Json.field(usage, "output_tokens_details"), "reasoning_tokens")) ?? 0
  }
}
