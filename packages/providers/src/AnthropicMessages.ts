/** The wire format of Anthropic's Messages: the meaning of its errors. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "./Answer.ts"
import * as MessagesError from "./internal/anthropicMessagesError.ts"
import type { Source } from "./Source.ts"

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => MessagesError.classify(source, answer)

/**
 * The error within the body of a success, or within one event of a stream: an `error` event, which may be the very first one,
 * and a refusal. A full context window is no error: it ends a reply with usable text. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  MessagesError.inside(source, answer, json)
