/**
 * How much one run may spend. Limits are data; whoever counts compares before it acts. A run shares its budget with its
 * fixers and sub-agents: what they spend, it has spent.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as FailureHistory from "./FailureHistory.ts"
import type * as Price from "./Price.ts"

export interface Budget {
  /** Model requests that are not retries; 8 by default. */
  readonly maxTurns: number
  /** Calls that models make, unknown ones too; attempts within a call count once. 32 by default. */
  readonly maxToolCalls: number
  /** Milliseconds from the start of the run. What is still at work then is stopped. 5 minutes by default. */
  readonly maxDuration: number
  /** Tokens of all requests and replies together; unlimited by default. */
  readonly maxTokens: number
  /** What all requests and replies may cost, by `prices`; unlimited by default. */
  readonly maxCost: number
  /** Calls of one tool with no call of another in between; unlimited by default. It is not shared. */
  readonly maxConsecutiveSameTool: number
  /** Agents within tools and fixers; 16 by default. */
  readonly maxDepth: number
  /** The longest arguments of a call, in bytes of UTF-8; longer ones are denied. 1 MiB by default. */
  readonly maxArgsBytes: number
  /** Calls of one reply that run at once; all of them by default. */
  readonly toolConcurrency: number
  /** The share of a limit at which an event warns of it, once per run; 0.8 by default, none at 1. */
  readonly warnAt: number
  /** What models cost. `maxCost` needs the price of every model of the run. */
  readonly prices: Price.Prices | undefined
  /** What is done about a tool that fails again and again in the same way. */
  readonly repeatedFailures: FailureHistory.RepeatedFailures
}

type Numbers = Omit<Budget, "repeatedFailures" | "prices">

/** What a user gives: the rest is filled in. */
export type Limits = Partial<Omit<Numbers, "maxDuration">> & {
  readonly maxDuration?: Duration.Input
  readonly prices?: Price.Prices
  readonly repeatedFailures?: Partial<FailureHistory.RepeatedFailures>
}

const defaults: Numbers = {
  maxTurns: 8,
  maxToolCalls: 32,
  maxDuration: 5 * 60_000,
  maxTokens: Infinity,
  maxCost: Infinity,
  maxConsecutiveSameTool: Infinity,
  maxDepth: 16,
  maxArgsBytes: 1024 * 1024,
  toolConcurrency: Infinity,
  warnAt: 0.8
}

/** What may be left without a limit: none of it makes a run go on for ever, as long as turns have one. */
const mayBeInfinite: ReadonlySet<string> = new Set([
  "maxDuration",
  "maxTokens",
  "maxCost",
  "maxConsecutiveSameTool",
  "toolConcurrency",
  "maxArgsBytes",
  "hint",
  "withhold",
  "stop"
])

/** Fills in the defaults. Refuses what is no limit with a `RangeError`: counts have to be whole numbers of at least 1. */
export const make = (limits?: Limits): Budget => {
  const {
    maxCost = defaults.maxCost,
    maxDuration,
    prices,
    repeatedFailures,
    warnAt = defaults.warnAt,
    ...counts
  } = {
    ...limits
  }
  const repeated = { ...FailureHistory.defaults, ...repeatedFailures }
  const numbers = { ...defaults, ...counts }
  for (const [name, limit] of Object.entries({ ...numbers, ...repeated })) {
    if (name !== "warnAt" && name !== "maxCost" && name !== "maxDuration") checkCount(name, limit)
  }
  if (!(maxCost > 0)) throw new RangeError(`Budget: maxCost must be above 0, got ${String(maxCost)}`)
  if (!(warnAt > 0 && warnAt <= 1)) throw new RangeError(`Budget: warnAt must be above 0 and at most 1, got ${warnAt}`)
  return { ...numbers, maxCost, warnAt, maxDuration: millisOf(maxDuration), prices, repeatedFailures: repeated }
}

/** For runs whose only limits are those of the runs above. */
export const unlimited: Budget = {
  ...defaults,
  maxTurns: Infinity,
  maxToolCalls: Infinity,
  maxDuration: Infinity,
  maxDepth: Infinity,
  prices: undefined,
  repeatedFailures: FailureHistory.defaults
}

const checkCount = (name: string, limit: number): void => {
  if (limit === Infinity && mayBeInfinite.has(name)) return
  if (Number.isSafeInteger(limit) && limit >= 1) return
  throw new RangeError(`Budget: ${name} must be a whole number of at least 1, got ${String(limit)}`)
}

const millisOf = (input: Duration.Input | undefined): number => {
  if (input === undefined) return defaults.maxDuration
  const millis = Option.match(Duration.fromInput(input), { onNone: () => Number.NaN, onSome: Duration.toMillis })
  if (millis > 0) return millis
  throw new RangeError(`Budget: maxDuration must be a duration above 0, got ${String(input)}`)
}

/** What is to be done about a limit that was reached. */
export type Decision =
  | { readonly kind: "stop" }
  | { readonly kind: "extend"; readonly limit: number }
  | { readonly kind: "checkpoint" }

/** The run ends with `BudgetExceededError`. */
export const stop: Decision = { kind: "stop" }

/** The run goes on with a new limit, which has to be above the present one; milliseconds for `maxDuration`. */
export const extend = (limit: number): Decision => ({ kind: "extend", limit })

/** The run is suspended, and can be resumed with a larger budget. Where nobody can resume it, it ends as with `stop`. */
export const checkpoint: Decision = { kind: "checkpoint" }
