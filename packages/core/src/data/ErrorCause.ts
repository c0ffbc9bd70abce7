/**
 * What an error keeps of a foreign failure beneath it. In memory that is the original itself, by reference; on a wire
 * only its name, its message and its code, redacted. Headers, bodies and
 * stacks never leave the process.
 */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Redaction from "./Redaction.ts"
import { approachable, property, quietly } from "./Foreign.ts"

/** A foreign failure that came back from a wire. */
export class ForeignError extends Error {
  readonly code?: string
  constructor(fields: { readonly name: string; readonly message: string; readonly code?: string }) {
    super(fields.message)
    this.name = fields.name
    if (fields.code !== undefined) this.code = fields.code
  }
}

const Encoded = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  code: Schema.optionalKey(Schema.String)
})

/** Keeps any value in memory and its summary on a wire. */
export const ErrorCause = Encoded.pipe(
  Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transform({
      decode: (fields): unknown => new ForeignError(fields),
      encode: (cause) => summarise(cause)
    })
  )
)

/**
 * Like `ErrorCause`, but errors of this library keep their class on a wire. `union` returns their schema; it is called at the
 * first use, so that the classes of the union may use the codec themselves.
 */
export const nested = (union: () => Schema.Codec<unknown, unknown>) => {
  let made: Schema.Codec<unknown, Schema.Json> | undefined
  // the JSON codec of any schema encodes to JSON
  const codec = () => (made ??= Schema.toCodecJson(union()) as Schema.Codec<unknown, Schema.Json>)
  return Schema.Json.pipe(
    Schema.decodeTo(
      Schema.Unknown,
      SchemaTransformation.transform({
        decode: (json): unknown =>
          Option.getOrElse(Schema.decodeUnknownOption(codec())(json), () =>
            Option.getOrElse(Schema.decodeUnknownOption(ErrorCause)(json), () => json)
          ),
        encode: (cause): Schema.Json =>
          Option.getOrElse(
            quietly(() => Schema.encodeUnknownOption(codec())(cause), Option.none()),
            () => summarise(cause)
          )
      })
    )
  )
}

/**
 * A codec for a large field of an error. It checks the value on a wire, but not in the constructor of the error, because the maker of
 * the error has it from a trusted source.
 *
 * @internal
 */
export const carried = <T, E>(codec: Schema.Codec<T, E>): Carried<T, E> =>
  codec.pipe(
    Schema.decodeTo(
      Schema.declare((_value): _value is T => true),
      SchemaTransformation.passthrough()
    )
  )

/** A codec whose constructor takes a `T`: the one of any codec takes `unknown`. */
export interface Carried<T, E> extends Schema.Codec<T, E> {
  readonly "~type.make": T
  readonly "~type.make.in": T
}

/** Name, message and code of any value; total. */
export const summarise = (value: unknown): typeof Encoded.Type => {
  const cause = approachable(value)
  const message = Redaction.foreign(messageOf(cause))
  if (!Predicate.isObject(cause)) return { name: typeof cause, message }
  const name = nameOf(cause)
  const code = property(cause, "code")
  return Predicate.isString(code) || Predicate.isNumber(code)
    ? { name, message, code: Redaction.foreign(String(code), maxName) }
    : { name, message }
}

/** A cause as a line of a log may show it: redacted, at most 8,000 characters; total. */
export const logged = (cause: Cause.Cause<unknown>): string =>
  Redaction.foreign(
    quietly(() => Cause.pretty(cause), "an error that cannot be shown"),
    8000
  )

/**
 * The message of an error, or the text of another value; empty if there is none. An error whose message only says that its cause has
 * failed has the message of the cause.
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

/** The tag of an error; the name of its type when it has none. */
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

/** At most `max` UTF-16 units of a text and a mark where it was cut, which is never in the middle of a character. */
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
