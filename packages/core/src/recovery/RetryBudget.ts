/**
 * A limit of retries that many calls share. When a service fails for all callers, retries that each call counts for itself add up to a
 * storm that keeps the service down. A shared budget bounds their sum: calls deposit, retries withdraw, and with an empty budget each
 * failure leaves at once. It follows tower's `Budget` and Finagle's `RetryBudget`, whose ratio and window are the defaults here.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Backoff from "./Backoff.ts"

/** The options of a budget: how many retries all calls that share it may make together. */
export interface Options {
  /** The retries that each call adds to the budget. The default of 0.2 is one retry for five calls. */
  readonly ratio?: number
  /** The retries in each `window` that need no calls, so that a program with few calls can retry at all; 10 by default. */
  readonly reserve?: number
  /** How long a call or a retry counts; 10 seconds by default. */
  readonly window?: Duration.Input
}

/**
 * A budget of retries. All policies that hold the same value share it.
 *
 * @hidden
 */
export interface RetryBudget {
  /** Adds one call; it never fails. */
  readonly deposit: Effect.Effect<void>
  /** Takes one retry, and returns whether there was one. There are `reserve + ratio · calls` retries in each `window`. */
  readonly withdraw: Effect.Effect<boolean>
}

/** Makes a retry budget. Throws a `RangeError` for options that no budget can have. */
export const make = (options?: Options): Effect.Effect<RetryBudget> => {
  const limits = check(options)
  return Effect.sync(() => fromLimits(limits))
}

/** Makes a retry budget outside of an effect. Use it for a constant beside the agents that share the budget. */
export const makeUnsafe = (options?: Options): RetryBudget => fromLimits(check(options))

/** Counts each run of an effect as one call. A call adds to the budget. */
export const counting: {
  (budget: RetryBudget): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, budget: RetryBudget): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, budget: RetryBudget): Effect.Effect<A, E, R> =>
  Effect.andThen(budget.deposit, self)
)

/** Limits a schedule by a budget. Each step takes one retry from the budget, and the schedule ends when the budget is empty. */
export const sharing: {
  (
    budget: RetryBudget
  ): <Output, Input, Error, Env>(
    self: Schedule.Schedule<Output, Input, Error, Env>
  ) => Schedule.Schedule<Output, Input, Error, Env>
  <Output, Input, Error, Env>(
    self: Schedule.Schedule<Output, Input, Error, Env>,
    budget: RetryBudget
  ): Schedule.Schedule<Output, Input, Error, Env>
} = dual(
  2,
  <Output, Input, Error, Env>(self: Schedule.Schedule<Output, Input, Error, Env>, { withdraw }: RetryBudget) => {
    const alone = Backoff.hinted(self)
    // the budget loses a retry only if the schedule itself continues
    return Backoff.alsoHeeding(
      Schedule.while(alone, ({ duration, now }) =>
        Effect.flatMap(Latest, (latest) =>
          now + Duration.toMillis(duration) > latest ? Effect.succeed(true) : withdraw
        )
      ),
      alone
    )
  }
)

/**
 * The last instant, in milliseconds, at which a retry can start. Code that steps schedules by hand sets it, so that a later retry takes
 * nothing from a budget: `-Infinity` if it runs no retry. No limit by default.
 *
 * @internal
 */
export const Latest = Context.Reference<number>("@kintsugi/core/RetryBudget/Latest", { defaultValue: () => Infinity })

/** The number of slots into which the window is divided. */
const slots = 10

interface Slot {
  readonly index: number
  calls: number
  retries: number
}

const fromLimits = ({ ratio, reserve, window }: ReturnType<typeof check>): RetryBudget => {
  const width = window / slots
  const retained: Array<Slot> = []
  /** The slot for this instant, which is the last one in `retained`. */
  const current = (now: number): Slot => {
    const index = Math.floor(now / width)
    while (retained[0] !== undefined && retained[0].index < index - slots) retained.shift()
    const last = retained.at(-1)
    if (last !== undefined && last.index >= index) return last
    const slot: Slot = { index, calls: 0, retries: 0 }
    retained.push(slot)
    return slot
  }
  const withdraw = (now: number): boolean => {
    const slot = current(now)
    let calls = 0
    let retries = 0
    for (const one of retained) {
      // retries count slightly longer than the window and calls slightly shorter, so no window has too many retries
      if (one.index > slot.index - slots) calls += one.calls
      retries += one.retries
    }
    if (retries + 1 > reserve + ratio * calls) return false
    slot.retries++
    return true
  }
  return {
    deposit: Effect.map(Clock.currentTimeMillis, (now) => {
      current(now).calls++
    }),
    withdraw: Effect.map(Clock.currentTimeMillis, withdraw)
  }
}

const check = ({ ratio = 0.2, reserve = 10, window = "10 seconds" }: Options = {}) => {
  const duration = Option.getOrUndefined(Duration.fromInput(window))
  const millis = duration === undefined || Number.isNaN(window) ? Number.NaN : Duration.toMillis(duration)
  if (!(millis >= 1 && Number.isFinite(millis))) return refuse("window", "a finite duration of at least 1 ms", window)
  if (!(ratio >= 0 && Number.isFinite(ratio))) return refuse("ratio", "a finite number of at least 0", ratio)
  if (!(reserve >= 0 && Number.isFinite(reserve))) return refuse("reserve", "a finite number of at least 0", reserve)
  return { ratio, reserve, window: millis }
}

const refuse = (name: string, rule: string, value: unknown): never => {
  throw new RangeError(`RetryBudget: ${name} must be ${rule}, got ${String(value)}`)
}
