/**
 * Reads the cause of an error: its name, message, code and tag. A cause may be any value. Texts that leave the process are redacted, and
 * never have headers, bodies or stacks.
 */
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import * as Redaction from "./Redaction.ts"
import { approachable, property, quietly } from "./Foreign.ts"

/** A foreign failure read from a wire: name, message and code. */
export class ForeignError extends Error {
  declare readonly code?: string
  constructor(fields: { readonly name: string; readonly message: string; readonly code?: string }) {
    super(fields.message)
    this.name = fields.name
    if (fields.code !== undefined) this.code = fields.code
  }
}

/** The name, message and code of any value, redacted. Never throws. */
export const summarise = (
  value: unknown
): { readonly name: string; readonly message: string; readonly code?: string } => {
  const cause = approachable(value)
  const message = Redaction.foreign(messageOf(cause))
  if (!Predicate.isObject(cause)) return { name: typeof cause, message }
  const name = nameOf(cause)
  const code = property(cause, "code")
  return Predicate.isString(code) || Predicate.isNumber(code)
    ? { name, message, code: Redaction.foreign(String(code), maxName) }
    : { name, message }
}

/** The redacted text of a cause for a log, at most 8,000 UTF-16 units, without characters that a terminal obeys. Never throws. */
export const logged = (cause: Cause.Cause<unknown>): string =>
  Redaction.foreign(
    quietly(() => Cause.pretty(cause), "an error that cannot be shown"),
    8000
  ).replaceAll(obeyed, "\uFFFD")

/**
 * A foreign text, such as the id of a call, as a part of a log line: redacted, and without line breaks.
 *
 * @internal
 */
export const inLog = (text: string): string =>
  Redaction.foreign(text, maxName).replaceAll(obeyed, "\uFFFD").replaceAll(/\s/g, " ")

/** Characters that a terminal obeys, except tabs and line feeds: controls, and marks of the direction of writing. */
const obeyed = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/**
 * The message of an error, or any other value as text. Without one it is empty. If the message only says that the cause has failed, the
 * result is the message of the cause. It is not redacted.
 */
export const messageOf = (value: unknown): string => messageAt(value, 0)

const messageAt = (value: unknown, depth: number): string => {
  const cause = approachable(value)
  if (Predicate.isString(cause)) return cause
  if (Predicate.isObject(cause)) {
    const message = property(cause, "message")
    const said = Predicate.isString(message) ? message : ""
    return depth < deepest && hollow.test(said) ? fuller(cause, said, depth + 1) : said
  }
  return cause === undefined || cause === null ? "" : quietly(() => String(cause), "")
}

const deepest = 5

/** The generic messages of `Effect.tryPromise` and `fetch`, and the empty one of an `AggregateError` of connections. */
const hollow = /^(?:|fetch failed|An error occurred in Effect\.\w+)$/

const fuller = (error: object, said: string, depth: number): string => {
  const members = property(error, "errors")
  const beneath = Array.isArray(members) ? members.slice(0, mostMembers) : said === "" ? [] : [property(error, "cause")]
  const words = [...new Set(beneath.map((one) => messageAt(one, depth)))].filter((text) => text !== "").join("; ")
  if (words === "") return said
  return said === "fetch failed" ? `${said}: ${words}` : words
}

const mostMembers = 3

/**
 * The `_tag` of an error; the name of its JavaScript type if it has none.
 *
 * @internal
 */
export const tagOf = (error: unknown): string => {
  const tag = property(error, "_tag")
  return Predicate.isString(tag) ? tag : typeof error
}

/**
 * The message of an error, word for word; its tag or its name if the message is empty.
 *
 * @internal
 */
export const sayingOf = (error: unknown): string => {
  const message = messageOf(error)
  return message.trim() === "" ? kindOf(error) : message
}

/**
 * Describes a failure without a message.
 *
 * @internal
 */
export const kindOf = (error: unknown): string => {
  if (Predicate.isObject(error)) return quietly(() => nameOf(error), "Error")
  return error === undefined || error === null || error === "" ? "it does not say why" : typeof error
}

const nameOf = (cause: object): string => {
  const tag = property(cause, "_tag")
  const name = Predicate.isString(tag) ? tag : property(cause, "name")
  return Predicate.isString(name) && name !== "" ? Redaction.foreign(name, maxName) : "Error"
}

const maxName = 100

/** The first `max` UTF-16 units of a text. `…` ends a text that was cut; the cut is never in the middle of a character. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")}…`

/**
 * Without blanks around it and without the full stops at its end.
 *
 * @internal
 */
export const trimmed = (words: string): string => {
  const text = words.trim()
  let end = text.length
  while (end > 0 && text[end - 1] === ".") end--
  return text.slice(0, end)
}
