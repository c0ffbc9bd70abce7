/** The wire format of Gemini's `generateContent`: the meaning of its errors. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "./Answer.ts"
import * as ContentError from "./internal/geminiContentError.ts"
import type { Source } from "./Source.ts"

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => ContentError.classify(source, answer)

/**
 * The error within the body of a success, or within one chunk of a stream: an error object, a blocked prompt, a reply that a
 * filter or a malformed tool call ended. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ContentError.inside(source, answer, json)
