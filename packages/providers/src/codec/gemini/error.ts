/** Finds the errors in bodies and chunks of Gemini's `generateContent`, and in finish reasons. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Codes, Report } from "../../classify/Report.ts"
import type { Source } from "../../transport/Source.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import * as Rejected from "./rejected.ts"
import { usageOf } from "./usage.ts"
import * as Json from "../../transport/Json.ts"
import { codes } from "../geminiErrorCodes.ts"

/** The finish reasons that are errors. The limit of tokens, and `OTHER`, end a reply without an error. */
const endings: Codes = {
  safety: "ContentFilteredError",
  recitation: "ContentFilteredError",
  language: "ContentFilteredError",
  blocklist: "ContentFilteredError",
  prohibited_content: "ContentFilteredError",
  spii: "ContentFilteredError",
  model_armor: "ContentFilteredError",
  image_safety: "ContentFilteredError",
  image_prohibited_content: "ContentFilteredError",
  image_recitation: "ContentFilteredError",
  malformed_function_call: "MalformedToolCallError",
  unexpected_tool_call: "MalformedToolCallError",
  missing_thought_signature: "InvalidRequestError",
  malformed_response: "ServerError"
}

const format: ErrorBody.Format = { codes, read: ErrorBody.reportOf }

export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/** What the earlier chunks of a stream contained. */
export interface Seen {
  readonly usage?: Usage.Usage | undefined
  /** The first call in the earlier chunks. */
  readonly call?: Rejected.Rejected | undefined
}

/**
 * Finds the error of a chunk: an error object, a blocked prompt, or a finish reason of `endings`. In a list of chunks, it is the first
 * error.
 */
export const inside = (source: Source, answer: Answer, json: Schema.Json, seen: Seen = {}): LlmError | undefined => {
  for (const chunk of Array.isArray(json) ? Json.items(json) : [json]) {
    const used = { usage: usageOf(chunk) ?? seen.usage }
    const error =
      ErrorBody.inside({ codes, read: (json) => adding(ErrorBody.reportOf(json), used) }, source, answer, chunk) ??
      blocked(source, answer, Json.field(chunk, "promptFeedback"), used) ??
      ended(source, answer, Json.items(Json.field(chunk, "candidates"))[0], used, seen.call)
    if (error !== undefined) return error
  }
  return undefined
}

type Used = Pick<Report, "usage">

const adding = (report: Report | undefined, used: Used): Report | undefined =>
  report === undefined ? undefined : { ...report, ...used }

/** The error of a blocked prompt. The answer to such a prompt has no candidates. */
const blocked = (
  source: Source,
  answer: Answer,
  feedback: Schema.Json | undefined,
  used: Used
): LlmError | undefined => {
  const reason = Json.text(Json.field(feedback, "blockReason"))
  if (reason === undefined) return undefined
  const text = Json.text(Json.field(feedback, "blockReasonMessage")) ?? `the prompt was blocked: ${reason}`
  return Classify.failure(source, answer, { codes: ["blocked"], text, ...used }, { blocked: "ContentFilteredError" })
}

const ended = (
  source: Source,
  answer: Answer,
  candidate: Schema.Json | undefined,
  used: Used,
  before: Rejected.Rejected | undefined
): LlmError | undefined => {
  const reason = Json.text(Json.field(candidate, "finishReason"))
  if (reason === undefined || !Object.hasOwn(endings, reason.toLowerCase())) return undefined
  const text = Json.text(Json.field(candidate, "finishMessage")) ?? `the reply ended with ${reason}`
  const parts = Json.items(Json.field(Json.field(candidate, "content"), "parts"))
  const call = before ?? Rejected.made(parts) ?? Rejected.quoted(text)
  return Classify.failure(source, answer, { codes: [reason], text, ...used, ...call }, endings)
}
