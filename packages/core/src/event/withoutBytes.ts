/** Removes the bytes of images and files from events. Only the transcript of a run, the errors of a program and snapshots have them. */
import { base64Of, bytesIn, inWords, notShown } from "../data/Base64.ts"
import { quietly } from "../data/Foreign.ts"
import * as Message from "../data/Message.ts"
import type { AgentEvent } from "./AgentEvent.ts"

/** The event without bytes; the same object if it has none. Snapshots keep their bytes, because the run resumes with them. */
export const withoutBytes = (event: AgentEvent): AgentEvent =>
  // Mutants `false` for `event.type === "text-delta"`, `false` for `event.type === "reasoning-delta"` survive: speed only
  event.type === "text-delta" || event.type === "reasoning-delta" ? event : light(event, ofEvent)

/** A value without bytes; the same value if it has none. */
type Lighten = (value: never) => unknown

/** The fields that may have bytes. */
type Fields = Readonly<Record<string, Lighten>>

const light = <T extends object>(value: T, fields: Fields): T => {
  const changed = changedIn(value, fields)
  return changed === undefined ? value : { ...value, ...changed }
}

const changedIn = (value: object, fields: Fields): object | undefined => {
  let changed: Record<string, unknown> | undefined
  for (const key in fields) {
    const field: unknown = Reflect.get(value, key)
    // each field has its function
    // Mutant `fields[key](field as never)` survives: each key is one of the fields
    const other = field && fields[key]?.(field as never)
    if (other !== field) (changed ??= {})[key] = other
  }
  return changed
}

const each =
  <T>(lighten: (value: T) => unknown) =>
  (all: ReadonlyArray<T>): ReadonlyArray<unknown> =>
    Array.isArray(all) && all.some((one) => lighten(one) !== one) ? all.map(lighten) : all

type Part = NonNullable<Message.Settlement["parts"]>[number]

/** Replaces the bytes of a result by their number. */
const partOf = (part: Part): Part => {
  const data = base64Of(part)
  if (data === undefined || part.type === "text") return part
  const name = "name" in part && part.name !== undefined ? { name: part.name } : {}
  return { type: part.type, mediaType: part.mediaType, ...name, bytes: bytesIn(data) }
}

const settlement: Lighten = (value: Message.Settlement) => light(value, { parts: each(partOf) })

const call = (value: object) => light(value, { settlement })

/** Replaces an attachment of a user message by a text. */
const saidOf = (part: Message.UserContent[number]): Message.UserContent[number] => {
  const data = "mediaType" in part ? base64Of(part) : undefined
  return data === undefined || part.type === "text"
    ? part
    : Message.text(inWords(part, `${bytesIn(data)} bytes`, notShown))
}

const wholes = new WeakMap<Message.User, Message.User>()

/** The original user message behind a message without bytes, if an event of this process has it. */
export const whole = (message: Message.User): Message.User => wholes.get(message) ?? message

const message = (value: Message.Message): Message.Message => {
  // Mutant `false` survives: a text has no parts
  if (value.role === "system") return value
  if (value.role === "assistant") return light(value, { content: each(call) })
  const found = light(value, { content: each(saidOf) })
  // Mutant `true` survives: then the message is its own original
  if (found !== value) wholes.set(found, value)
  return found
}

/** The errors of events, cached: the same error is the same object in every event. */
const errors = new WeakMap<object, unknown>()

/** The program has the error as it is. */
const error = (value: unknown): unknown =>
  quietly(() => {
    if (!(value instanceof Error)) return value
    if (errors.has(value)) return errors.get(value)
    // it may be its own cause
    errors.set(value, value)
    const changed = changedIn(value, ofError)
    const found = changed === undefined ? value : copyOf(value, changed)
    errors.set(value, found)
    return found
  }, value)

const copyOf = (value: Error, changed: object): Error => {
  const copy: Error = Object.setPrototypeOf(new Error(), Object.getPrototypeOf(value))
  Object.defineProperties(copy, Object.getOwnPropertyDescriptors(value))
  return Object.assign(copy, changed, { stack: value.stack })
}

const transcript = each(message)
const all = each(error)

/** The fields of errors that may have bytes. */
const ofError: Fields = { transcript, cause: error, originalError: error, attempts: all, earlier: all, errors: all }

const ofEvent: Fields = {
  transcript,
  message,
  settlement,
  use: call,
  // any value of the program: the parts of a message, where its agent takes those
  input: (value: unknown) => quietly(() => each(saidOf)(value as Message.UserContent), value),
  unread: each((said: Message.SaidMessage) => light(said, { message })),
  error,
  reasons: all
}
