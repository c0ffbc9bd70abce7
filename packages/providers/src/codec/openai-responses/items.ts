/**
 * Encodes a message of the assistant as its original items, followed by the results of its calls. An item of this provider is sent back
 * unchanged. A reasoning item is sent back only with the item that followed it, because the provider refuses it alone.
 */
import type * as Message from "@kintsugi/core/Message"
import * as Hash from "effect/Hash"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Json from "../../transport/Json.ts"
import * as Answers from "./answers.ts"
import { isPdf, isPlainImage, shownParts, type Takes } from "../resultParts.ts"
import { addressOf, givenBy } from "../Attached.ts"
import { argumentsText, settlementText } from "../text.ts"

type Item = Schema.JsonObject

/**
 * Encodes a message of the assistant as items. `stored` says whether the provider stores replies; if not, a reasoning item is sent only if
 * it is complete. `time` distinguishes the call ids of this message from equal ids in earlier messages.
 */
export const ofAssistant = (
  message: Message.Assistant,
  provider: string,
  stored: boolean,
  time: number
): ReadonlyArray<Item> => {
  const said = new Said(stored)
  const results: Array<Item> = []
  const answered = answeredIn(message, provider)
  const ids = callIds(idsIn(message), time).values()
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        said.text += part.text
        break
      case "reasoning":
        said.reasoning(dataOf(part.opaque, provider))
        break
      case "provider-item": {
        const data = dataOf(part.opaque, provider)
        if (part.kind === "message") said.message(data)
        else if (data?.["type"] === part.kind && !isUnanswered(data, answered)) said.item(data)
        break
      }
      case "settled-call": {
        const id = ids.next().value ?? part.call.id
        const own = itemOf(part.call, provider)
        const answer = answerTo(part, own, id)
        if (answer === undefined) {
          said.lost()
          results.push({ role: "user", content: `${part.call.name}: ${settlementText(part.settlement)}` })
          break
        }
        if (own === undefined) said.call(part.call, provider, id)
        else said.item(own["call_id"] === undefined ? own : { ...own, call_id: id })
        results.push(answer)
      }
    }
  }
  return [...said.items(), ...results]
}

/**
 * The answers to the calls of a reply that the provider has stored, with the original ids. `undefined` if the reply waits for an answer
 * that cannot be given.
 */
export const answersTo = (message: Message.Assistant, provider: string): ReadonlyArray<Item> | undefined => {
  const answered = answeredIn(message, provider)
  const answers: Array<Item> = []
  for (const part of message.content) {
    if (part.type === "provider-item" && isUnanswered(dataOf(part.opaque, provider) ?? {}, answered)) return undefined
    if (part.type !== "settled-call") continue
    const answer = answerTo(part, itemOf(part.call, provider), part.call.id)
    if (answer === undefined) return undefined
    answers.push(answer)
  }
  return answers
}

/** The provider's own item of a call that does not call a function; `undefined` for the call of a function. */
const itemOf = ({ opaque }: Message.ToolCall, provider: string): Item | undefined =>
  opaque?.provider === provider ? Answers.itemOf(opaque.data) : undefined

const answerTo = ({ settlement }: Message.SettledCall, own: Item | undefined, id: string): Item | undefined => {
  if (own !== undefined) return Answers.answerTo(own, id, settlement, takes)
  const parts = shownParts(settlement, takes)
  const output = parts === undefined ? settlementText(settlement) : parts.map(ofPart)
  return { type: "function_call_output", call_id: id, output }
}

/**
 * Adapts a message whose reasoning is left out. The provider would miss the reasoning before an item that has an id, so calls and texts
 * lose their ids, and an item of the provider right behind reasoning is removed.
 */
export const withoutIds = (bare: Message.Assistant, whole: Message.Assistant, provider: string): Message.Assistant => {
  const behind = new Set(whole.content.filter((_, index) => whole.content[index - 1]?.type === "reasoning"))
  return {
    ...bare,
    content: bare.content.flatMap((part): ReadonlyArray<Part> => {
      if (part.type === "settled-call" && part.call.opaque?.provider === provider) {
        const { opaque, ...call } = part.call
        return [Predicate.isString(opaque.data) ? { ...part, call } : { ...part, call: Answers.withoutId(part.call) }]
      }
      if (part.type !== "provider-item" || part.opaque.provider !== provider) return [part]
      if (part.kind !== "message") return behind.has(part) ? [] : [part]
      const { id: _i, ...data } = Json.fields(part.opaque.data)
      return [{ ...part, opaque: { ...part.opaque, data } }]
    })
  }
}

type Part = Message.Assistant["content"][number]

/**
 * Whether a tool result may carry an attachment: images and PDF, as bytes, by URL or by the id of a stored file
 * (`response_input_image_content_param.py` and `response_input_file_content_param.py` of `openai-python`, looked up on 2026-11-26).
 */
export const takes: Takes = (part) => isPlainImage(part) || isPdf(part)

/**
 * Encodes a part of a user's message, or of a tool result. A stored file is sent by its id (developers.openai.com, "File inputs", looked up
 * on 2026-11-26).
 */
export const ofPart = (part: Message.UserContent[number]): Schema.JsonObject => {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text }
    case "image": {
      const given = givenBy(part)
      const from = given.way === "id" ? { file_id: given.id } : { image_url: addressOf(part) }
      return { type: "input_image", ...from, detail: "auto" }
    }
    case "file": {
      const given = givenBy(part)
      if (given.way === "id") return { type: "input_file", file_id: given.id }
      return given.way === "url"
        ? { type: "input_file", file_url: given.url }
        : { type: "input_file", filename: part.name ?? "file", file_data: addressOf(part) }
    }
  }
}

/** Builds the items of one message, and keeps each reasoning item together with the item behind it. */
class Said {
  readonly #stored: boolean
  readonly #items: Array<Item> = []
  /** The reasoning items whose following item has not come yet. */
  #thoughts: Array<Item> = []
  /** Whether reasoning was left out. The next item is then sent without its id, because the provider would miss the reasoning before it. */
  #isLost = false
  text = ""

  constructor(stored: boolean) {
    this.#stored = stored
  }

  reasoning(data: Item | undefined): void {
    if (data === undefined) return
    this.#closeText()
    const isWhole =
      Json.text(data["encrypted_content"]) !== undefined || Json.items(data["content"]).length > 0 || this.#stored
    if (isWhole) this.#thoughts.push(data)
    else this.#isLost = true
  }

  /** Ends the text so far as one message with its original id and metadata. */
  message(data: Item | undefined): void {
    const { text } = this
    if (data === undefined || text === "") return this.#closeText()
    this.text = ""
    const { annotations = [], id, logprobs: _logprobs, ...others } = data
    this.#push({
      ...this.#named(id),
      ...others,
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text, annotations }]
    })
  }

  /** Leaves out an item, and the reasoning before it. */
  lost(): void {
    this.#closeText()
    this.#isLost ||= this.#thoughts.length > 0
    this.#thoughts = []
  }

  item(data: Item): void {
    this.#closeText()
    this.#push(data)
  }

  call(call: Message.ToolCall, provider: string, callId: string): void {
    this.#closeText()
    const id = call.opaque?.provider === provider ? call.opaque.data : undefined
    this.#push({
      type: "function_call",
      ...this.#named(id),
      call_id: callId,
      name: call.name,
      arguments: argumentsText(call.arguments)
    })
  }

  items(): ReadonlyArray<Item> {
    this.#closeText()
    return this.#items
  }

  #closeText(): void {
    const { text } = this
    this.text = ""
    if (text !== "") this.#push({ role: "assistant", content: text })
  }

  #push(item: Item): void {
    this.#items.push(...this.#thoughts, item)
    this.#thoughts = []
  }

  #named(id: Schema.Json | undefined): { readonly id?: string } {
    return Predicate.isString(id) && !this.#isLost ? { id } : {}
  }
}

/** The data of this provider; `undefined` for data of other providers, which is not sent. */
const dataOf = (opaque: Message.Opaque | undefined, provider: string): Item | undefined =>
  opaque?.provider === provider ? Json.object(opaque.data) : undefined

/** The ids of the calls in a message that the provider itself has answered. */
const answeredIn = ({ content }: Message.Assistant, provider: string): ReadonlySet<Schema.Json | undefined> =>
  new Set(
    content.flatMap((part) =>
      // Mutant `["Stryker was here"]` survives: the code looks only for call ids of provider items in the set, and no
      // provider writes these words as an id
      part.type === "provider-item" && part.kind.endsWith("_output") ? [dataOf(part.opaque, provider)?.["call_id"]] : []
    )
  )

/** Whether an item is a call without an answer. Nothing here can answer it, and the provider refuses a call without an answer. */
const isUnanswered = (item: Item, answered: ReadonlySet<Schema.Json | undefined>): boolean =>
  item["call_id"] !== undefined && !answered.has(item["call_id"])

/** The original ids of the calls in a message, in their order. */
export const idsIn = ({ content }: Message.Assistant): ReadonlyArray<string> =>
  content.flatMap((part) => (part.type === "settled-call" ? [part.call.id] : []))

/** The ids that are sent for the calls of one message. They are unique. */
export const callIds = (ids: ReadonlyArray<string>, time: number): ReadonlyArray<string> => {
  const used = new Set<string>()
  /** The first number for each id that may be free. All smaller numbers are used. */
  const times = new Map<string, number>()
  return ids.map((id) => {
    let own = times.get(id) ?? time
    while (used.has(callId(id, own))) own++
    const sent = callId(id, own)
    times.set(id, own + 1)
    used.add(sent)
    return sent
  })
}

/**
 * The id that is sent for a call. Ids of other providers may be too long or hold other characters; a digest keeps the shortened ids
 * distinct.
 */
const callId = (id: string, time: number): string => {
  const end = time === 1 ? "" : `_${time}`
  const isFitting = id.length + end.length <= maxCallId && /^[\w-]+$/.test(id)
  const digest = (Hash.string(id) >>> 0).toString(16)
  // Mutant `""` survives: accepted. A foreign id loses its other characters instead of showing `_` for each, and its
  // digest still tells it apart, for call and result alike
  return (isFitting ? id : `${id.slice(0, 44).replaceAll(/[^\w-]/g, "_")}_${digest}`) + end
}

const maxCallId = 64
