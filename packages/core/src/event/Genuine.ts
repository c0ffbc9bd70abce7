/**
 * Marks snapshots that this process can trust: its own runs wrote them, or it verified their signature. A copy of such a snapshot is not
 * marked.
 */
import type { Audience } from "../data/Signing.ts"

/** The audience of a verified document; `undefined` for a snapshot that was never a document. */
export const genuine = new WeakMap<object, Audience | undefined>()
