/** The options of a transport, checked, with their defaults. */
import * as Backoff from "@kintsugi/core/Backoff"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"

export interface Options {
  /** How failed requests are sent again; `false` sends everything once. */
  readonly retry?: RetryOptions | false
  /** For all attempts and waits of one call together; 300 seconds by default, `Infinity` for no limit. */
  readonly requestTimeout?: Duration.Input
  /** A longer answer, whole or streamed, is cut off and fails; 16 MiB by default. */
  readonly maxResponseBytes?: number
}

/** At most 3 sends with waits of 250 and 500 milliseconds, without jitter, where nothing else is said. */
export type RetryOptions = Partial<Backoff.Count> & Omit<Backoff.Delays, "deadline">

export interface Settings {
  /** The schedule of one call, which has to end before `deadline`; absent when everything is sent once. */
  readonly schedule: ((deadline: number) => Schedule.Schedule<Duration.Duration, unknown>) | undefined
  readonly timeout: Duration.Duration
  readonly maxBytes: number
}

/** Throws a `RangeError` for senseless options. */
export const make = (options?: Options): Settings => {
  const timeout = Option.getOrUndefined(Duration.fromInput(options?.requestTimeout ?? "300 seconds"))
  if (timeout === undefined || Number.isNaN(options?.requestTimeout) || !Duration.isPositive(timeout)) {
    throw new RangeError(`Transport: requestTimeout must be above 0, got ${String(options?.requestTimeout)}`)
  }
  const maxBytes = options?.maxResponseBytes ?? 16 * 1024 * 1024
  if (!(maxBytes >= 1)) throw new RangeError(`Transport: maxResponseBytes must be at least 1, got ${maxBytes}`)
  return { schedule: scheduleOf(options?.retry ?? {}), timeout, maxBytes }
}

const scheduleOf = (retry: RetryOptions | false): Settings["schedule"] => {
  if (retry === false) return undefined
  const { maxAttempts, retries, ...delays } = retry
  const count: Backoff.Count =
    retries === undefined || maxAttempts !== undefined ? { maxAttempts: maxAttempts ?? 3 } : { retries }
  const policy = { initialBackoff: "250 millis", ...delays, ...count } as const
  // once without a deadline, so that senseless options are refused here and not in the first failure
  Backoff.make(policy)
  return (deadline) => Backoff.make({ ...policy, deadline })
}
