/** JSON as it is found in the wild: inside prose, cut off, unquoted. Everything here is total. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { jsonrepair } from "jsonrepair"

/** A JSON object or array, with the text that stands for it. */
export interface Document {
  readonly text: string
  readonly value: Schema.Json
}

export type JsonObject = { readonly [key: string]: Schema.Json }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isContainer = (value: Schema.Json | undefined): value is Schema.Json =>
  typeof value === "object" && value !== null

/** The value of strict JSON, or `undefined`. */
export const parse = (text: string): Schema.Json | undefined =>
  Result.getOrUndefined(Result.try((): Schema.Json => JSON.parse(text)))

/** The JSON text of a value; of one that nothing can write down, that of an empty object. */
export const write = (value: Schema.Json): string =>
  Result.getOrElse(
    Result.try(() => JSON.stringify(value)),
    () => "{}"
  )

export const equals = (self: Schema.Json, that: Schema.Json): boolean => write(self) === write(that)

/** The text as a strict object or array: as it is, or repaired. `undefined` where nothing can be made of it. */
export const mend = (text: string): Document | undefined => {
  const strict = parse(text)
  if (isContainer(strict)) return { text: text.trim(), value: strict }
  if (strict !== undefined) return undefined
  const repaired = Result.getOrUndefined(Result.try(() => jsonrepair(text)))
  const value = repaired === undefined ? undefined : parse(repaired)
  if (repaired === undefined || !isContainer(value)) return undefined
  // Out of any bytes a list can be made
  return isObject(value) || !isBinary(text) ? { text: compact(repaired), value } : undefined
}

/** Without the blanks between tokens; numbers and strings stay as they were written. */
const compact = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"?|\s+/gs, (token) => (token.startsWith('"') ? token : ""))

/** Whether the text holds bytes that no text has: control characters, or what a decoder could not read. */
export const isBinary = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0xfffd || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d)) return true
  }
  return false
}

const maxOpenings = 64

/** The balanced objects and arrays in a text, outermost only, in order; strings inside them may hold brackets. */
export const blocks = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let from = 0
  for (let tries = 0; tries < maxOpenings; tries++) {
    const opening = nextOpening(text, from)
    if (opening < 0) return found
    const end = closing(text, opening)
    if (end !== undefined) found.push(text.slice(opening, end))
    from = end ?? opening + 1
  }
  return found
}

const nextOpening = (text: string, from: number): number => {
  const offset = text.slice(from).search(/[{[]/)
  return offset < 0 ? offset : from + offset
}

const closing = (text: string, opening: number): number | undefined => {
  let depth = 0
  let inString = false
  for (let index = opening; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === "\\") index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === "{" || character === "[") depth++
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1
  }
  return undefined
}

/** Where instructions may end and data begin. */
const leadIn = /[?:](?=\s|$)|\n/g
const maxLeadIns = 5

/**
 * The object or array in a message, verbatim, broken or not. A document that is the whole rest of the message wins over one between two
 * brackets: a cut-off document has no second bracket.
 */
export const find = (message: string): string | undefined => {
  const opening = message.search(/[{[]/)
  if (opening < 0) return undefined
  const close = Math.max(message.lastIndexOf("}"), message.lastIndexOf("]"))
  const rest = message.slice(opening).trim()
  const longest = blocks(message).reduce((best, block) => (block.length > best.length ? block : best), "")
  const starts = [0, ...Array.from(message.slice(0, opening).matchAll(leadIn), (match) => match.index + 1)]
  for (const start of starts.slice(0, maxLeadIns)) {
    const candidate = message.slice(start).trim()
    const mended = mend(candidate)
    // prose that could be read as a list is no document
    if (mended !== undefined && (isObject(mended.value) || /^[{[]/.test(candidate))) return candidate
  }
  const candidates = [rest, message.slice(opening, close + 1).trim(), ...(isBinary(message) ? [] : [longest])]
  const found = candidates.find((candidate) => mend(candidate) !== undefined)
  return found ?? (isBinary(message) ? (afterLeadIn(message) ?? message) : rest)
}

/** What follows the instruction in a message without any brackets: the text after the first question mark or colon. */
export const afterLeadIn = (message: string): string | undefined => {
  const match = message.match(/[?:](?:\s|$)|\n/)
  return match?.index === undefined ? undefined : message.slice(match.index + 1).trim()
}

/** In a few words, what keeps a text from being JSON. */
export const diagnose = (text: string): string => {
  const faults = [
    ...(/[{,]\s*[\p{L}_$][\w$]*\s*:/u.test(text) ? ["unquoted keys"] : []),
    ...(/[{,:[]\s*'/.test(text) ? ["single quotes"] : []),
    ...(/,\s*[}\]]/.test(text) ? ["a trailing comma"] : []),
    ...(/\/\*|(?:^|\s)\/\//.test(text) ? ["comments"] : []),
    ...(/[{[]/.test(text) && closing(text, text.search(/[{[]/)) === undefined ? ["not closed"] : [])
  ]
  return faults.length === 0 ? "it breaks the grammar" : faults.join(", ")
}
