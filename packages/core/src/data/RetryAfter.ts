/** Reads the `Retry-After` header of HTTP: how long to wait. The header is that of RFC 9110, 10.2.3. */
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"

/** An instant: milliseconds since the epoch, or a date. */
type Instant = number | Date | DateTime.DateTime

/**
 * The wait that a header asks for. It is in seconds, fractions included, or a date relative to `now`. The date may be in seconds since the
 * epoch, as some servers write it; a date in the past is a wait of zero, and no wait is longer than a billion seconds. `undefined` for
 * blank, negative and unreadable values, and for a date without `now`.
 */
export const parse = (header: string | null | undefined, now?: Instant): Duration.Duration | undefined => {
  // Mutant `"Stryker was here!"` survives: a missing header is no date, as any other text
  const text = header?.trim() ?? ""
  const seconds = decimal.test(text) ? Number(text) : Number.NaN
  if (seconds <= epochs || seconds > instants) return waitOf(seconds * 1000)
  // Mutant `seconds >= epochs` survives: the line above has returned the wait of that number
  const date = seconds > epochs ? Math.ceil(seconds * 1000) : httpDate(text)
  return date === undefined || now === undefined ? undefined : waitOf(date - millisOf(now))
}

const waitOf = (millis: number): Duration.Duration =>
  Duration.millis(Math.min(Math.max(0, Math.ceil(millis)), epochs * 1000))

/** A billion seconds, about 30 years: a larger number is an instant in seconds since the epoch, and no wait. */
const epochs = 1e9

/** The largest number of seconds that a date can hold. A larger number counts as an endless wait. */
const instants = 8.64e12

const decimal = /^\d+(?:\.\d+)?$/

/** Milliseconds since the epoch, from an HTTP date. The date has one of the three forms of RFC 9110; `undefined` for any other text. */
export const httpDate = (text: string): number | undefined => {
  const trimmed = text.trim()
  const gmt = asctime.test(trimmed) ? `${trimmed} GMT` : trimmed
  if (!imfOrRfc850.test(gmt) && !asctime.test(trimmed)) return undefined
  const millis = Date.parse(gmt)
  return Number.isNaN(millis) ? undefined : millis
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`. */
const imfOrRfc850 = /^[a-z]{3,9}, \d{1,2}[ -][a-z]{3}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/i

/** `Sun Nov  6 08:49:37 1994`, which means GMT too. */
const asctime = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i

const millisOf = (instant: Instant): number =>
  Predicate.isNumber(instant) ? instant : Predicate.isDate(instant) ? instant.getTime() : instant.epochMilliseconds
