/** Finds the errors in bodies and events of Anthropic's Messages. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import * as Usage from "./usage.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import * as Json from "../../transport/Json.ts"
import { codes } from "../anthropicErrorCodes.ts"

const format: ErrorBody.Format = { codes, read: ErrorBody.reportOf }

export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/**
 * Finds the error of an `error` event, which may come at any point of a stream, or of a refused message; `undefined` if there is none.
 * `usage` is the usage of the attempt so far; a whole message has its own.
 */
export const inside = (
  source: Source,
  answer: Answer,
  json: Schema.Json,
  usage = Usage.toUsage(Json.field(json, "type") === "message" ? Usage.read(Json.field(json, "usage")) : undefined)
): LlmError | undefined => {
  const used = { usage }
  const read = (json: Schema.Json) => {
    const report = ErrorBody.reportOf(json)
    // Mutant `false` survives: what holds an error has a report
    return report === undefined ? undefined : { ...report, ...used }
  }
  const error = ErrorBody.inside({ codes, read }, source, answer, json)
  if (error !== undefined) return error
  if (Json.field(json, "type") === "error") {
    return Classify.failure(source, answer, { codes: ["api_error"], text: "", ...used }, codes)
  }
  const end = [json, Json.field(json, "delta")].find((end) => Json.field(end, "stop_reason") === "refusal")
  if (end === undefined) return undefined
  const text = Json.text(Json.field(Json.field(end, "stop_details"), "explanation")) ?? ""
  return Classify.failure(source, answer, { codes: ["refusal"], text, ...used }, { refusal: "ContentFilteredError" })
}
