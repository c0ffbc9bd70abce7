/**
 * A limit of retries that many calls share. Retries that are counted call by call multiply when a service fails for everybody: each caller
 * is modest, and their sum is a storm that keeps the service down. A shared budget bounds the sum: calls deposit, retries withdraw, and
 * when nothing is left a failure leaves at once, as itself.
 *
 * After tower's `Budget` and Finagle's `RetryBudget`, whose ratio and window are the defaults here.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Backoff from "./Backoff.ts"

/** The share of calls that may be retried. It counts over all calls that use the budget. */
export interface Options {
  /** The retries that each call adds: 0.2 by default, one retry to five calls. */
  readonly ratio?: number
  /** The retries per `window` that need no calls, so that a quiet program can retry at all; 10 by default. */
  readonly reserve?: number
  /** For how long calls and retries count; 10 seconds by default. */
  readonly window?: Duration.Input
}

/**
 * All policies that hold it share it.
 *
 * @hidden
 */
export interface RetryBudget {
  /** One more call; never refused. */
  readonly deposit: Effect.Effect<void>
  /** One more retry, if there is one left: never more than `reserve + ratio · calls`, both of the `window` that ends now. */
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
    // asked only where the schedule itself goes on
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
 * The last instant (milliseconds, by the clock of the steps) at which a retry is made, for code that steps schedules by hand: a later
 * retry takes nothing from a budget. `-Infinity` if nothing is run at all; no limit by default.
 *
 * @internal
 */
export const Latest = Context.Reference<number>("@kintsugi/core/RetryBudget/Latest", { defaultValue: () => Infinity })

/** The window is counted in so many slots. */
const slots = 10

interface Slot {
  readonly index: number
  calls: number
  retries: number
}

const fromLimits = ({ ratio, reserve, window }: ReturnType<typeof check>): RetryBudget => {
  const width = window / slots
  const retained: Array<Slot> = []
  /** The slot of this instant, the last retained one. */
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
      // retries count a little longer than the window and calls a little shorter, so that no window holds too many
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
