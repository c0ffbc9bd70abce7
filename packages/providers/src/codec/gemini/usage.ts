/** What an answer of Gemini used up. */
import type * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { kept } from "../countsKept.ts"
import * as Json from "../../transport/Json.ts"
import { tokenCount } from "../tokenCount.ts"

/**
 * The counts of a body or a chunk; `undefined` where none are told. The prompt includes what tools on Gemini's side put into
 * it; its candidates are counted without the thoughts. A zero says nothing of what was counted `before`.
 */
export const usageOf = (body: Schema.Json, before?: Usage.Usage): Usage.Usage | undefined => {
  const usage = Json.field(body, "usageMetadata")
  if (!Predicate.isObject(usage)) return undefined
  const of = (key: string) => tokenCount(Json.field(usage, key)) ?? 0
  return kept(before, {
    inputTokens: of("promptTokenCount") + of("toolUsePromptTokenCount"),
    outputTokens: of("candidatesTokenCount") + of("thoughtsTokenCount"),
    cachedInputTokens: of("cachedContentTokenCount"),
    cacheWriteTokens: 0,
    reasoningTokens: of("thoughtsTokenCount")
  })
}
