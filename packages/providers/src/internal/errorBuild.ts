/** Makes the error of a tag, with everything that is known of the answer. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Duration from "effect/Duration"
import type { Answer } from "../Answer.ts"
import type { Report, Tag } from "../Report.ts"
import { quote, type Source } from "../Source.ts"
import * as ErrorText from "./errorText.ts"

/** What every error says of its origin. */
export interface Facts {
  readonly provider: string
  readonly status: number
  readonly requestId?: string
  readonly retryAfter?: Duration.Duration
  readonly detail?: string
}

export interface Known {
  readonly source: Source
  readonly report: Report
  /** The provider's words, fit to be quoted. */
  readonly text: string
  readonly answer: Answer
  readonly facts: Facts
}

export const build = (tag: Tag, known: Known): LlmError.LlmError => {
  const { answer, facts, report, source } = known
  const of = (what: string) => ({ ...facts, model: source.model, message: sentence(what, known) })
  switch (tag) {
    case "ModelNotFoundError":
      return new LlmError.ModelNotFoundError(of(`Model '${source.model}' was not found`))
    case "AuthenticationError":
      return new LlmError.AuthenticationError(of(`Authentication failed for model '${source.model}'`))
    case "ContentFilteredError":
      return new LlmError.ContentFilteredError(of(`Model '${source.model}' filtered the content`))
    case "InvalidRequestError":
      return new LlmError.InvalidRequestError(of(`Model '${source.model}' refused the request`))
    case "ModelOverloadedError":
      return new LlmError.ModelOverloadedError(of(`Model '${source.model}' is overloaded`))
    case "ContextTooLongError":
      return new LlmError.ContextTooLongError({
        ...of(`The conversation is too long for model '${source.model}'`),
        ...ErrorText.sizes(report.text)
      })
    case "ServerError":
      return new LlmError.ServerError(of(`The server of model '${source.model}' failed`))
    case "MalformedToolCallError":
      return new LlmError.MalformedToolCallError({
        ...of(`Model '${source.model}' wrote a malformed tool call`),
        tool: quote(source, report.tool ?? "")
      })
    case "CapabilityMismatchError":
      return new LlmError.CapabilityMismatchError({
        ...of(`Model '${source.model}' of ${source.provider} cannot do what was asked`),
        capability: ErrorText.capabilityOf(report) ?? "tools"
      })
    case "RateLimitError":
      return new LlmError.RateLimitError({
        ...facts,
        message: sentence(`'${source.provider}' limits the rate of requests`, known),
        service: source.provider,
        ...remainingQuota(answer)
      })
    case "QuotaExhaustedError": {
      // the wait is advice here, and no hint: waiting buys no credit
      const { retryAfter, ...rest } = of(`The quota for model '${source.model}' is used up`)
      return new LlmError.QuotaExhaustedError({ ...rest, resetAfter: retryAfter ?? Duration.minutes(5) })
    }
    case "NetworkError":
      return new LlmError.NetworkError({
        ...facts,
        message: sentence("The connection failed", known),
        host: source.provider
      })
    case "RequestTimeoutError":
      return new LlmError.RequestTimeoutError({
        ...facts,
        message: sentence(`The server of model '${source.model}' took too long`, known),
        operation: `a call of model '${source.model}'`,
        timeout: answer.elapsed
      })
    case "UnknownLlmError":
      return new LlmError.UnknownLlmError({
        ...of(`Model '${source.model}' failed in an unknown way`),
        cause: { name: quote(source, report.codes[0] ?? "Error"), message: known.text }
      })
  }
}

const sentence = (what: string, { facts, text }: Known): string => {
  const origin = `${facts.provider}, status ${facts.status}`
  return text === "" ? `${what} (${origin})` : `${what} (${origin}): ${text}`
}

const remainingQuota = ({ headers }: Answer): { readonly remainingQuota?: number } => {
  const remaining = Number(headers["x-ratelimit-remaining-requests"] ?? headers["x-ratelimit-remaining"] ?? Number.NaN)
  return Number.isFinite(remaining) ? { remainingQuota: remaining } : {}
}
