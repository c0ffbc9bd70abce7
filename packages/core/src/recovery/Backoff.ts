/**
 * Schedules of waits between retries. The delay grows, is jittered, and is then capped. Last, it is raised to the wait that the server asks
 * for (the hint), so neither cap nor jitter shortens a hint. The order and the three kinds of jitter follow the AWS architecture blog
 * ("Exponential Backoff And Jitter"). The hint as a minimum, and the end of the schedule at a hint above `maxHint`, are additions of this
 * library.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { property } from "../data/Foreign.ts"
import { tagOf } from "../data/ErrorCause.ts"
import { hintBeneath, outlookOf } from "../errors/RecoveryAdvice.ts"
import type { Count } from "./Node.ts"

/** The lengths of the waits between attempts. */
interface Delays {
  /** The first wait; none by default. */
  readonly initialBackoff?: Duration.Input
  /** The factor by which each wait is longer than the one before; 2 by default, at least 1. */
  readonly factor?: number
  /** The longest computed wait; unlimited by default, never below `initialBackoff`. */
  readonly maxBackoff?: Duration.Input
  /**
   * The random change of a wait. `full` draws from 0 to the wait, `equal` from half the wait to the wait, and a number j from (1 − j) to (1
   * + j) times the wait.
   */
  readonly jitter?: "none" | "full" | "equal" | number
  /** The longest hint that the schedule follows. A longer hint of a server ends the schedule; 60 seconds by default. */
  readonly maxHint?: Duration.Input
  /** An instant (milliseconds since the epoch, by `Clock`) that no wait may pass; none by default. */
  readonly deadline?: number
}

/** How often an effect is retried, and how long it waits before each retry. */
export type Options = Count & Delays

/** The options after validation, with durations in milliseconds. */
type Plan = Readonly<ReturnType<typeof plan>>

/** The longest wait that a timer can keep: about 24.8 days. */
const longest = 2 ** 31 - 1

/**
 * Makes a schedule with a limit of attempts. `maxAttempts` counts all attempts, `retries` the repetitions. The input of the schedule is the
 * error, whose `retryAfter` (or that of its `cause`) is the hint. The output is the wait. Throws a `RangeError` for invalid options.
 */
export const make = (options: Options): Schedule.Schedule<Duration.Duration, unknown> => {
  const limits = plan(options)
  return waiting(limits, (attempt) =>
    attempt < limits.maxAttempts ? jittered(grown(limits, attempt), limits) : undefined
  )
}

/**
 * A schedule for services that say how long to wait. It has five attempts, full jitter, and waits from 1 second up to 30. If only one of
 * `initialBackoff` and `maxBackoff` is given, the other adapts to it.
 */
export const honouringHints = (
  options: Partial<Count> & Delays = {}
): Schedule.Schedule<Duration.Duration, unknown> => {
  const { maxAttempts, retries, ...delays } = options
  const runs = maxAttempts === undefined && retries === undefined ? 5 : attempts(options)
  const initialBackoff = delays.initialBackoff ?? Math.min(1000, millis("maxBackoff", delays.maxBackoff ?? 1000))
  const maxBackoff = delays.maxBackoff ?? Math.max(30_000, millis("initialBackoff", initialBackoff))
  return make({ jitter: "full", ...delays, initialBackoff, maxBackoff, maxAttempts: runs })
}

/**
 * Follows each error's own `suggestedDelay` and `maxAttempts`. An error with nothing but `isRetryable: true` gets waits of 1 second and 4
 * attempts. An error without `isRetryable: true` ends the schedule. TnsAI does the same: it sleeps for the suggested delay, then retries.
 */
export const suggested = (
  options?: Pick<Delays, "maxHint" | "deadline">
): Schedule.Schedule<Duration.Duration, unknown> => (options === undefined ? asSuggested : suggestedWithin(options))

const suggestedWithin = (options: Pick<Delays, "maxHint" | "deadline">) =>
  waiting(plan({ maxAttempts: 1, ...options }), (attempt, error) => {
    const { isRetryable, maxAttempts = 1, suggestedDelay = Duration.zero } = outlookOf(error) ?? {}
    return isRetryable === true && attempt < maxAttempts
      ? Effect.succeed(Math.min(Duration.toMillis(suggestedDelay), longest))
      : undefined
  })

/** Makes a schedule whose wait is the longer one of `waitOf` and the error's hint. The schedule ends when `waitOf` returns `undefined`. */
const waiting = (
  { deadline, maxHint }: Plan,
  waitOf: (attempt: number, error: unknown) => Effect.Effect<number> | undefined
): Schedule.Schedule<Duration.Duration, unknown> => {
  const step = ({ attempt, input, now }: Schedule.InputMetadata<unknown>) =>
    Effect.flatMap(waitOf(attempt, input) ?? ended, (wait) => {
      const hint = hintOf(input) ?? 0
      const delay = Math.max(wait, hint)
      if (hint > maxHint || now + delay > deadline) return ended
      const duration = Duration.millis(delay)
      return Effect.succeed<[Duration.Duration, Duration.Duration]>([duration, duration])
    })
  return heeding(Schedule.fromStepWithMetadata(Effect.succeed(step)), maxHint)
}

const ended = Cause.done(Duration.zero)

/** Raises the waits of a schedule to its errors' hints. It ends the schedule at a hint longer than `maxHint`. */
export const withHints = <Output, Input, Error, Env>(
  self: Schedule.Schedule<Output, Input, Error, Env>,
  options?: Pick<Delays, "maxHint">
): Schedule.Schedule<Output, Input, Error, Env> => {
  const { maxHint } = plan({ maxAttempts: 1, ...options })
  return heeding(
    Schedule.modifyDelay(
      Schedule.while(self, ({ input }) => Effect.succeed((hintOf(input) ?? 0) <= maxHint)),
      ({ duration, input }) => Effect.succeed(Duration.max(duration, Duration.millis(hintOf(input) ?? 0)))
    ),
    maxHint
  )
}

const MaxHint: unique symbol = Symbol.for("~@kintsugi/core/Backoff/MaxHint")

/**
 * The `maxHint` in milliseconds of a schedule that this module made. `undefined` for any other schedule, which ignores hints.
 *
 * @internal
 */
export const maxHintOf = (self: Schedule.Schedule<unknown, never, unknown, unknown>): number | undefined =>
  // Mutant `Predicate.hasProperty(self, MaxHint) || Predicate.isNumber(self[MaxHint])` survives: what is absent is no number
  Predicate.hasProperty(self, MaxHint) && Predicate.isNumber(self[MaxHint]) ? self[MaxHint] : undefined

const heeding = <S extends Schedule.Schedule<unknown, never, unknown, unknown>>(
  self: S,
  maxHint: number | undefined
): S => Object.assign(self, { [MaxHint]: maxHint })

/**
 * Makes a schedule wait at least as long as its errors' hints. A schedule of this module does so already, and keeps its own `maxHint`.
 *
 * @internal
 */
export const hinted = <Output, Input, Error, Env>(
  self: Schedule.Schedule<Output, Input, Error, Env>
): Schedule.Schedule<Output, Input, Error, Env> => (maxHintOf(self) === undefined ? withHints(self) : self)

/**
 * Marks a schedule as one that follows hints, with the `maxHint` of another schedule.
 *
 * @internal
 */
export const alsoHeeding = <S extends Schedule.Schedule<unknown, never, unknown, unknown>>(
  self: S,
  that: Schedule.Schedule<unknown, never, unknown, unknown>
): S => heeding(self, maxHintOf(that))

/**
 * The hint of an error in milliseconds: its own `retryAfter`, that of an error in its chain of causes, or the header `Retry-After` of a
 * foreign response. A hint of 0 counts as 1 ms.
 *
 * @internal
 */
export const hintOf = (error: unknown): number | undefined => {
  const retryAfter = hintFrom(error)?.retryAfter
  return retryAfter === undefined ? undefined : Math.max(1, Duration.toMillis(retryAfter))
}

/**
 * The hint of an error, and the error that carries it: the error itself, or the nearest cause with a hint.
 *
 * @internal
 */
export const hintFrom = (
  error: unknown
): { readonly retryAfter: Duration.Duration; readonly carrier: unknown } | undefined => {
  let link = error
  // the loop is bounded, because a chain of causes may be a circle
  for (let depth = 0; depth < 32 && Predicate.isObject(link); depth++) {
    const retryAfter = property(link, "retryAfter")
    if (Duration.isDuration(retryAfter)) return { retryAfter, carrier: link }
    link = property(link, "cause")
  }
  // the code of a provider has already copied the header of a response into its error
  const foreign = tagOf(error) === "ExecutionError" ? property(error, "cause") : error
  const beneath = hintBeneath(foreign)
  return beneath === undefined ? undefined : { retryAfter: beneath, carrier: foreign }
}

/** The wait before jitter. A first wait of zero stays zero: zero times an infinite factor would be `NaN`. */
const grown = (limits: Plan, attempt: number): number =>
  limits.initial === 0 ? 0 : Math.min(limits.initial * Math.pow(limits.factor, attempt - 1), limits.cap, longest)

const jittered = (wait: number, { cap, jitter }: Plan): Effect.Effect<number> => {
  if (jitter === "none") return Effect.succeed(wait)
  return Effect.map(Random.next, (draw) => {
    if (jitter === "full") return wait * draw
    if (jitter === "equal") return (wait / 2) * (1 + draw)
    return Math.min(wait * (1 - jitter + 2 * jitter * draw), cap, longest)
  })
}

const plan = (options: Options) => {
  const initial = millis("initialBackoff", options.initialBackoff ?? 0)
  const cap = options.maxBackoff === undefined ? longest : millis("maxBackoff", options.maxBackoff)
  if (cap < initial) return refuse("maxBackoff", "must not be below initialBackoff", cap)
  const factor = options.factor ?? 2
  if (!(factor >= 1 && Number.isFinite(factor)))
    return refuse("factor", "must be a finite number of at least 1", factor)
  const jitter = options.jitter ?? "none"
  if (Predicate.isNumber(jitter) ? !(jitter >= 0 && jitter <= 1) : !["none", "full", "equal"].includes(jitter)) {
    return refuse("jitter", "must be none, full, equal or a number in [0, 1]", jitter)
  }
  const deadline = options.deadline ?? Infinity
  if (Number.isNaN(deadline)) return refuse("deadline", "must be an instant", deadline)
  const maxHint = millis("maxHint", options.maxHint ?? "60 seconds")
  return { maxAttempts: attempts(options), initial, factor, cap, jitter, maxHint, deadline }
}

/**
 * Converts `retries` or `maxAttempts` to the number of all attempts. Throws a `RangeError` unless exactly one of them is given and valid.
 *
 * @internal
 */
export const attempts = (count: { readonly retries?: number; readonly maxAttempts?: number }): number => {
  const { maxAttempts, retries } = count
  if (retries !== undefined && maxAttempts !== undefined) {
    return refuse("retries", "must not stand beside maxAttempts", retries)
  }
  if (retries === undefined && maxAttempts === undefined) {
    throw new RangeError(`Backoff: retries (extra runs) or maxAttempts (all runs) must be given, got ${shown(count)}`)
  }
  const [name, given, least] = retries === undefined ? ["maxAttempts", maxAttempts, 1] : ["retries", retries, 0]
  // Mutant `true` for `given !== undefined` survives: what is absent is no whole number
  if (given !== undefined && Number.isSafeInteger(given) && given >= least) return given - least + 1
  return refuse(name, `must be a whole number of at least ${least}`, given)
}

const millis = (name: string, input: Duration.Input): number => {
  // Duration reads NaN as zero, and a wait of zero by mistake would retry without a pause
  const hasNaN = Predicate.isObjectOrArray(input) ? Object.values(input).some(Number.isNaN) : Number.isNaN(input)
  const duration = hasNaN ? undefined : Option.getOrUndefined(Duration.fromInput(input))
  const value = duration === undefined ? Number.NaN : Duration.toMillis(duration)
  return Number.isFinite(value) && value >= 0 ? value : refuse(name, "must be a finite duration of at least 0", input)
}

/** The names of the given options, for the error text. */
const shown = (options: object): string => Object.keys(options).join(", ") || "neither"

const refuse = (name: string, rule: string, value: unknown): never => {
  throw new RangeError(`Backoff: ${name} ${rule}, got ${String(value)}`)
}

/**
 * The schedule of `suggested()`. All callers share this value, so a handler that calls `suggested()` at each failure continues one
 * schedule.
 */
const asSuggested = /* @__PURE__ */ suggestedWithin({})
