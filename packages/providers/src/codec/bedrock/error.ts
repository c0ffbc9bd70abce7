/** Finds the errors in bodies and events of Converse, and in stop reasons. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type { Usage } from "@kintsugi/core/Usage"
import type * as Schema from "effect/Schema"
import * as Classify from "../../classify/Classify.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import type { Codes, Report } from "../../classify/Report.ts"
import type { Answer } from "../../transport/Answer.ts"
import * as Json from "../../transport/Json.ts"
import type { Source } from "../../transport/Source.ts"

/**
 * The errors by the names of exceptions (those of Converse and the common errors of docs.aws.amazon.com/bedrock, looked up on 2026-11-26).
 * `ValidationException` is absent: it has many reasons, and its text names the reason.
 */
const codes: Codes = {
  accessdeniedexception: "AuthenticationError",
  expiredtokenexception: "AuthenticationError",
  incompletesignatureexception: "AuthenticationError",
  invalidsignatureexception: "AuthenticationError",
  missingauthenticationtokenexception: "AuthenticationError",
  unrecognizedclientexception: "AuthenticationError",
  internalfailure: "ServerError",
  internalserverexception: "ServerError",
  modelerrorexception: "ServerError",
  modelstreamerrorexception: "ServerError",
  modelnotreadyexception: "ModelOverloadedError",
  serviceunavailableexception: "ModelOverloadedError",
  modeltimeoutexception: "RequestTimeoutError",
  resourcenotfoundexception: "ModelNotFoundError",
  servicequotaexceededexception: "QuotaExhaustedError",
  throttlingexception: "RateLimitError",
  unknownoperationexception: "InvalidRequestError"
}

/** The stop reasons that are errors. */
const endings: Codes = {
  content_filtered: "ContentFilteredError",
  guardrail_intervened: "ContentFilteredError",
  malformed_model_output: "ServerError",
  malformed_tool_use: "MalformedToolCallError"
}

/** The statuses of the exceptions in a stream. The status of the stream itself is 200. */
const statuses: Readonly<Record<string, number>> = {
  internalserverexception: 500,
  modelstreamerrorexception: 424,
  serviceunavailableexception: 503,
  throttlingexception: 429,
  validationexception: 400
}

/**
 * Makes the error of an answer. The name of the error is in a header or in the body (smithy.io, "AWS restJson1 protocol", looked up on
 * 2026-11-26).
 */
export const classify = (source: Source, answer: Answer): LlmError => {
  const inHeader = Json.text(answer.headers["x-amzn-errortype"])
  const read = (json: Schema.Json): Report | undefined => {
    const type = inHeader ?? Json.text(Json.field(json, "__type")) ?? Json.text(Json.field(json, "code"))
    const inner = Json.text(Json.field(Json.field(json, "Output"), "__type"))
    return reportOf(json, type ?? inner)
  }
  return ErrorBody.classify({ codes, read }, source, answer)
}

/** The bare name of an exception, without the namespace before it and the URL behind it. */
// Mutant `"Stryker was here!"` survives: a text that is divided has a first and a last piece
const nameOf = (type: string): string => (type.split(":")[0] ?? "").split("#").at(-1) ?? ""

const reportOf = (json: Schema.Json, type: string | undefined): Report | undefined => {
  const report = ErrorBody.reportOf(json)
  if (report === undefined) return undefined
  // gateways in front of the service write the field `message` as `Message`
  const text = report.text === "" ? (Json.text(Json.field(json, "Message")) ?? "") : report.text
  return { ...report, text, codes: [...(type === undefined ? [] : [nameOf(type)]), ...report.codes] }
}

/** Finds the error in an event of a stream or in a whole body; `undefined` if there is none. `usage` is the usage of the attempt so far. */
export const inside = (source: Source, answer: Answer, json: Schema.Json, usage?: Usage): LlmError | undefined => {
  const used = { usage }
  const error = ErrorBody.inside(
    { codes, read: (body) => withUsage(ErrorBody.reportOf(body), used) },
    source,
    answer,
    json
  )
  if (error !== undefined) return error
  const [name, body] = Object.entries(Json.fields(json)).find(([key]) => /exception$/i.test(key)) ?? []
  if (name !== undefined) {
    const status = statuses[name.toLowerCase()]
    const report = reportOf(body ?? null, name) ?? { codes: [name], text: "" }
    return Classify.failure(source, answer, { ...report, ...(status === undefined ? {} : { status }), ...used }, codes)
  }
  return ended(source, answer, json, used)
}

const withUsage = (report: Report | undefined, used: Pick<Report, "usage">): Report | undefined =>
  report === undefined ? undefined : { ...report, ...used }

const ended = (
  source: Source,
  answer: Answer,
  json: Schema.Json,
  used: Pick<Report, "usage">
): LlmError | undefined => {
  const reason = Json.text(Json.field(Json.field(json, "messageStop") ?? json, "stopReason"))
  // Mutant `false` for `reason === undefined` survives: no ending has this name
  if (reason === undefined || !Object.hasOwn(endings, reason)) return undefined
  // the text with which a guardrail has replaced the reply
  const content = Json.items(Json.field(Json.field(Json.field(json, "output"), "message"), "content"))
  const said = content.flatMap((block) => Json.text(Json.field(block, "text")) ?? []).join("\n")
  const text = said === "" ? `the reply ended with ${reason}` : said
  return Classify.failure(source, answer, { codes: [reason], text, ...used }, endings)
}
