/** How much one run may spend. Limits are data; whoever counts compares before it acts. */

export interface Budget {
  /** Model requests that are not retries; 8 by default. */
  readonly maxTurns: number
  /** Calls that models make, unknown ones too; attempts within a call count once. 32 by default. */
  readonly maxToolCalls: number
  /** Agents within tools and fixers; 16 by default. */
  readonly maxDepth: number
}

const defaults: Budget = { maxTurns: 8, maxToolCalls: 32, maxDepth: 16 }

/** Fills in the defaults. Refuses limits that are no whole numbers of at least 1 with a `RangeError`. */
export const make = (limits?: Partial<Budget>): Budget => {
  const budget = { ...defaults, ...limits }
  for (const [name, limit] of Object.entries(budget)) {
    if (!(Number.isSafeInteger(limit) && limit >= 1)) {
      throw new RangeError(`Budget: ${name} must be a whole number of at least 1, got ${String(limit)}`)
    }
  }
  return budget
}
