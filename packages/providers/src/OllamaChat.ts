/** The wire format of Ollama's own chat: the meaning of its errors. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "./Answer.ts"
import * as OllamaError from "./internal/ollamaChatError.ts"
import type { Source } from "./Source.ts"

/** The error of an answer that is no success, whatever its body holds; total. */
export const classify = (source: Source, answer: Answer): LlmError => OllamaError.classify(source, answer)

/** The error within the body of a success, or within one line of a stream. Total; `undefined` when there is none. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  OllamaError.inside(source, answer, json)
