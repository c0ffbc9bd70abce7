/**
 * The snapshots of this process that no other program can have made: a run of this process wrote them, or their signature was verified. A
 * copy is not one of them.
 */
import type { Audience } from "../data/Signing.ts"

/** With the audience for which a document was verified; without one for a snapshot that never was a document. */
export const genuine = new WeakMap<object, Audience | undefined>()
