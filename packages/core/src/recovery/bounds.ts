/** What bounds every call, whatever its tables say. */

/** Repair rounds that one call may take, over all rows and rungs. */
export const maxRepairRounds = 8

/**
 * Attempts that one call may take: a last bound, for tables whose own counts are absurd. Whatever would run it again
 * gives up there, and the next rung is asked.
 */
export const maxAttemptsPerCall = 10_000

/** The same in the words of an error. */
export const attemptCap = `${maxAttemptsPerCall} attempts per call`

/** How often the conversation may be shortened within one call of a model, over all rows and rungs, and all tables around it. */
export const maxCompactions = 2
