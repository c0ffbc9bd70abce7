/** Cuts the bytes of a body into pieces. Networks cut bodies anywhere, and readers have to cope with that. */

/**
 * Where a body is cut: not at all (`whole`), after every `event` (a blank line, LF or CRLF), after every `line`, after every `byte`, in the
 * middle of every character of more than one byte, between CR and LF, or after every given number of bytes.
 */
export type Split =
  | "whole"
  | "event"
  | "line"
  | "byte"
  | "inside-characters"
  | "inside-crlf"
  | { readonly every: number }

const CR = 13
const LF = 10

/** Where to cut a body of this content type into its parts: events of an event stream, lines of ndjson, otherwise one part. */
export const parts = (contentType: string): Split =>
  contentType.includes("event-stream") ? "event" : contentType.includes("ndjson") ? "line" : "whole"

/** Cuts bytes into pieces, in order. No byte is lost and no piece is empty. */
export const pieces = (bytes: Uint8Array, split: Split): ReadonlyArray<Uint8Array> => {
  const found: Array<Uint8Array> = []
  let start = 0
  // Mutant `end <= bytes.length` survives: the last piece is the same, whether it is cut or left
  for (let end = 1; end < bytes.length; end++) {
    if (cutsAt(bytes, end, split)) {
      found.push(bytes.subarray(start, end))
      start = end
    }
  }
  if (start < bytes.length) found.push(bytes.subarray(start))
  return found
}

/** Whether to cut before the byte at `index`, which is at least 1. */
const cutsAt = (bytes: Uint8Array, index: number, split: Split): boolean => {
  const before = bytes[index - 1] ?? 0
  const here = bytes[index] ?? 0
  switch (split) {
    case "whole":
      return false
    case "byte":
      return true
    case "event":
      return before === LF && (bytes[index - 2] === LF || (bytes[index - 2] === CR && bytes[index - 3] === LF))
    case "line":
      return before === LF
    case "inside-characters":
      // a continuation byte of UTF-8 is 10xxxxxx
      return (here & 0b1100_0000) === 0b1000_0000
    case "inside-crlf":
      return before === CR && here === LF
    default:
      return index % Math.max(1, Math.floor(split.every)) === 0
  }
}
