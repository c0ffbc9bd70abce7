/** The smallest input that still fails in the same way, as far as leaving pieces out leads. */
import { simpler } from "./mutating.ts"

/** Leaves out nodes of JSON, then ever smaller pieces of text, as long as `fails` holds. */
export const smallest = (input: string, fails: (text: string) => boolean): string =>
  byPieces(byNodes(input, fails), fails)

const byNodes = (input: string, fails: (text: string) => boolean): string => {
  let text = input
  for (let isShorter = true; isShorter;) {
    isShorter = false
    for (const next of simpler(text)) {
      if (next.length >= text.length || !fails(next)) continue
      text = next
      isShorter = true
      break
    }
  }
  return text
}

const byPieces = (input: string, fails: (text: string) => boolean): string => {
  let text = input
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < text.length;) {
      const shorter = text.slice(0, at) + text.slice(at + size)
      if (fails(shorter)) text = shorter
      else at += size
    }
  }
  return text
}
