/** What the errors of Gemini's `generateContent` are called, and which of its endings are errors. */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Answer } from "../Answer.ts"
import * as Classify from "../Classify.ts"
import type { Codes } from "../Report.ts"
import type { Source } from "../Source.ts"
import * as ErrorBody from "./errorBody.ts"
import { dailyQuota } from "./errorDetails.ts"
import * as Json from "./json.ts"

/** Reasons, then the names of statuses. A wrong key comes with status 400 and a name that says nothing of keys. */
export const codes: Codes = {
  [dailyQuota]: "QuotaExhaustedError",
  api_key_invalid: "AuthenticationError",
  unauthenticated: "AuthenticationError",
  permission_denied: "AuthenticationError",
  not_found: "ModelNotFoundError",
  resource_exhausted: "RateLimitError",
  unavailable: "ModelOverloadedError",
  deadline_exceeded: "RequestTimeoutError"
}

/** The reasons for which a reply ends without being one. A limit, or `OTHER`, is an end of a reply like any other. */
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
  unexpected_tool_call: "MalformedToolCallError"
}

const format: ErrorBody.Format = { codes, read: ErrorBody.reportOf }

export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/** An error chunk, a prompt that was blocked, a reply that ended for one of `endings`; a list of chunks is searched. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined => {
  for (const chunk of Array.isArray(json) ? Json.items(json) : [json]) {
    const error =
      ErrorBody.inside(format, source, answer, chunk) ??
      blocked(source, answer, Json.field(chunk, "promptFeedback")) ??
      ended(source, answer, Json.items(Json.field(chunk, "candidates"))[0])
    if (error !== undefined) return error
  }
  return undefined
}

/** Whatever it was blocked for, there are no candidates then. */
const blocked = (source: Source, answer: Answer, feedback: Schema.Json | undefined): LlmError | undefined => {
  const reason = Json.text(Json.field(feedback, "blockReason"))
  if (reason === undefined) return undefined
  const text = Json.text(Json.field(feedback, "blockReasonMessage")) ?? `the prompt was blocked: ${reason}`
  return Classify.failure(source, answer, { codes: ["blocked"], text }, { blocked: "ContentFilteredError" })
}

const ended = (source: Source, answer: Answer, candidate: Schema.Json | undefined): LlmError | undefined => {
  const reason = Json.text(Json.field(candidate, "finishReason"))
  if (reason === undefined || !Object.hasOwn(endings, reason.toLowerCase())) return undefined
  const text = Json.text(Json.field(candidate, "finishMessage")) ?? `the reply ended with ${reason}`
  const tool = toolOf(candidate, text)
  return Classify.failure(source, answer, { codes: [reason], text, ...(tool === undefined ? {} : { tool }) }, endings)
}

/** The call that was made all the same, else the name within the quoted code. */
const toolOf = (candidate: Schema.Json | undefined, text: string): string | undefined => {
  const made = Json.items(Json.field(Json.field(candidate, "content"), "parts"))
    .map((part) => Json.text(Json.field(Json.field(part, "functionCall"), "name")))
    .find(Predicate.isNotUndefined)
  return made ?? /\bdefault_api\.(\w{1,128})/.exec(text)?.[1]
}
