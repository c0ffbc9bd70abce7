/** How a snapshot says what the model reads of a conversation that was shortened. */
import type * as Message from "../data/Message.ts"

/** The new beginning of a compacted conversation, and the index in the whole one from which on both are the same. */
export const abridged = (
  whole: Message.Transcript,
  compacted: Message.Transcript
): { readonly head: Message.Transcript; readonly from: number } => {
  let shared = 0
  while (shared < compacted.length && compacted.at(-1 - shared) === whole.at(-1 - shared)) shared++
  return { head: compacted.slice(0, compacted.length - shared), from: whole.length - shared }
}
