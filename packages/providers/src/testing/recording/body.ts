/** Stores the bodies of answers in a recording without their secrets, and restores the bytes. */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Chunk, Response } from "./format.ts"
import { gather } from "./gathering.ts"
import type { Secrets } from "./secrets.ts"

type Stored = Pick<Response, "json" | "layout" | "chunks">

/**
 * Converts a body to its form in the file. A complete JSON text that was not a stream is stored as JSON, every other body in the pieces in
 * which it arrived. If redaction changes the text, the pieces end as near as possible to their original ends.
 */
export const store = (
  pieces: ReadonlyArray<Uint8Array>,
  mayBeJson: boolean,
  secrets: Pick<Secrets, "text" | "json">
): Stored => {
  const bytes = joined(pieces)
  const text = decoded(bytes)
  if (text === undefined) {
    const clean = redactedBytes(bytes, secrets)
    return { chunks: (binary(clean) === binary(bytes) ? pieces : [clean]).map(chunkOf) }
  }
  const json = mayBeJson ? parsed(text) : undefined
  if (json !== undefined) {
    const layout = layoutOf(json, text)
    const clean = secrets.json(json)
    if (layout !== undefined) return { json: clean, ...(layout === "compact" ? {} : { layout }) }
  }
  const clean = cleaned(text, secrets)
  const cuts = endsOf(pieces)
  // a body that was cut may end within a character
  const left = joined([new TextEncoder().encode(clean), bytes.subarray(new TextEncoder().encode(text).length)])
  // the last piece ends at the end of the text, not at its original end
  const ends = clean === text ? cuts : [...moved(cuts, text, clean).slice(0, -1), left.length]
  return { chunks: cutAt(left, ends).map(chunkOf) }
}

/** The bytes of a body from the file, in the pieces in which they will be replayed. */
export const restore = ({ chunks, json, layout }: Stored): ReadonlyArray<Uint8Array> => {
  const encoder = new TextEncoder()
  if (json !== undefined)
    return [encoder.encode(layout === "indented" ? JSON.stringify(json, null, 2) : JSON.stringify(json))]
  return (chunks ?? []).map((chunk) =>
    Predicate.isString(chunk)
      ? encoder.encode(chunk)
      : Uint8Array.from(atob(chunk.base64), (character) => character.charCodeAt(0))
  )
}

export const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

/** Decodes UTF-8 up to a character that is cut off at the end; `undefined` if the bytes are not UTF-8. */
const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

export const parsed = (text: string): Schema.Json | undefined => {
  try {
    // the result of `JSON.parse` is JSON
    return JSON.parse(text) as Schema.Json
  } catch {
    return undefined
  }
}

const layoutOf = (json: Schema.Json, text: string): Response["layout"] => {
  const bare = text.trim()
  if (bare === JSON.stringify(json)) return "compact"
  return bare === JSON.stringify(json, null, 2) ? "indented" : undefined
}

const binary = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** Redacts secrets in bytes that are not UTF-8, by reading each byte as one character. */
const redactedBytes = (piece: Uint8Array, secrets: Pick<Secrets, "text">): Uint8Array =>
  Uint8Array.from(secrets.text(binary(piece)), (character) => character.charCodeAt(0))

const chunkOf = (piece: Uint8Array): Chunk => {
  const text = decoded(piece)
  const isWhole = text !== undefined && new TextEncoder().encode(text).length === piece.length
  return isWhole ? text : { base64: btoa(binary(piece)) }
}

const endsOf = (pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<number> => {
  let end = 0
  return pieces.map(({ length }) => (end += length))
}

const cutAt = (bytes: Uint8Array, ends: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  let start = 0
  return ends.flatMap((end) => {
    if (end <= start) return []
    const piece = bytes.subarray(start, end)
    start = end
    return [piece]
  })
}

/** Matches a line of a stream that contains JSON, in three groups: the text before the JSON, the JSON, and the blanks behind it. */
const jsonLine = /^(data:\s*)?([{[].*[}\]])(\s*)$/

/** Matches a comment line of an event stream, in two groups: the colon, and the text of the comment. */
const commentLine = /^(:\s*)(\S.*)$/

/** Redacts a stream line by line, so that the rest of it stays unchanged. It also finds secrets that are spread over several lines. */
const cleaned = (text: string, secrets: Pick<Secrets, "text" | "json">): string => {
  const lines = text.split("\n").map((line) => {
    // Mutant `["Stryker was here"]` survives: the first element is not read
    const [, before = "", json = "", behind = ""] = jsonLine.exec(line) ?? []
    // Mutant `["Stryker was here"]` survives: the first element is not read
    const [, colon = "", comment = ""] = commentLine.exec(line) ?? []
    // Mutant `[]` #1 survives: a comment without secrets is written as it was
    if (colon !== "") return { line, before: colon, behind, value: [comment], copy: [comment] }
    const value = parsed(json)
    return { line, before, behind, value, copy: structuredClone(value) }
  })
  gather(
    lines.flatMap(({ copy }) => (copy === undefined ? [] : [copy])),
    secrets.text
  )
  return lines
    .map(({ before, behind, copy, line, value }) => {
      if (copy === undefined) return secrets.text(line)
      const clean = secrets.json(copy)
      const json = JSON.stringify(clean)
      if (json === JSON.stringify(value)) return line
      return before.startsWith(":") ? before + String(clean) : before + json + behind
    })
    .join("\n")
}

/**
 * Moves the ends of pieces from a text to its redacted form, which has the same number of lines. Each end stays at its offset within its
 * line, or moves to the end of a shorter line.
 */
const moved = (ends: ReadonlyArray<number>, before: string, after: string): ReadonlyArray<number> => {
  const encoder = new TextEncoder()
  const sizes = (text: string) => text.split("\n").map((line) => encoder.encode(line).length + 1)
  const [old, present] = [sizes(before), sizes(after)]
  let [line, from, to] = [0, 0, 0]
  return ends.map((end) => {
    while (line < old.length - 1 && end >= from + (old[line] ?? 0)) {
      from += old[line] ?? 0
      to += present[line] ?? 0
      line++
    }
    return to + Math.min(end - from, (present[line] ?? 1) - 1)
  })
}
