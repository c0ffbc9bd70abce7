/** Checks the options of a transport, and fills in their defaults. */
import * as Backoff from "@kintsugi/core/Backoff"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import * as Recovery from "@kintsugi/core/Recovery"
import * as RetryBudget from "@kintsugi/core/RetryBudget"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"

/** Time limits and resends of a transport. */
export interface Options {
  /**
   * How failed requests are resent: options, a `Schedule`, or a table with a row per tag; `false` sends everything once. A failure that
   * must not be resent, such as a spent quota, is never resent, even if its row retries. `orElse`, options and schedules are not applied to
   * it. A row may answer with a `Reply`.
   */
  readonly retry?: RetryOptions | Schedule.Schedule<unknown, LlmError.LlmError> | Model.TransportRows | false
  /**
   * The time until the head of the answer and, for a whole reply, its end, over all attempts and waits of one call; 300
   * seconds by default, `Infinity` for no limit. It does not end a stream that has begun. Over the runtime's
   * own `fetch` (`layerFetch`, and `FetchHttpClient.layer` of Effect) it is 300 seconds at most.
   */
  readonly requestTimeout?: Duration.Input
  /**
   * The longest silence of a stream between its head and its first text, thought or finished call; 120 seconds by default,
   * `Infinity` for no limit. Every received byte restarts the time, even a keep-alive comment. A longer silence is a `RequestTimeoutError`
   * and is not resent.
   */
  readonly firstPart?: Duration.Input
  /**
   * The longest silence of a stream after its first text, thought or finished call; 60 seconds by default, `Infinity` for no limit. The
   * time between two pulls of the reader does not count. A stream that sends only keep-alives for ten times as long ends too. Keep-alives
   * are comments, pings, and events that differ from earlier events only in numbers.
   */
  readonly betweenParts?: Duration.Input
  /**
   * The most bytes of the texts, thoughts, calls and provider items of one reply together, in UTF-8; 64 MiB by default. The framing of the
   * wire does not count. A larger reply is cut off: the call fails with a `ReplyTooLargeError` that names the option, and is not resent.
   * The same holds for `maxEventBytes` and `maxBodyBytes`.
   */
  readonly maxReplyBytes?: number
  /** The most bytes of one event or line of a stream; 16 MiB by default. */
  readonly maxEventBytes?: number
  /** The most bytes of a whole body, unpacked; 64 MiB by default. An event of a stream that repeats the whole reply has this limit too. */
  readonly maxBodyBytes?: number
}

/** The options that count attempts: `retries` or `maxAttempts`. */
type Count = Backoff.Options extends infer Each
  ? Each extends Backoff.Options
    ? Pick<Each, "retries" | "maxAttempts">
    : never
  : never

type Delays = Omit<Backoff.Options, "retries" | "maxAttempts">

/** The options of resending. By default a request is sent at most 3 times, with waits of 250 and 500 milliseconds, without jitter. */
type RetryOptions = Partial<Count> & Omit<Delays, "deadline"> & Sharing

interface Sharing {
  /**
   * A retry budget. All transports that have it share it. Each call adds to it once, each resend withdraws from it. When it is empty, a
   * failure is not resent. None by default.
   */
  readonly budget?: RetryBudget.RetryBudget
}

export interface Settings {
  /** The table that decides about resends in one call. It is empty if each request is sent once. */
  readonly table: Model.TransportRows
  /** Sends and resends by the table; `undefined` if each request is sent once. */
  readonly resending: ReturnType<typeof Model.resending> | undefined
  /** Adds to the retry budget at the start of a call; `undefined` without a budget. */
  readonly deposit: Effect.Effect<void> | undefined
  readonly timeout: Duration.Duration
  readonly silence: Silence
  readonly limits: Limits
}

/** The size limits of an answer, in bytes. */
export type Limits = Required<Pick<Options, "maxReplyBytes" | "maxEventBytes" | "maxBodyBytes">>

/** The longest silences of a stream: before its first part, and between later parts. */
export interface Silence {
  readonly firstPart: Duration.Duration
  readonly betweenParts: Duration.Duration
}

/** Checks the options of a transport. Throws a `RangeError` for a value out of range, and a `TypeError` for a wrong `retry`. */
export const make = (options?: Options): Settings => {
  const timeout = limitOf("requestTimeout", options?.requestTimeout, "300 seconds")
  const silence = {
    firstPart: limitOf("firstPart", options?.firstPart, "120 seconds"),
    betweenParts: limitOf("betweenParts", options?.betweenParts, "60 seconds")
  }
  const limits: Limits = {
    maxReplyBytes: options?.maxReplyBytes ?? 64 * mebibyte,
    maxEventBytes: options?.maxEventBytes ?? 16 * mebibyte,
    maxBodyBytes: options?.maxBodyBytes ?? 64 * mebibyte
  }
  for (const [name, bytes] of Object.entries(limits)) {
    if (!(bytes >= 1)) throw new RangeError(`Transport: ${name} must be at least 1, got ${bytes}`)
  }
  const retry = options?.retry ?? {}
  if (retry !== false && !Predicate.isObjectOrArray(retry) && !Schedule.isSchedule(retry)) {
    throw new TypeError(
      `Transport: retry is ${String(retry)}; it takes options such as { retries: 2 }, a schedule, a table or false`
    )
  }
  const deposit = isOptions(retry) ? retry.budget?.deposit : undefined
  const table = retry === false ? {} : tableOf(retry)
  return { table, resending: retry === false ? undefined : Model.resending(table), deposit, timeout, silence, limits }
}

const mebibyte = 1024 * 1024

const limitOf = (name: string, given: Duration.Input | undefined, otherwise: Duration.Input): Duration.Duration => {
  const limit = Option.getOrUndefined(Duration.fromInput(given ?? otherwise))
  if (limit !== undefined && Duration.isPositive(limit)) return limit
  throw new RangeError(`Transport: ${name} must be above 0, got ${String(given)}`)
}

const isOptions = (retry: NonNullable<Options["retry"]>): retry is RetryOptions =>
  // Mutant `retry !== false || !Schedule.isSchedule(retry)` survives: no schedule has only fields that are options, and
  // `false` has no budget
  retry !== false && !Schedule.isSchedule(retry) && Object.keys(retry).every((key) => options.has(key))

/** The names of the options of resending. They tell options from a table, because no key of a table is one of them. */
const options: ReadonlySet<string> = new Set<keyof RetryOptions | keyof Count>([
  "retries",
  "maxAttempts",
  "initialBackoff",
  "factor",
  "maxBackoff",
  "jitter",
  "maxHint",
  "budget"
])

const tableOf = (retry: Exclude<NonNullable<Options["retry"]>, false>): Model.TransportRows => {
  if (!isOptions(retry)) return Schedule.isSchedule(retry) ? { orElse: retry } : retry
  const { budget, maxAttempts, retries, ...delays } = retry
  const count: Count =
    retries === undefined || maxAttempts !== undefined ? { maxAttempts: maxAttempts ?? 3 } : { retries }
  const schedule = Backoff.make({ initialBackoff: "250 millis", ...delays, ...count })
  const shared = budget === undefined ? schedule : RetryBudget.sharing(schedule, budget)
  return { orElse: Recovery.retry(shared) }
}
