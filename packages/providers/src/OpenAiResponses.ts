/** The wire format of OpenAI's responses: the meaning of its errors. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "./Answer.ts"
import * as ResponsesError from "./internal/openAiResponsesError.ts"
import type { Source } from "./Source.ts"

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => ResponsesError.classify(source, answer)

/**
 * The error within the body of a success, or within one event of a stream: an `error` event, with its fields nested or flat, a
 * failed response, one that a content filter cut off, and a refusal. Total; `undefined` when there is none.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ResponsesError.inside(source, answer, json)
