/** How much one run may spend. Limits are data; whoever counts compares before it acts. */
import * as FailureHistory from "./FailureHistory.ts"

export interface Budget {
  /** Model requests that are not retries; 8 by default. */
  readonly maxTurns: number
  /** Calls that models make, unknown ones too; attempts within a call count once. 32 by default. */
  readonly maxToolCalls: number
  /** Agents within tools and fixers; 16 by default. */
  readonly maxDepth: number
  /** The longest arguments of a call, in bytes of UTF-8; longer ones are denied. 1 MiB by default. */
  readonly maxArgsBytes: number
  /** Calls of one reply that run at once; all of them by default. */
  readonly toolConcurrency: number
  /** What is done about a tool that fails again and again in the same way. */
  readonly repeatedFailures: FailureHistory.RepeatedFailures
}

/** What a user gives: the rest is filled in. */
export type Limits = Partial<Omit<Budget, "repeatedFailures">> & {
  readonly repeatedFailures?: Partial<FailureHistory.RepeatedFailures>
}

const defaults: Omit<Budget, "repeatedFailures"> = {
  maxTurns: 8,
  maxToolCalls: 32,
  maxDepth: 16,
  maxArgsBytes: 1024 * 1024,
  toolConcurrency: Infinity
}

/** What may be left without a limit: none of it makes a run go on for ever. */
const mayBeInfinite: ReadonlySet<string> = new Set(["toolConcurrency", "maxArgsBytes", "hint", "withhold", "stop"])

/** Fills in the defaults. Refuses limits that are no whole numbers of at least 1 with a `RangeError`. */
export const make = (limits?: Limits): Budget => {
  const { repeatedFailures, ...others } = limits ?? {}
  const numbers = { ...defaults, ...others }
  const repeated = { ...FailureHistory.defaults, ...repeatedFailures }
  for (const [name, limit] of Object.entries({ ...numbers, ...repeated })) {
    if (limit === Infinity && mayBeInfinite.has(name)) continue
    if (!(Number.isSafeInteger(limit) && limit >= 1)) {
      throw new RangeError(`Budget: ${name} must be a whole number of at least 1, got ${String(limit)}`)
    }
  }
  return { ...numbers, repeatedFailures: repeated }
}
