/** Marks of OpenAI's prompt cache (developers.openai.com/api/docs/guides/prompt-caching, looked up on 2026-11-26). */
import type * as Message from "@kintsugi/core/Message"
import type { ChatParameters } from "./Parameters.ts"

/** The field of a block behind which the cache ends. */
export const breakpoint = { prompt_cache_breakpoint: { mode: "explicit" } } as const

/** Whether the options ask for a mark behind the instructions. */
export const isMarked = (cache: ChatParameters["promptCache"]): boolean =>
  cache !== undefined && "breakpoints" in cache && cache.breakpoints.includes("system")

/** The index of the last instruction before the conversation; -1 without one that has a text. */
export const lastInstruction = (transcript: Message.Transcript): number => {
  const first = transcript.findIndex(({ role }) => role !== "system")
  const at = (first === -1 ? transcript.length : first) - 1
  const message = transcript[at]
  return message?.role === "system" && message.text !== "" ? at : -1
}
