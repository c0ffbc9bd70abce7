/**
 * How much one run may spend. Limits are data; the meter of a run checks them before each step. A run shares its budget with its fixers
 * and sub-agents: their spending counts against the limits of the run.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { demand, options } from "../data/Demand.ts"
import { check as checkPrice, type Prices } from "./Price.ts"

export type { Price } from "./Price.ts"
export { costOf } from "./Price.ts"
/** @internal */
export { costOfItems, mostOf } from "./Price.ts"

/**
 * All limits of a run, with the defaults filled in.
 *
 * @hidden
 */
export interface Budget {
  /** Model requests that are not retries; 8 by default. */
  readonly maxTurns: number
  /** Tool calls of models, also of unknown tools; the attempts of one call count once. 32 by default. */
  readonly maxToolCalls: number
  /** Milliseconds from the start of the run. At the end, work in progress is interrupted. 5 minutes by default. */
  readonly maxDuration: number
  /** Tokens of all requests and replies together; unlimited by default. */
  readonly maxTokens: number
  /** What all requests and replies may cost, in US dollars; unlimited by default. A model without a known price fails the run. */
  readonly maxCost: number
  /** Calls of one tool with no call of another tool in between; unlimited by default. A run does not share this limit. */
  readonly maxConsecutiveSameTool: number
  /** Levels of nested runs: agents within tools and fixers. 16 by default. */
  readonly maxDepth: number
  /** The longest arguments of a call, in bytes of UTF-8; longer ones are denied. 1 MiB by default. */
  readonly maxArgsBytes: number
  /** Messages that may wait in the inbox of the run, see `run.say`; 64 by default. A run does not share this limit. */
  readonly maxUnread: number
  /** Events that a started run keeps for its readers, see `run.events`; 4,096 by default. A run does not share this limit. */
  readonly maxBufferedEvents: number
  /** About how many bytes of text these events may have; 4 MiB by default. The transcript does not count. */
  readonly maxBufferedBytes: number
  /** Calls of one reply that run at once; all of them by default. */
  readonly toolConcurrency: number
  /** The share of a limit at which a run emits a warning about it, once for each limit. 0.8 by default; 1 switches warnings off. */
  readonly warnAt: number
  /** What models cost, by their names; before the prices that the layers of the providers know. */
  readonly prices: Prices | undefined
  /** How the run reacts to a tool that fails repeatedly in the same way. */
  readonly repeatedFailures: RepeatedFailures
}

/** After how many equal failures of a tool in a row the run reacts. */
type RepeatedFailures = {
  /** From this count on, the model reads that it repeats itself; 3 by default. */
  readonly hint: number
  /** At this count, the tool is withheld for one turn; 4 by default. */
  readonly withhold: number
  /** At this count, the run ends; 5 by default. */
  readonly stop: number
}

/** The limits that you set; `make` adds defaults. */
export type Limits = Partial<Omit<Budget, "maxDuration" | "prices" | "repeatedFailures">> & {
  readonly maxDuration?: Duration.Input
  readonly prices?: Prices
  readonly repeatedFailures?: Partial<RepeatedFailures>
}

const defaults: Budget = {
  maxTurns: 8,
  maxToolCalls: 32,
  maxDuration: 5 * 60_000,
  maxTokens: Infinity,
  maxCost: Infinity,
  maxConsecutiveSameTool: Infinity,
  maxDepth: 16,
  maxArgsBytes: 1024 * 1024,
  maxUnread: 64,
  maxBufferedEvents: 4096,
  maxBufferedBytes: 4 * 1024 * 1024,
  toolConcurrency: Infinity,
  warnAt: 0.8,
  prices: undefined,
  // a hint after 3 equal failures in a row, the tool withheld after 4, the end of the run after 5
  repeatedFailures: { hint: 3, withhold: 4, stop: 5 }
}

/** The limits that must be finite: they keep a run from going on for ever. */
const mustEnd: ReadonlySet<string> = new Set([
  "maxTurns",
  "maxToolCalls",
  "maxDepth",
  "maxUnread",
  "maxBufferedEvents",
  "maxBufferedBytes"
])

/**
 * Makes a budget; limits that you leave out get defaults. Throws a `RangeError` on an invalid limit: counts have to be whole numbers of at
 * least 1.
 */
export const make = (limits: Limits = {}): Budget => over(defaults, limits)

/**
 * The same budget with these limits instead of its own; throws on the limits that `make` refuses.
 *
 * @internal
 */
export const over = (self: Budget, limits: Limits): Budget => {
  options("Budget", limits, Object.keys(defaults))
  const { maxDuration, prices = self.prices, repeatedFailures, ...numbers } = given(limits)
  const isPriced = prices === undefined || Predicate.isObject(prices)
  demand("Budget: prices", "prices by the names of models", prices, isPriced)
  for (const [model, price] of Object.entries(prices ?? {})) checkPrice(`Budget: the price of '${model}'`, price)
  const budget: Budget = {
    ...self,
    ...numbers,
    ...(maxDuration === undefined ? {} : { maxDuration: millisOf(maxDuration) }),
    prices,
    repeatedFailures: { ...self.repeatedFailures, ...given(repeatedFailures ?? {}) }
  }
  const { prices: _, repeatedFailures: repeated, warnAt, ...counts } = budget
  for (const [name, limit] of Object.entries({ ...counts, ...repeated })) check(name, limit)
  if (!(warnAt > 0 && warnAt <= 1)) throw new RangeError(`Budget: warnAt must be above 0 and at most 1, got ${warnAt}`)
  return budget
}

/**
 * The budget with a breaker that starts to count after this many failures in a row.
 *
 * @internal
 */
export const patient = (self: Budget, patience: number | undefined): Budget => {
  if (patience === undefined) return self
  const least = (count: number) => Math.max(count, patience + 3)
  const { hint, stop, withhold } = self.repeatedFailures
  return { ...self, repeatedFailures: { hint: least(hint), withhold: least(withhold), stop: least(stop) } }
}

/** Removes fields with the value `undefined`. */
const given = <A extends object>(options: A): A =>
  // only optional keys are left out
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as A

/**
 * For runs whose only limits are those of their ancestors.
 *
 * @internal
 */
export const unlimited: Budget = {
  ...defaults,
  maxTurns: Infinity,
  maxToolCalls: Infinity,
  maxDuration: Infinity,
  maxDepth: Infinity
}

/** The limits that are amounts above 0; all others are counts. */
const amounts: ReadonlySet<string> = new Set(["maxCost", "maxDuration"])

/**
 * Whether a number can be this limit of a budget.
 *
 * @internal
 */
export const isLimit = (name: string, limit: number): boolean =>
  limit === Infinity ? !mustEnd.has(name) : amounts.has(name) ? limit > 0 : Number.isSafeInteger(limit) && limit >= 1

/**
 * Throws a `RangeError` on a number that cannot be this limit.
 *
 * @internal
 */
export const check = (name: string, limit: number): void => {
  if (isLimit(name, limit)) return
  const what = amounts.has(name) ? "above 0" : "a whole number of at least 1"
  throw new RangeError(`Budget: ${name} must be ${what}, got ${String(limit)}`)
}

const millisOf = (input: Duration.Input): number => {
  const millis = Duration.toMillis(Option.getOrElse(Duration.fromInput(input), () => Duration.zero))
  if (millis > 0) return millis
  throw new RangeError(`Budget: maxDuration must be a duration above 0, got ${String(input)}`)
}

/** What a run does when it has reached a limit. `Agent.onBudgetExceeded` returns it. */
export type LimitAction =
  | { readonly type: "stop" }
  | { readonly type: "extend"; readonly limit: number }
  | { readonly type: "checkpoint" }
  | { readonly type: "answer" }

/** Ends the run with a `BudgetExceededError`. */
export const stop: LimitAction = { type: "stop" }

/**
 * Gives the run a higher limit. The limit is in milliseconds for `maxDuration`. Throws a `RangeError` for a number at or below 0. A number
 * that cannot be the exceeded limit, such as a fraction for a count, is a defect of the run.
 */
export const extend = (limit: number): LimitAction => {
  if (limit > 0) return { type: "extend", limit }
  throw new RangeError(`Budget.extend: the new limit must be above 0, got ${String(limit)}`)
}

/** Suspends the run: a larger budget can resume it. A run that cannot be resumed ends as with `stop`. */
export const checkpoint: LimitAction = { type: "checkpoint" }

/**
 * Lets the model answer once more, without tools, from what it knows. The answer is the output of the run, and `endedBy` of the outcome has
 * the limit. The turn is none of `maxTurns`. If its reply is empty, fails or does not fit, the run fails with the `BudgetExceededError` of
 * the limit. At `maxDuration`, and where an ancestor has no turn left, this is `stop`.
 */
export const answer: LimitAction = { type: "answer" }
