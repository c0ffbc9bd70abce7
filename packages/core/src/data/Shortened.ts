/** Which settlements have a text that was cut or put aside. */
import type { Settlement } from "./parts.ts"

/**
 * The settlements whose text was cut or put aside. Such a text comes in part from the code of this library and not from records, so a durable
 * run keeps it: a later release may word it otherwise. A copy of such a settlement has to be added too.
 */
export const shortened = new WeakSet<Settlement>()

/** Adds a settlement to those whose text was shortened. */
export const asShortened = (settlement: Settlement): Settlement => {
  shortened.add(settlement)
  return settlement
}
