/** Reads a transcript from a stored history of foreign origin: readable parts stay, the rest is mended or dropped. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Message from "./parts.ts"
import { isDeep, property, quietly } from "./Foreign.ts"

/**
 * The settlement of a call that was at work when its run ended.
 *
 * @internal
 */
export const interrupted: Message.Settlement = {
  kind: "interrupted",
  text: "The call was interrupted before it ended."
}

const text = (text: string): Message.Text => ({ type: "text", text })

/** A call without its result yet. */
interface UnmatchedCall {
  readonly call: Message.ToolCall
  settlement: Message.Settlement | undefined
}

type Part = Message.Assistant["content"][number]

/** Why a message is no answer. */
type Marks = Pick<Message.Assistant, "paused" | "incomplete" | "withheld">

/** A message that was read. */
type Read =
  | { readonly role: "kept"; readonly message: Message.System | Message.User }
  | { readonly role: "assistant"; readonly content: ReadonlyArray<Part | UnmatchedCall>; readonly marks: Marks }
  | { readonly role: "tool"; readonly callId: string; readonly settlement: Message.Settlement }

export const repair = (history: unknown): Message.Transcript => {
  if (!Array.isArray(history)) return []
  const messages = history.flatMap((one: unknown) => quietly(() => readMessage(one), undefined) ?? [])
  match(messages)
  return messages.flatMap((message): ReadonlyArray<Message.Message> => {
    if (message.role === "kept") return [message.message]
    if (message.role === "tool") return []
    const content = message.content.map((part) => (isUnmatched(part) ? closed(part) : part))
    return [{ role: "assistant", content, ...message.marks }]
  })
}

const isUnmatched = (part: Part | UnmatchedCall): part is UnmatchedCall => !("type" in part)

const closed = ({ call, settlement = interrupted }: UnmatchedCall): Part => ({
  type: "settled-call",
  call,
  settlement
})

/** Gives each result to the nearest earlier message with a call of its id, there to the first call without a result. */
const match = (messages: ReadonlyArray<Read>): void => {
  const unmatched = new Map<string, Array<UnmatchedCall>>()
  for (const message of messages) {
    if (message.role === "assistant") {
      const calls = message.content.filter(isUnmatched)
      // ids repeat over turns: an earlier call without a result stays so
      for (const { call } of calls) unmatched.set(call.id, [])
      for (const one of calls) unmatched.get(one.call.id)?.push(one)
    } else if (message.role === "tool") {
      const one = unmatched.get(message.callId)?.shift()
      if (one !== undefined) one.settlement = message.settlement
    }
  }
}

/** A total guard: reading foreign objects may throw. It refuses values that are nested too deeply to be serialised. */
const guard = <A>(schema: Schema.Schema<A>) => {
  const is = Schema.is(schema)
  return (value: unknown): value is A => quietly(() => is(value) && !isDeep(value), false)
}

const isSystem = guard(Message.System)
const isUser = guard(Message.User)
const isUserPart = guard(Schema.Union([Message.Text, Message.Image, Message.File]))
const isSound = guard(Schema.Union([Message.Text, Message.Reasoning, Message.ProviderItem, Message.SettledCall]))
const isCall = guard(Message.ToolCall)
const isSettlement = guard(Message.Settlement)
const isOpaque = guard(Message.Opaque)
const isJson = guard(Schema.Json)

const readMessage = (value: unknown): Read | undefined => {
  const said = property(value, "content") ?? property(value, "text")
  switch (property(value, "role")) {
    case "system": {
      const text = wordsOf(property(value, "text") ?? said)
      if (text === undefined) return undefined
      return { role: "kept", message: isSystem(value) ? value : { role: "system", text } }
    }
    case "user": {
      if (isUser(value)) return { role: "kept", message: value }
      const content = partsOf(said, (part) => (isUserPart(part) ? part : undefined))
      return content && { role: "kept", message: { role: "user", content, ...marked(value, "withheld") } }
    }
    case "assistant": {
      const content = partsOf(said, readPart)
      return (
        content && {
          role: "assistant",
          content,
          marks: { ...marked(value, "paused"), ...marked(value, "incomplete"), ...marked(value, "withheld") }
        }
      )
    }
    case "tool": {
      const callId = idOf(property(value, "callId"))
      const text = wordsOf(property(value, "text") ?? said)
      // Mutant `false` for `callId === undefined` survives: no call has such an id
      if (callId === undefined || text === undefined) return undefined
      const kind = property(value, "isError") === true ? "told" : "result"
      const settlement = { kind, text, parts: property(value, "parts") }
      return { role: "tool", callId, settlement: isSettlement(settlement) ? settlement : { kind, text } }
    }
    default:
      return undefined
  }
}

const marked = (value: unknown, mark: keyof Marks): Marks => (property(value, mark) === true ? { [mark]: true } : {})

/** A text, or the joined texts of parts; `undefined` without either. */
const wordsOf = (said: unknown): string | undefined => {
  const texts = partsOf(said, (part) => {
    const text = property(part, "text")
    return Predicate.isString(text) ? { text } : undefined
  })
  return texts === undefined || texts.length === 0 ? undefined : texts.map(({ text }) => text).join("")
}

/** Reads the parts of a message: a text is one part; of a list, readable items stay. */
const partsOf = <A>(
  said: unknown,
  read: (part: unknown) => A | undefined
): ReadonlyArray<A | Message.Text> | undefined => {
  if (Predicate.isString(said)) return [text(said)]
  if (!Array.isArray(said)) return undefined
  const parts = said.flatMap((part: unknown) => (Predicate.isString(part) ? text(part) : read(part)) ?? [])
  // nothing in it could be read
  return parts.length === 0 && said.length > 0 ? undefined : parts
}

const readPart = (part: unknown): Part | UnmatchedCall | undefined => {
  if (isSound(part)) return part
  switch (property(part, "type")) {
    case "reasoning": {
      const text = property(part, "text")
      return Predicate.isString(text) ? { type: "reasoning", text } : undefined
    }
    case "tool-call":
      return readCall(part, undefined)
    case "settled-call":
      return readCall(property(part, "call"), property(part, "settlement"))
    // Mutant `default:` survives: the end of the function gives `undefined` too
    default:
      return undefined
  }
}

/** Reads a call; a call without a name is dropped. */
const readCall = (value: unknown, settlement: unknown): UnmatchedCall | Part | undefined => {
  const call = isCall(value) ? value : mendedCall(value)
  if (call === undefined) return undefined
  return isSettlement(settlement) ? { type: "settled-call", call, settlement } : { call, settlement: undefined }
}

const mendedCall = (value: unknown): Message.ToolCall | undefined => {
  const id = idOf(property(value, "id"))
  const name = property(value, "name")
  if (id === undefined || !Predicate.isString(name)) return undefined
  const args = property(value, "arguments")
  const opaque = property(value, "opaque")
  const extra = isOpaque(opaque) ? { opaque } : {}
  return { type: "tool-call", id, name, arguments: isJson(args) ? args : null, ...extra }
}

/** Some providers use numbers as ids. */
const idOf = (id: unknown): string | undefined =>
  Predicate.isString(id) ? id : Predicate.isNumber(id) ? String(id) : undefined
