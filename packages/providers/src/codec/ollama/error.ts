/** Classifies the errors of Ollama's `/api/chat`, which are texts without a code. */
import type { LlmError } from "@kintsugi/core/LlmError"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import type { Report } from "../../classify/Report.ts"
import type { Source } from "../../transport/Source.ts"
import * as ErrorBody from "../../classify/ErrorBody.ts"
import * as Json from "../../transport/Json.ts"
import { codes } from "../openAiErrorCodes.ts"

/** The format of error bodies. It includes the codes of OpenAI's formats, because servers behind Ollama's cloud may use them. */
const format: ErrorBody.Format = { codes, read: (json) => reportOf(json) }

export const classify = (source: Source, answer: Answer): LlmError => ErrorBody.classify(format, source, answer)

/** Finds the error in a line of a stream. An error after the first token has no status; it is a failure of the runner. */
export const inside = (source: Source, answer: Answer, json: Schema.Json): LlmError | undefined =>
  ErrorBody.inside({ codes, read: runnerReport }, source, answer, json)

const runnerReport = (json: Schema.Json): Report | undefined => {
  const report = reportOf(json)
  return report === undefined ? undefined : { ...report, codes: [...report.codes, "api_error"] }
}

/** Reads an error body. Its text may itself be an error body, from the runner behind the server. */
const reportOf = (json: Schema.Json): Report | undefined => {
  const report = ErrorBody.reportOf(json)
  // Mutant `""` survives: only the quotes go, of an error that is JSON but no object
  if (report === undefined || !report.text.startsWith("{")) return report
  const inner = Json.parse(report.text)
  const runner = Result.isSuccess(inner) ? ErrorBody.reportOf(inner.success) : undefined
  return runner === undefined || runner.text === "" ? report : { ...report, ...runner }
}
