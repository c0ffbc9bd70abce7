/** Marks of OpenAI's prompt cache (developers.openai.com/api/docs/guides/prompt-caching, looked up on 2026-11-26). */
import type * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"
import type { ChatParameters } from "./Parameters.ts"

/** The field that marks a block: the provider caches the prompt up to the end of this block. */
export const breakpoint = { prompt_cache_breakpoint: { mode: "explicit" } } as const

/** Whether the options ask for a cache mark behind the instructions. */
export const isMarked = (cache: ChatParameters["promptCache"]): boolean =>
  cache?.breakpoints?.includes("system") === true

/** Whether this is a retention time, which only models before GPT-5.6 take. Later models take the least time of a mark, such as `30m`. */
export const isRetention = (ttl: string | undefined): boolean => ttl === "in_memory" || ttl === "24h"

/** The fields of a body for the key and the time of a cache. */
export const cacheFields = (
  cache: ChatParameters["promptCache"]
): Readonly<Record<string, Schema.Json | undefined>> => ({
  prompt_cache_key: cache?.key,
  ...(isRetention(cache?.ttl)
    ? { prompt_cache_retention: cache?.ttl }
    : { prompt_cache_options: cache?.ttl === undefined ? undefined : { ttl: cache.ttl } })
})

/** The index of the last system message before the conversation; -1 if there is none or its text is empty. */
export const lastInstruction = (transcript: Message.Transcript): number => {
  const first = transcript.findIndex(({ role }) => role !== "system")
  const at = (first === -1 ? transcript.length : first) - 1
  const message = transcript[at]
  return message?.role === "system" && message.text !== "" ? at : -1
}
