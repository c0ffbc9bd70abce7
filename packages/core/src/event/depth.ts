/** How deeply a value of any kind is written down. */

/** Deeper than a person reads, and not as deep as a stack. */
export const maxDepth = 500

/** Replaces deeper values. */
export const elided = "…"
