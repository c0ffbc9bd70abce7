/** Reads Gemini's token counts. */
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { merged } from "../mergedUsage.ts"
import * as Json from "../../transport/Json.ts"
import { tokenCount } from "../tokenCount.ts"

/**
 * The usage in a body or a chunk; `undefined` if it has none. The input includes that of tools which Gemini runs, and the output includes
 * thoughts. A zero does not override a count of `before`.
 */
export const usageOf = (body: Schema.Json, before?: Usage.Usage): Usage.Usage | undefined => {
  const usage = Json.field(body, "usageMetadata")
  if (!Predicate.isObject(usage)) return undefined
  const of = (key: string) => tokenCount(Json.field(usage, key)) ?? 0
  return merged(before, {
    inputTokens: of("promptTokenCount") + of("toolUsePromptTokenCount"),
    outputTokens: of("candidatesTokenCount") + of("thoughtsTokenCount"),
    cachedInputTokens: of("cachedContentTokenCount"),
    cacheWriteTokens: 0,
    reasoningTokens: of("thoughtsTokenCount")
  })
}
