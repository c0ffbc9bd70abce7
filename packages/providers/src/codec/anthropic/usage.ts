/** Reads Anthropic's token counts. They count the prompt without the tokens that were read from the cache or written to it. */
import * as Usage from "@kintsugi/core/Usage"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import { tokenCount } from "../tokenCount.ts"

/** The token counts of a message so far. Later counts include earlier ones. */
export type Counts = Readonly<Record<(typeof names)[number], number | undefined>>

const names = ["input", "cached", "written", "output", "thought"] as const

/** The token counts of a `usage` object. A count that is absent or zero is taken from `before`. */
export const read = (usage: Schema.Json | undefined, before?: Counts): Counts => {
  const later = (count: number | undefined, name: keyof Counts) =>
    count === undefined || count === 0 ? (before?.[name] ?? count) : count
  const of = (key: string, name: keyof Counts) => later(tokenCount(Json.field(usage, key)), name)
  return {
    input: of("input_tokens", "input"),
    cached: of("cache_read_input_tokens", "cached"),
    written: of("cache_creation_input_tokens", "written"),
    // An output count at the end replaces the first one, which is an estimate.
    output: tokenCount(Json.field(usage, "output_tokens")) ?? before?.output,
    thought: later(tokenCount(Json.field(Json.field(usage, "output_tokens_details"), "thinking_tokens")), "thought")
  }
}

/** Makes the usage of this library, whose input is the whole prompt; `undefined` if there are no counts. */
export const toUsage = (counts: Counts | undefined): Usage.Usage | undefined => {
  if (counts === undefined || names.every((name) => counts[name] === undefined)) return undefined
  const { cached = 0, input = 0, output = 0, thought = 0, written = 0 } = counts
  return Usage.make({
    inputTokens: input + cached + written,
    outputTokens: output,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: thought
  })
}
