/**
 * Reads how long a server asks the client to wait, and how much is left of the server's rate limits. A server may state a wait in several
 * fields; the largest valid wait wins. A value that is unreadable or negative is ignored. The reset time of a rate limit counts only if no
 * field states a wait: it says when the whole limit is back, and a shorter explicit wait is more precise. `retry-after-ms` and the order of
 * the headers follow the official SDKs of OpenAI and Anthropic. Durations like `6m0s` are written as in Go.
 */
import * as RetryAfter from "@kintsugi/core/RetryAfter"
import * as Duration from "effect/Duration"
import * as Answer from "./Answer.ts"

/**
 * The wait that an answer asks for. `text` is the provider's own error message, never the text of a model or a tool. `data` is a wait that
 * the body states in a field. The headers are read only for failures, because some servers send `retry-after` with a success.
 */
export const of = (answer: Answer.Answer, text = "", data?: Duration.Duration): Duration.Duration | undefined => {
  const isFailure = !Answer.isSuccess(answer)
  const wait = longest([...(isFailure ? asked(answer) : []), fromText(text), millisOf(data)])
  if (wait !== undefined || answer.status !== 429) return wait
  return longest([...resets(answer), ietf(answer.headers["ratelimit"])])
}

const longest = (stated: ReadonlyArray<number | undefined>): Duration.Duration | undefined => {
  const valid = stated.flatMap((millis) => (millis !== undefined && millis >= 0 ? [millis] : []))
  return valid.length === 0 ? undefined : Duration.millis(Math.min(Math.ceil(Math.max(...valid)), mostMillis))
}

/** The longest wait in milliseconds: a billion seconds, the same maximum as for `Retry-After`. A longer stated wait counts as this one. */
const mostMillis = 1e12

/** Whether the server forbids a resend (`x-should-retry: false`). */
export const forbidsResend = (answer: Answer.Answer): boolean =>
  answer.headers["x-should-retry"]?.trim().toLowerCase() === "false"

/** What is left of the server's rate limits: the smallest remaining count of all limits, of requests or of tokens. */
export const remaining = (answer: Answer.Answer): number | undefined => {
  const counts = left(answer).flatMap(({ remaining }) => (Number.isFinite(remaining) ? [remaining] : []))
  return counts.length === 0 ? undefined : Math.min(...counts)
}

/** One rate limit of a server, as an answer reports it: how much is left, and when the limit resets. */
export interface Left {
  /** What the limit counts, as the header names it: `requests`, `tokens`, `input-tokens` …; empty if the header does not say. */
  readonly of: string
  readonly remaining: number
  readonly resetAfter?: Duration.Duration
}

/** The rate limits that an answer reports in its headers `x-ratelimit-*`, `anthropic-ratelimit-*` and `ratelimit-*`, of any status. */
export const left = (answer: Answer.Answer): ReadonlyArray<Left> =>
  Object.entries(answer.headers).flatMap(([name, value]): ReadonlyArray<Left> => {
    const remaining = isLimit(name, remains) ? scaled(value, 1) : undefined
    if (remaining === undefined) return []
    const resetAfter = reset(answer.headers[name.replace("remaining", "reset")] ?? "", answer) ?? Number.NaN
    // Mutant `/.*rate-?limit-/` survives: speed only. Without the anchor the search is quadratic
    const of = name.replace(/^.*rate-?limit-/, "").replace(/-?remaining-?/, "")
    const isWait = Number.isFinite(resetAfter)
    return [{ of, remaining, ...(isWait ? { resetAfter: Duration.millis(Math.ceil(resetAfter)) } : {}) }]
  })

const remains = /(?:^|-)remaining(?:-|$)/

const restarts = /(?:^|-)reset(?:-|$)/

/** Whether a header reports the remaining amount or the reset time of a rate limit. `what` matches the one or the other. */
const isLimit = (name: string, what: RegExp): boolean => {
  const [start] = /rate-?limit-/.exec(name) ?? []
  return start !== undefined && what.test(name.slice(name.indexOf(start) + start.length))
}

/** Parses a duration in the JSON form of Protocol Buffers: seconds with up to nine decimals, as in `"34.4s"`. */
export const fromProtobuf = (text: string): Duration.Duration | undefined =>
  /^\d{1,12}(?:\.\d{1,9})?s$/.test(text) ? Duration.millis(Number(text.slice(0, -1)) * 1000) : undefined

const asked = (answer: Answer.Answer): ReadonlyArray<number | undefined> => [
  scaled(answer.headers["retry-after-ms"], 1),
  millisOf(RetryAfter.parse(once(answer.headers["retry-after"]), serverTime(answer)))
]

/** Makes one value of a header that was sent several times with the same value: the HTTP client joins repeated headers by commas. */
const once = (value: string | undefined): string | undefined =>
  /^\s*([\d.]+)(?:\s*,\s*\1)+\s*$/.exec(value ?? "")?.[1] ?? value

/** Reads the header `ratelimit` of the IETF draft, such as `"default";r=0;t=50`. With `r=0` nothing is left for the next `t` seconds. */
const ietf = (value: string | undefined): number | undefined =>
  /;\s*r=0\b/.test(value ?? "") ? scaled(/;\s*t=(\d+)/.exec(value ?? "")?.[1], 1000) : undefined

const decimal = /^\d+(?:\.\d+)?$/

const scaled = (text: string | undefined, unit: number): number | undefined =>
  text !== undefined && decimal.test(text.trim()) ? Number(text) * unit : undefined

const millisOf = (wait: Duration.Duration | undefined): number | undefined =>
  wait === undefined ? undefined : Duration.toMillis(wait)

/** The time of the server by its `date` header, because its clock may differ from the local one. Without that header, the local time. */
const serverTime = ({ at, headers }: Answer.Answer): number => RetryAfter.httpDate(headers["date"] ?? "") ?? at

const until = (instant: number | undefined, answer: Answer.Answer): number | undefined =>
  instant === undefined ? undefined : Math.max(0, instant - serverTime(answer))

const instant = (text: string): number | undefined => RetryAfter.httpDate(text) ?? rfc3339(text)

/** Parses a date. A date without a time zone is read as UTC; `Date.parse` alone would read it as local time. */
const rfc3339 = (text: string): number | undefined => {
  const trimmed = text.trim()
  if (!/^\d{4}-\d\d-\d\dT/.test(trimmed)) return undefined
  const millis = Date.parse(zone.test(trimmed) ? trimmed : `${trimmed}Z`)
  return Number.isNaN(millis) ? undefined : millis
}

const zone = /Z|GMT|(?:z|[gG][mM][tT]|[+-]\d\d(?::?\d\d)?|\])$/

/**
 * The waits until the rate limits of an answer reset. Only the reset of an exhausted limit is a wait, because servers report the resets of
 * all limits on every answer.
 */
const resets = (answer: Answer.Answer): ReadonlyArray<number | undefined> =>
  Object.entries(answer.headers).map(([name, value]) => {
    if (!isLimit(name, restarts)) return undefined
    const remaining = answer.headers[name.replace("reset", "remaining")]
    return remaining === undefined || Number(remaining) <= 0 ? reset(value ?? "", answer) : undefined
  })

/**
 * Parses the reset time of a rate limit: a Go duration, a date, an instant in seconds or milliseconds since the epoch, or plain seconds.
 */
const reset = (value: string, answer: Answer.Answer): number | undefined => {
  const number = scaled(value, 1)
  if (number === undefined) return goDuration(value.trim()) ?? until(instant(value), answer)
  if (number > 1e11) return until(number, answer)
  return number > 1e9 ? until(number * 1000, answer) : number * 1000
}

const units: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const goDuration = (text: string): number | undefined => {
  const plain = text.replaceAll(/[µμ]s/g, "us")
  if (!/^(?:\d+(?:\.\d+)?(?:us|ms|[smhd]))+$/.test(plain)) return undefined
  let total = 0
  for (const [, amount, unit] of plain.matchAll(/(\d+(?:\.\d+)?)(us|ms|[smhd])/gy)) {
    // Mutant `"Stryker was here!"` survives: each match has a unit
    total += Number(amount) * (units[unit ?? ""] ?? Number.NaN)
  }
  return total
}

/** Matches phrases of error messages that ask for a wait, such as "try again in". The amount of time follows the match. */
const waitPhrase =
  /\b(?:(?:try again|retry)\s+(?:in|after)|retry-after|wait(?:\s+for)?)\b:?\s+(?:about\s+|at least\s+)?/gi

const amount =
  /^(\d+(?:\.\d+)?)\s*(milliseconds?|seconds?|minutes?|hours?|days?|ms|secs?|mins?|hrs?|[smhd](?![a-z]))(?:,?\s*(?:and\s+)?)/i

/**
 * Reads a wait from an error message: "Please try again in 3.862s", "retry after 1 seconds", "try again in 1h2m", "1 minute and 30
 * seconds". A number without a unit is in seconds.
 */
const fromText = (text: string): number | undefined => {
  for (const { 0: phrase, index } of text.matchAll(waitPhrase)) {
    const wait = amountAt(text.slice(index + phrase.length))
    if (wait !== undefined) return wait
  }
  return undefined
}

const amountAt = (text: string): number | undefined => {
  let rest = text
  let total: number | undefined
  for (let found = amount.exec(rest); found !== null; found = amount.exec(rest)) {
    const [whole, count, unit] = found
    total = (total ?? 0) + Number(count) * (units[shortened(unit ?? "")] ?? Number.NaN)
    rest = rest.slice(whole.length)
  }
  if (total !== undefined) return total
  const bare = /^(\d{1,6})(?:\s*(?:$|[.,;)]))/.exec(text)?.[1]
  return bare === undefined ? undefined : Number(bare) * 1000
}

const shortened = (unit: string): string => {
  const name = unit.toLowerCase()
  return name === "ms" || name.startsWith("milli") ? "ms" : name.slice(0, 1)
}
