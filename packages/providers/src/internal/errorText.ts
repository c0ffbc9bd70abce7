/**
 * What providers say in words only. Asked after their codes: several of them send one code for everything. The texts are
 * those of recorded answers and public reports.
 */
import type { Capability } from "@kintsugi/core/LlmError"
import type { Report, Tag } from "../Report.ts"

/** Longer texts hold a foreign page or the user's own words, not a provider's sentence. */
const longest = 4000

const tags: ReadonlyArray<readonly [RegExp, Tag]> = [
  [
    /does not support (?:tool|function|image|vision|stream|structured)|no endpoints found that support/i,
    "CapabilityMismatchError"
  ],
  [/function calling is not enabled|response_format .*not supported/i, "CapabilityMismatchError"],
  [/credit balance is too low|insufficient (?:balance|credits?)|exceeded your current quota/i, "QuotaExhaustedError"],
  [
    /content exists risk|blocked by content filter|flagged for possible|content management policy/i,
    "ContentFilteredError"
  ],
  [/(?:incorrect|invalid|missing|provide an?|not valid).{0,20}\bapi[ -]?key|api key not valid/i, "AuthenticationError"],
  [/model not exist|is not a valid model id|no endpoints found for/i, "ModelNotFoundError"],
  [/\bmodel\b.{0,100}(?:does not exist|not found|has been deprecated)/i, "ModelNotFoundError"],
  [/overloaded|server busy|too busy|slow down|at capacity/i, "ModelOverloadedError"],
  [/rate[ -]?limit|too many requests/i, "RateLimitError"]
]

/** Each with the numbers that it may name, in tokens. */
const tooLong: ReadonlyArray<RegExp> = [
  /prompt is too long: (?<actual>\d+) tokens > (?<limit>\d+)/i,
  /input length and .{1,30} exceed context limit: (?<actual>\d+) \+ (?<more>\d+) > (?<limit>\d+)/i,
  /input token count \((?<actual>\d+)\) exceeds the maximum number of tokens allowed \((?<limit>\d+)\)/i,
  /maximum context length is (?<limit>\d+) tokens.{0,60}?(?:resulted in|requested)(?: about)? (?<actual>\d+) tokens/is,
  /token limit: (?<limit>\d+) \(requested: (?<actual>\d+)\)/i,
  /maximum prompt length is (?<limit>\d+) but the request contains (?<actual>\d+)/i,
  /contains (?<actual>\d+) tokens.{0,80}with (?<limit>\d+) maximum context length/i,
  /request too large.{0,200}limit:? (?<limit>\d+), requested:? (?<actual>\d+)/is,
  /exceeds the context window|exceeds the available context|context window exceeds|maximum context length/i,
  /exceeded max context length|longer than the context length|reduce the length of the messages/i,
  /total length of all messages is too long|request too large/i
]

export const tagOf = (text: string): Tag | undefined => {
  const sentence = text.slice(0, longest)
  if (tooLong.some((pattern) => pattern.test(sentence))) return "ContextTooLongError"
  return tags.find(([pattern]) => pattern.test(sentence))?.[1]
}

/** What a tag alone cannot say: a limit that no waiting cures, a capability that we have no name for. */
export const refine = (tag: Tag, report: Report): Tag => {
  if (tag === "RateLimitError" && /request too large/i.test(report.text)) return "ContextTooLongError"
  return tag === "CapabilityMismatchError" && capabilityOf(report) === undefined ? "InvalidRequestError" : tag
}

/** How long the conversation was, and how long it may be. */
export const sizes = (text: string): { readonly limit?: number; readonly actual?: number } => {
  const sentence = text.slice(0, longest)
  for (const pattern of tooLong) {
    const found = pattern.exec(sentence)?.groups
    if (found?.["limit"] !== undefined) {
      return { limit: Number(found["limit"]), actual: Number(found["actual"]) + Number(found["more"] ?? 0) }
    }
  }
  return {}
}

const capabilities: ReadonlyArray<readonly [RegExp, Capability]> = [
  [/\btools?\b|tool_|function/i, "tools"],
  [/image|vision/i, "vision"],
  [/response_format|json_schema|structured/i, "structuredOutput"],
  [/\bstream/i, "streaming"]
]

/** Which capability is missing; from the field that the report is about, else from its text. */
export const capabilityOf = (report: Report): Capability | undefined =>
  [report.param ?? "", report.text]
    .flatMap((text) => capabilities.filter(([pattern]) => pattern.test(text.slice(0, longest))))
    .at(0)?.[1]
