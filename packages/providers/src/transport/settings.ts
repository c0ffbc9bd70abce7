/** The options of a transport, checked, with their defaults. */
import * as Backoff from "@kintsugi/core/Backoff"
import * as RetryBudget from "@kintsugi/core/RetryBudget"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"

/** How long is waited, and how often a request is sent. */
export interface Options {
  /** How failed requests are sent again; `false` sends everything once. */
  readonly retry?: RetryOptions | false
  /** For all attempts and waits of one call together; 300 seconds by default, `Infinity` for no limit. */
  readonly requestTimeout?: Duration.Input
  /**
   * For how long a stream may be silent before its first part, from the start of each attempt; no limit by default. Whatever
   * comes, be it a comment that keeps the connection open, begins the time anew. A stream that is silent for longer is a
   * `RequestTimeoutError`, and not sent again.
   */
  readonly firstPart?: Duration.Input
  /** The same, after the first part. The time in which nobody reads does not count. */
  readonly betweenParts?: Duration.Input
  /** A longer answer, whole or streamed, is cut off and fails; 16 MiB by default. */
  readonly maxResponseBytes?: number
}

/** At most 3 sends with waits of 250 and 500 milliseconds, without jitter, where nothing else is said. */
export type RetryOptions = Partial<Backoff.Count> & Omit<Backoff.Delays, "deadline"> & Sharing

export interface Sharing {
  /**
   * Shared with whoever else has it: each call is counted there once, each resend is withdrawn from it, and when nothing is
   * left a failure is not sent again. None by default.
   */
  readonly budget?: RetryBudget.RetryBudget
}

export interface Settings {
  /** The schedule of one call, which has to end before `deadline`; absent when everything is sent once. */
  readonly schedule: ((deadline: number) => Schedule.Schedule<Duration.Duration, unknown>) | undefined
  /** Counts one call. */
  readonly deposit: Effect.Effect<void> | undefined
  readonly timeout: Duration.Duration
  readonly silence: Silence
  readonly maxBytes: number
}

/** For how long a stream may be silent. */
export interface Silence {
  readonly firstPart: Duration.Duration
  readonly betweenParts: Duration.Duration
}

/** Throws a `RangeError` for senseless options. */
export const make = (options?: Options): Settings => {
  const timeout = limitOf("requestTimeout", options?.requestTimeout, "300 seconds")
  const silence = {
    firstPart: limitOf("firstPart", options?.firstPart, Infinity),
    betweenParts: limitOf("betweenParts", options?.betweenParts, Infinity)
  }
  const maxBytes = options?.maxResponseBytes ?? 16 * 1024 * 1024
  if (!(maxBytes >= 1)) throw new RangeError(`Transport: maxResponseBytes must be at least 1, got ${maxBytes}`)
  const retry = options?.retry ?? {}
  const deposit = retry === false ? undefined : retry.budget?.deposit
  return { schedule: scheduleOf(retry), deposit, timeout, silence, maxBytes }
}

const limitOf = (name: string, given: Duration.Input | undefined, otherwise: Duration.Input): Duration.Duration => {
  const limit = Option.getOrUndefined(Duration.fromInput(given ?? otherwise))
  if (limit !== undefined && !Number.isNaN(given) && Duration.isPositive(limit)) return limit
  throw new RangeError(`Transport: ${name} must be above 0, got ${String(given)}`)
}

const scheduleOf = (retry: RetryOptions | false): Settings["schedule"] => {
  if (retry === false) return undefined
  const { budget, maxAttempts, retries, ...delays } = retry
  const count: Backoff.Count =
    retries === undefined || maxAttempts !== undefined ? { maxAttempts: maxAttempts ?? 3 } : { retries }
  const policy = { initialBackoff: "250 millis", ...delays, ...count } as const
  // once without a deadline, so that senseless options are refused here and not in the first failure
  Backoff.make(policy)
  return (deadline) => {
    const schedule = Backoff.make({ ...policy, deadline })
    return budget === undefined ? schedule : RetryBudget.sharing(schedule, budget)
  }
}
