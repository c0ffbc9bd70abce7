/** How deeply a value of any kind is written down. */

/** Deeper than a person reads, and not as deep as a stack. */
export const maxDepth = 500

/** In the place of what is deeper. */
export const elided = "…"
