/** Builds the error of a tag from the provider's answer. */
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Usage from "@kintsugi/core/Usage"
import type * as Duration from "effect/Duration"
import type { Answer } from "../transport/Answer.ts"
import * as Hints from "../transport/Hints.ts"
import type { Report, Tag } from "./Report.ts"
import * as Redaction from "@kintsugi/core/Redaction"
import { quote, type Source } from "../transport/Source.ts"
import { dailyQuota } from "./DailyQuota.ts"
import { firewallPage } from "./ownCodes.ts"
import * as ErrorText from "./text.ts"

/** Fields of every model error: request id, status, wait and other facts of the answer. */
export interface Facts {
  readonly provider: string
  readonly status?: number
  readonly requestId?: string
  readonly retryAfter?: Duration.Duration
  readonly shouldRetry?: boolean
  readonly detail?: string
  readonly usage?: Usage.Usage
  readonly cause?: unknown
}

/** Everything about a failure from which `build` makes the error. */
export interface Evidence {
  readonly source: Source
  readonly report: Report
  /** The provider's message, redacted and shortened, so that an error may quote it. */
  readonly text: string
  readonly answer: Answer
  readonly facts: Facts
}

const whatBroke = ({ codes }: Report): string =>
  codes.includes(firewallPage) ? "A firewall or a proxy answered with a page" : "The connection failed"

/** What servers say of a path that they do not have: the message names the URL, because the base URL may be wrong. */
const asked = ({ model }: Source, { status, url }: Answer): { readonly what?: string } => {
  if (url === undefined) return {}
  if (status === 404 || status === 410) return { what: `Model '${model}' was not found at ${quote(url)}` }
  return status === 405 ? { what: `Model '${model}' refused the request to ${quote(url)}` } : {}
}

export const build = (tag: Tag, { answer, facts, report, source, text }: Evidence): LlmError.LlmError => {
  const { model, provider } = source
  switch (tag) {
    case "ModelNotFoundError":
      return LlmError.ModelNotFoundError.make({ model, ...facts, ...asked(source, answer) })
    case "AuthenticationError":
      return LlmError.AuthenticationError.make({ model, detail: text, ...facts })
    case "ContentFilteredError":
      return LlmError.ContentFilteredError.make({
        model,
        detail: text,
        ...facts,
        kind: report.codes.includes("refusal") ? "refusal" : "filter",
        ...(report.filters === undefined || report.filters.length === 0 ? {} : { filters: report.filters })
      })
    case "InvalidRequestError":
      return LlmError.InvalidRequestError.make({ model, detail: text, ...facts, ...asked(source, answer) })
    case "ModelOverloadedError":
      return LlmError.ModelOverloadedError.make({ model, ...facts })
    case "ContextTooLongError": {
      const { actual, limit } = ErrorText.sizes(report.text)
      return LlmError.ContextTooLongError.make({ model, limit, actual, ...facts })
    }
    case "ServerError":
      return LlmError.ServerError.make({ model, ...facts })
    case "MalformedToolCallError": {
      const tool = quote(report.tool ?? "")
      const rawArgs = report.rawArgs === undefined ? {} : { rawArgs: Redaction.own(report.rawArgs) }
      return LlmError.MalformedToolCallError.make({ model, tool, detail: text, ...facts, ...rawArgs })
    }
    case "CapabilityMismatchError": {
      const capability = ErrorText.capabilityOf(report) ?? "other"
      return LlmError.CapabilityMismatchError.make({ ...facts, model, provider, capability })
    }
    case "RateLimitError":
      return LlmError.RateLimitError.make({
        service: provider,
        ...facts,
        model,
        remainingQuota: Hints.remaining(answer)
      })
    case "QuotaExhaustedError": {
      // The wait is stored as `resetAfter`, not as `retryAfter`, because waiting buys no credit. With a daily quota the wait is omitted: it
      // belongs to another limit.
      const { retryAfter, ...rest } = facts
      const isOther = retryAfter === undefined || report.codes.includes(dailyQuota)
      const later = isOther ? {} : { resetAfter: retryAfter }
      return LlmError.QuotaExhaustedError.make({ model, ...rest, ...later })
    }
    case "NetworkError":
      return LlmError.NetworkError.make({ host: provider, what: whatBroke(report), ...facts, model })
    case "RequestTimeoutError":
      return LlmError.RequestTimeoutError.make({
        operation: "the model call",
        timeout: answer.elapsed,
        ...facts,
        model
      })
    case "UnknownLlmError": {
      const cause = { name: quote(report.codes[0] ?? "Error"), message: text }
      return LlmError.UnknownLlmError.make({ model, cause, ...facts })
    }
  }
}
