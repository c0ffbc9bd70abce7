/** The depth to which foreign values are written as JSON. */

/** The deepest level that is written: deeper than people read, but within the stack. */
export const maxDepth = 500

/** Replaces deeper values. */
export const elided = "…"
