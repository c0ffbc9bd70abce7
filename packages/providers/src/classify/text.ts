/**
 * Classifies errors by the provider's message, if the codes do not decide: some providers send one code for every failure. The patterns
 * come from recorded answers and public reports.
 */
import type { Capability } from "@kintsugi/core/LlmError"
import type { Report, Tag } from "./Report.ts"

/** The number of characters of a message that are read. A longer text contains a page of another server or the user's own text. */
const longest = 4000

/**
 * Matches the message of a server that cannot parse a tool call of its own model. The message quotes the call, which may contain any text,
 * so this pattern is tried before all others.
 */
const unreadable = /^error parsing tool call\b/i

/** A pattern for messages: a `RegExp`, or an object with the same `test`. */
interface Sign {
  readonly test: (sentence: string) => boolean
}

/** Makes a pattern that matches `words` if `before` matches in the given number of characters before them, on the same line. */
const behind = (before: RegExp, words: RegExp, characters: number): Sign => ({
  test: (sentence) =>
    Array.from(sentence.matchAll(words)).some(({ index }) => {
      const near = sentence.slice(Math.max(0, index - characters), index)
      return before.test(near.slice(near.lastIndexOf("\n") + 1))
    })
})

const overload = /overloaded|server busy|too busy|at capacity/i

const tags: ReadonlyArray<readonly [Sign, Tag]> = [
  [
    /does not support (?:tool|function|image|vision|stream|structured|thinking|reasoning\b|chat\b|files?\b|pdf|document|audio|video|insert|generate|embed|completion)/i,
    "CapabilityMismatchError"
  ],
  [/no endpoints found that (?:support|can handle)/i, "CapabilityMismatchError"],
  [/function calling is not enabled/i, "CapabilityMismatchError"],
  [behind(/response_format /i, /not supported/gi, 200), "CapabilityMismatchError"],
  [
    /(?:tools?|tool use|images?|image input|vision|streaming|thinking) (?:is|are) not supported|not supported (?:with|in|by) this model/i,
    "CapabilityMismatchError"
  ],
  [/credit balance is too low|insufficient (?:balance|credits?)|exceeded your current quota/i, "QuotaExhaustedError"],
  [
    /requires more credits|can only afford|used all available credits|key limit exceeded|free-models-per-day/i,
    "QuotaExhaustedError"
  ],
  // real messages, Anthropic: "You have reached your specified workspace API usage limits"; xAI: "reached its monthly spending limit";
  // Gemini: "exceeded its monthly spending cap" (documentation and public reports, looked up on 2026-11-26)
  [/reached your specified (?:\w+ )?API usage limits|billing hard limit|credits are depleted/i, "QuotaExhaustedError"],
  [
    /(?:reached|exceeded|hit|over) (?:your|its|the|this|a)(?: \w+){0,3} spend(?:ing)? (?:limit|cap)\b/i,
    "QuotaExhaustedError"
  ],
  [/spend(?:ing)? (?:limit|cap) (?:was |is |has been )?(?:reached|exceeded|hit)/i, "QuotaExhaustedError"],
  [
    /content exists risk|blocked by content filter|flagged (?:for possible|as potentially)|content management policy/i,
    "ContentFilteredError"
  ],
  [/considered high risk/i, "ContentFilteredError"],
  [/(?:incorrect|invalid|missing|provide an?|not valid).{0,20}\bapi[ -]?key|api key not valid/i, "AuthenticationError"],
  [/^unauthorized$|authentication fails|missing authentication/i, "AuthenticationError"],
  [/model not exist|is not a valid model id|no endpoints found for|not found the model/i, "ModelNotFoundError"],
  [behind(/\bmodels?\b/i, /does not exist|not found|has been deprecated/gi, 110), "ModelNotFoundError"],
  [/^invalid model '/i, "ModelNotFoundError"],
  [overload, "ModelOverloadedError"],
  [/slow down/i, "ModelOverloadedError"],
  [/rate[ -]?limit(?!er)|too many requests/i, "RateLimitError"]
]

/** Patterns for messages about a context that is too long, with the numbers of tokens that some of them state. */
const tooLong: ReadonlyArray<RegExp> = [
  /prompt is too long: (?<actual>\d+) tokens > (?<limit>\d+) maximum/i,
  /input length and .{1,30} exceed context limit: (?<actual>\d+) \+ (?<more>\d+) > (?<limit>\d+)/i,
  /input token count \((?<actual>\d+)\) exceeds the maximum number of tokens allowed \((?<limit>\d+)\)/i,
  /input token count exceeds the maximum number of tokens allowed \(?(?<limit>\d+)/i,
  /token limit: (?<limit>\d+) \(requested: (?<actual>\d+)\)/i,
  /maximum prompt length is (?<limit>\d+) but the request contains (?<actual>\d+)/i,
  /request \((?<actual>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  /prompt is too long|exceeds? (?:the )?context (?:window|limit|length)|exceeds the available context|maximum context length/i,
  /\binput (?:is )?too long\b/i,
  /context window exceeds|exceeded max context length|longer than the context length/i,
  /exceeded model token limit|input token count .{0,40}exceeds the maximum|maximum prompt length is/i,
  /reduce the length of the messages|total length of all messages is too long|request too large/i
]

/** Pairs of patterns, for messages with other words between the number of tokens and the limit. */
const twofold: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [
    /maximum context length is (?<limit>\d+) tokens/i,
    /(?:resulted in|requested|request has|contains)(?: about| at least)? (?<actual>\d+)(?: input)? tokens/i
  ],
  [/contains (?<actual>\d+) tokens/i, /with (?<limit>\d+) maximum context length/i]
]

/** Matches the limit and the size of the refused request in messages such as `Limit 30000, Requested 40000`. */
const asked = /\blimit:? (?<limit>\d+)(?:, used:? \d+)?, requested:? (?<actual>\d+)/i

/**
 * Prepares a message for the patterns. The text in quotation marks is removed, because it may come from the user, the model or a tool; so
 * are the commas between thousands.
 */
const own = (text: string): string =>
  text
    .slice(0, longest)
    .replaceAll(/"[^"\n]*"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)/g, (quoted) => `${quoted[0]}${quoted[0]}`)
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")

/** Whether a message says "slow down" and does not say that the server is overloaded. */
export const asksForLess = (text: string): boolean => {
  const sentence = own(text)
  return /slow down/i.test(sentence) && !overload.test(sentence)
}

export const tagOf = (text: string): Tag | undefined => {
  const sentence = own(text)
  if (unreadable.test(sentence)) return "MalformedToolCallError"
  if (tooLong.some((pattern) => pattern.test(sentence))) return "ContextTooLongError"
  return tags.find(([pattern]) => pattern.test(sentence))?.[1]
}

/**
 * Corrects a tag by the message: a request larger than the rate limit is a context that is too long, and a refused option that is no
 * capability is an invalid request.
 */
export const refine = (tag: Tag, report: Report): Tag => {
  if (tag === "RateLimitError" && asksTooMuch(own(report.text))) return "ContextTooLongError"
  return tag === "CapabilityMismatchError" && capabilityOf(report) === undefined ? "InvalidRequestError" : tag
}

const asksTooMuch = (sentence: string): boolean => {
  const { actual = 0, limit = 0 } = numbersIn(sentence, asked) ?? {}
  return /request too large/i.test(sentence) || (limit > 0 && actual > limit)
}

/** The size of the conversation and the limit in tokens, as far as a message states them. */
export const sizes = (text: string): { readonly limit?: number; readonly actual?: number } => {
  const sentence = own(text)
  for (const [first, second] of twofold) {
    const found = first.exec(sentence)
    const others = found === null ? null : second.exec(sentence.slice(found.index))
    if (others !== null) return numbersOf({ ...found?.groups, ...others.groups }) ?? {}
  }
  for (const pattern of [...tooLong, asked]) {
    const found = numbersIn(sentence, pattern)
    if (found !== undefined) return found
  }
  return {}
}

const numbersIn = (sentence: string, pattern: RegExp) => numbersOf(pattern.exec(sentence)?.groups)

const numbersOf = (
  found: Readonly<Record<string, string | undefined>> | undefined
): { limit?: number; actual?: number } | undefined => {
  if (found?.["limit"] === undefined) return undefined
  const limit = Number(found["limit"])
  const actual = Number(found["actual"] ?? Number.NaN) + Number(found["more"] ?? 0)
  return { ...(Number.isSafeInteger(limit) ? { limit } : {}), ...(Number.isSafeInteger(actual) ? { actual } : {}) }
}

const capabilities: ReadonlyArray<readonly [RegExp, Capability]> = [
  [/\btools?\b|tool[ _](?:use|call)|function/i, "tools"],
  [/image|vision/i, "vision"],
  [/response_format|json_schema|structured/i, "structuredOutput"],
  [/\bstream/i, "streaming"],
  [/\bthinking\b/i, "thinking"],
  [/no endpoints found that (?:support|can handle)/i, "other"]
]

/** Capabilities that a message may name just before "not supported". Elsewhere in a message these words prove little. */
const missing: ReadonlyArray<readonly [RegExp, Capability]> = [
  [/^\s+(?:thinking|reasoning)\b/i, "thinking"],
  [/^\s+chat\b/i, "chat"],
  [/^\s+(?:files?\b|pdf|document)/i, "files"],
  [/^\s+(?:audio|video|insert|generate|embed|completion)/i, "other"]
]

/** Matches the request field of a message's role. A refused role is no refused option: the model cannot read the conversation at all. */
const role = /^(?:messages|input|contents)(?:\[\d+\]|\.\d+)\.role$/

/** The capability that a refused request field belongs to. A refused field that is not in this list is an unknown option. */
const fields: ReadonlyArray<readonly [RegExp, Capability]> = [
  [/^(?:tools|tool_choice|functions)\b/, "tools"],
  [/image|vision/, "vision"],
  [/^(?:response_format|text\.format)\b/, "structuredOutput"],
  [/^stream$/, "streaming"],
  [/^(?:reasoning|reasoning_effort|reasoning\.effort|thinking|think)$/, "thinking"]
]

/** The capability that belongs to an option whose name a message has in quotes. */
const quotedOptions: ReadonlyArray<readonly [RegExp, Capability]> = [
  [/['"`]tool(?:s|_choice)['"`]/, "tools"],
  [/['"`]response_format['"`]/, "structuredOutput"],
  [/['"`](?:messages|input)\[\d+\]\.role['"`]/, "other"]
]

/**
 * The capability that the model lacks, by the request field that the error is about, else by the message. Names with hyphens in the message
 * are ignored, because they are names of models.
 */
export const capabilityOf = ({ param, text }: Report): Capability | undefined => {
  const option = param?.toLowerCase()
  if (option !== undefined && !/^(?:messages|input|contents|model)\b/.test(option)) return first(fields, option)
  if (option !== undefined && role.test(option)) return "other"
  const sentence = own(text).replaceAll(/\b\w+(?:[-:.\d]+\w+)+\b/g, "")
  // Mutant `"Stryker was here!"` survives: it names no capability either
  const unsupported = /(?:not|n't) (?:supported|support|enabled)(.*)$/is.exec(sentence)?.[1] ?? ""
  return (
    first(missing, unsupported) ??
    first(capabilities, unsupported) ??
    first(capabilities, sentence) ??
    first(quotedOptions, text)
  )
}

const first = (patterns: ReadonlyArray<readonly [RegExp, Capability]>, text: string): Capability | undefined =>
  patterns.find(([pattern]) => pattern.test(text))?.[1]
