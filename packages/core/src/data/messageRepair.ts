/** A transcript out of whatever is kept as a history elsewhere: what can be read is kept, the rest is mended or dropped. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Message from "./parts.ts"
import { isDeep } from "./Foreign.ts"

/** The settlement of a call that was at work when its run ended. */
export const interrupted: Message.Settlement = {
  kind: "interrupted",
  text: "The call was interrupted before it ended."
}

const text = (text: string): Message.Text => ({ type: "text", text })

/** A call whose result is looked for. */
interface OpenCall {
  readonly call: Message.ToolCall
  settlement: Message.Settlement | undefined
}

type Part = Message.Assistant["content"][number]

/** Of each message what it is, or `undefined` for what is none. */
type Read =
  | { readonly role: "kept"; readonly message: Message.System | Message.User }
  | { readonly role: "assistant"; readonly content: ReadonlyArray<Part | OpenCall>; readonly isPaused: boolean }
  | { readonly role: "tool"; readonly callId: string; readonly settlement: Message.Settlement }

export const repair = (history: unknown): Message.Transcript => {
  if (!Array.isArray(history)) return []
  const messages = history.flatMap((one: unknown) => quietly(() => readMessage(one)) ?? [])
  match(messages)
  return messages.flatMap((message): ReadonlyArray<Message.Message> => {
    if (message.role === "kept") return [message.message]
    if (message.role === "tool") return []
    const content = message.content.map((part) => (isOpen(part) ? closed(part) : part))
    return [{ role: "assistant", content, ...(message.isPaused ? { paused: true as const } : {}) }]
  })
}

const isOpen = (part: Part | OpenCall): part is OpenCall => !("type" in part)

const closed = ({ call, settlement = interrupted }: OpenCall): Part => ({
  type: "settled-call",
  call,
  settlement
})

/** A result belongs to the nearest message before it with a call of that id, there to the first that is still open. */
const match = (messages: ReadonlyArray<Read>): void => {
  const open = new Map<string, Array<OpenCall>>()
  for (const message of messages) {
    if (message.role === "assistant") {
      const calls = message.content.filter(isOpen)
      // ids repeat over turns: what is open from before stays without a result
      for (const { call } of calls) open.set(call.id, [])
      for (const one of calls) open.get(one.call.id)?.push(one)
    } else if (message.role === "tool") {
      const one = open.get(message.callId)?.shift()
      if (one !== undefined) one.settlement = message.settlement
    }
  }
}

/** Looking at foreign objects may throw, and one that is nested too deeply reaches the end of the stack. */
const quietly = <A>(look: () => A): A | undefined => Result.getOrUndefined(Result.try(look))

const readMessage = (value: unknown): Read | undefined => {
  if (!Predicate.isObject(value)) return undefined
  const said = field(value, "content") ?? field(value, "text")
  switch (field(value, "role")) {
    case "system": {
      const text = wordsOf(field(value, "text") ?? said)
      return text === undefined
        ? undefined
        : { role: "kept", message: isSystem(value) && !isDeep(value) ? value : { role: "system", text } }
    }
    case "user": {
      if (isUser(value) && !isDeep(value)) return { role: "kept", message: value }
      const content = partsOf(said, readUserPart)
      return content === undefined ? undefined : { role: "kept", message: { role: "user", content } }
    }
    case "assistant": {
      const content = partsOf<Part | OpenCall>(said, readPart)
      return content === undefined
        ? undefined
        : { role: "assistant", content, isPaused: field(value, "paused") === true }
    }
    case "tool": {
      const callId = idOf(field(value, "callId"))
      const text = wordsOf(field(value, "text") ?? said)
      if (callId === undefined || text === undefined) return undefined
      return { role: "tool", callId, settlement: { kind: field(value, "isError") === true ? "told" : "result", text } }
    }
    default:
      return undefined
  }
}

const field = (value: object, key: string): unknown => Reflect.get(value, key)

const isSystem = Schema.is(Message.System)
const isUser = Schema.is(Message.User)
const isUserPart = Schema.is(Schema.Union([Message.Text, Message.Image, Message.File]))
const isStanding = Schema.is(Schema.Union([Message.Text, Message.Reasoning, Message.ProviderItem, Message.SettledCall]))
const isCall = Schema.is(Message.ToolCall)
const isSettlement = Schema.is(Message.Settlement)
const isOpaque = Schema.is(Message.Opaque)
const isJson = Schema.is(Schema.Json)

/** A text, or the texts of parts; nothing where there is neither. */
const wordsOf = (said: unknown): string | undefined => {
  if (Predicate.isString(said)) return said
  if (!Array.isArray(said)) return undefined
  const texts = said.flatMap((part: unknown) => quietly(() => textOf(part)) ?? [])
  return texts.length === 0 ? undefined : texts.join("")
}

const textOf = (part: unknown): string | undefined => {
  if (Predicate.isString(part)) return part
  const text = Predicate.isObject(part) ? field(part, "text") : undefined
  return Predicate.isString(text) ? text : undefined
}

/** A text is its only part; of a list stays what can be read. */
const partsOf = <A>(
  said: unknown,
  read: (part: unknown) => A | undefined
): ReadonlyArray<A | Message.Text> | undefined => {
  if (Predicate.isString(said)) return [text(said)]
  if (!Array.isArray(said)) return undefined
  const parts = said.flatMap((part: unknown): ReadonlyArray<A | Message.Text> => {
    if (Predicate.isString(part)) return [text(part)]
    const one = quietly(() => read(part))
    return one === undefined ? [] : [one]
  })
  // nothing in it could be read
  return parts.length === 0 && said.length > 0 ? undefined : parts
}

const readUserPart = (part: unknown): Message.UserContent[number] | undefined =>
  isUserPart(part) && !isDeep(part) ? part : undefined

const readPart = (part: unknown): Part | OpenCall | undefined => {
  if (quietly(() => isStanding(part) && !isDeep(part)) === true) return part as Part // it was checked just now
  if (!Predicate.isObject(part)) return undefined
  switch (field(part, "type")) {
    case "reasoning": {
      const text = field(part, "text")
      return Predicate.isString(text) ? { type: "reasoning", text } : undefined
    }
    case "tool-call":
      return openCall(part, undefined)
    case "settled-call": {
      const settlement = field(part, "settlement")
      return openCall(field(part, "call"), isSettlement(settlement) ? settlement : undefined)
    }
    default:
      return undefined
  }
}

/** A call of no name is none. */
const openCall = (value: unknown, settlement: Message.Settlement | undefined): OpenCall | Part | undefined => {
  const call = callOf(value)
  if (call === undefined) return undefined
  return settlement === undefined ? { call, settlement } : { type: "settled-call", call, settlement }
}

const callOf = (value: unknown): Message.ToolCall | undefined => {
  if (quietly(() => isCall(value) && !isDeep(value)) === true) return value as Message.ToolCall // it was checked just now
  if (!Predicate.isObject(value)) return undefined
  const id = idOf(field(value, "id"))
  const name = field(value, "name")
  if (id === undefined || !Predicate.isString(name)) return undefined
  const args = field(value, "arguments")
  const opaque = opaqueIn(field(value, "opaque"))
  const json = quietly(() => isJson(args) && !isDeep(args)) === true ? (args as Schema.Json) : null // it was checked just now
  return { type: "tool-call", id, name, arguments: json, ...(opaque === undefined ? {} : { opaque }) }
}

const opaqueIn = (value: unknown): Message.ToolCall["opaque"] =>
  quietly(() => (isOpaque(value) && !isDeep(value) ? value : undefined))

/** Some count their calls. */
const idOf = (id: unknown): string | undefined =>
  Predicate.isString(id) ? id : Predicate.isNumber(id) ? String(id) : undefined
