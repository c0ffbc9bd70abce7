/** The bounds of every call, which its tables cannot raise. */

/** The most repairs of one call, over all rows and rungs. */
export const maxRepairs = 8

/**
 * The most attempts of one call: a last bound, for tables whose own counts are absurd. A rung that would run the call again
 * gives up there, and the next rung is asked.
 */
export const maxAttemptsPerCall = 10_000

/** The same in the words of an error. */
export const attemptCap = `${maxAttemptsPerCall} attempts per call`

/** How often the conversation may be shortened within one call of a model, over all rows and rungs, and all tables around it. */
export const maxCompactions = 2
