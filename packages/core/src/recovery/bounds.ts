/** The limits of every call. Tables cannot raise them. */

/** The most repairs of one call, over all rows and rungs. */
export const maxRepairs = 8

/**
 * The most attempts of one call, as a guard against tables with absurd counts. A rung that would exceed the limit gives up, and the next
 * rung decides.
 */
export const maxAttemptsPerCall = 10_000

/** The cap of attempts, for the text of an error. */
export const attemptCap = `${maxAttemptsPerCall} attempts per call`

/** The most compactions within one model call, over all rows, rungs and surrounding tables. */
export const maxCompactions = 2
