/**
 * Encodes a transcript as the `messages` of `POST /chat/completions`. Each message is encoded once and cached by its
 * identity, so that a turn does not pay for the transcript before it.
 */
import * as Message from "@kintsugi/core/Message"
import type * as Arr from "effect/Array"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Full } from "./dialect.ts"
import { remembering } from "../Remembering.ts"
import { addressOf, audioFormat, givenBy } from "../Attached.ts"
import { isPlainImage, shownParts, type Takes } from "../resultParts.ts"
import { argumentsText, settlementText } from "../text.ts"

/** A message in the form that the wire has. */
interface Wire {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool"
  readonly content: string | null | ReadonlyArray<Schema.Json>
}

/** A message in the form of the wire, and its JSON text. */
interface Encoded {
  readonly wire: Wire
  readonly text: string
}

/** Makes a function that gives the JSON texts of all messages, joined by commas. A reply that has only thoughts is left out. */
export const make = (provider: string, dialect: Full, takes: Takes): ((transcript: Message.Transcript) => string) => {
  const wiresOf = (message: Message.Message): ReadonlyArray<Wire> => encodeMessage(message, provider, dialect, takes)
  if (dialect.alternates) return alternating(wiresOf)
  const texts = remembering((message: Message.Message) =>
    wiresOf(message)
      .map((wire) => JSON.stringify(wire))
      .join(",")
  )
  return (transcript) =>
    transcript
      .map(texts)
      .filter((text) => text !== "")
      .join(",")
}

/**
 * Puts instructions first, and joins adjacent messages of one role. An empty message is left out. Messages with calls and their results
 * stay separate, because ids connect them.
 */
const alternating = (wiresOf: (message: Message.Message) => ReadonlyArray<Wire>) => {
  const encoded = remembering((message: Message.Message): ReadonlyArray<Encoded> =>
    wiresOf(message)
      .filter((wire) => wire.content !== "" || isOfCalls(wire))
      .map((wire) => ({ wire, text: JSON.stringify(wire) }))
  )
  const isInstruction = ({ wire: { role } }: Encoded) => role === "system" || role === "developer"
  return (transcript: Message.Transcript): string => {
    const all = transcript.flatMap(encoded)
    const groups: Array<Arr.NonEmptyArray<Encoded>> = []
    for (const each of [...all.filter(isInstruction), ...all.filter((each) => !isInstruction(each))]) {
      const last = groups.at(-1)
      if (last !== undefined && last[0].wire.role === each.wire.role && !isOfCalls(each.wire)) last.push(each)
      else groups.push([each])
    }
    return groups.map((group) => (group.length === 1 ? group[0].text : JSON.stringify(joined(group)))).join(",")
  }
}

const isOfCalls = (wire: Wire): boolean => wire.role === "tool" || "tool_calls" in wire

const joined = (group: Arr.NonEmptyArray<Encoded>): Wire => {
  // Mutant `"Stryker was here!"` survives: only a message with calls has null for its content, and a message with calls
  // is never joined with its neighbours
  const contents = group.map(({ wire: { content } }) => content ?? "")
  const content = contents.every(Predicate.isString)
    ? contents.join("\n\n")
    : contents.flatMap((content) => (Predicate.isString(content) ? [{ type: "text", text: content }] : content))
  return { role: group[0].wire.role, content }
}

/**
 * Makes the check whether a tool result for the model may carry an image: as PNG or JPEG, and in a way in which the server takes images.
 */
export const takesOf =
  ({ capabilities, resultImages }: Full, model: string): Takes =>
  (part) => {
    const { way } = givenBy(part)
    return (
      isPlainImage(part) &&
      /^image\/(?:png|jpeg)$/.test(part.mediaType) &&
      way !== "id" &&
      capabilities.images.includes(way) &&
      // `search` instead of `test`, because `test` of an expression with the flag `g` continues behind its last match
      resultImages !== undefined &&
      model.search(resultImages) !== -1
    )
  }

const encodeMessage = (
  message: Message.Message,
  provider: string,
  dialect: Full,
  takes: Takes
): ReadonlyArray<Wire> => {
  switch (message.role) {
    case "system":
      return [{ role: dialect.systemRole, content: message.text }]
    case "user": {
      const [only, ...more] = message.content
      const text = only === undefined ? "" : more.length === 0 && only.type === "text" ? only.text : undefined
      return [{ role: "user", content: text ?? message.content.map((part) => encodePart(part, dialect)) }]
    }
    case "assistant":
      return dialect.capabilities.tools ? encodeAssistant(message, provider, dialect, takes) : retold(message)
  }
}

/**
 * Encodes a part of a user's message. Audio is sent as `input_audio`, a stored file by its id (developers.openai.com, "Audio in Chat
 * Completions" and "File inputs"; openrouter.ai, "Audio"; looked up on 2026-11-26).
 */
const encodePart = (part: Message.UserContent[number], { files, storedImages = "" }: Full): Schema.Json => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text }
    case "image": {
      const given = givenBy(part)
      return { type: "image_url", image_url: { url: given.way === "id" ? storedImages + given.id : addressOf(part) } }
    }
    case "file": {
      const given = givenBy(part)
      const format = audioFormat(part)
      if (given.way === "data" && format !== undefined) {
        return { type: "input_audio", input_audio: { data: given.data, format } }
      }
      if (files === "document_url") {
        if (given.way === "id") return { type: "file", file_id: given.id }
        const name = part.name === undefined ? {} : { document_name: part.name }
        return { type: "document_url", document_url: addressOf(part), ...name }
      }
      if (given.way === "id") return { type: "file", file: { file_id: given.id } }
      if (files === "file") {
        return { type: "file", file: { filename: part.name ?? "file", file_data: addressOf(part) } }
      }
      const name = part.name === undefined ? {} : { file_name: part.name }
      return { type: "file_url", file_url: { url: given.way === "data" ? given.data : given.url }, ...name }
    }
  }
}

interface SentCall extends Pick<Message.SettledCall, "call" | "settlement"> {
  readonly id: string
}

/** Encodes a message of the assistant, followed by one message for the result of each call, in their order. */
const encodeAssistant = (
  message: Message.Assistant,
  provider: string,
  dialect: Full,
  takes: Takes
): ReadonlyArray<Wire> => {
  const callParts = sentCalls(message, dialect.maxIdLength)
  const text = Message.textOf(message)
  if (text.trim() === "" && callParts.length === 0) return []
  const { content: thinking, ...reasoning } = encodeReasoning(message, provider)
  const { missingReasoning } = dialect
  const demanded =
    // Mutant `false` for `missingReasoning === undefined` survives: accepted. `reasoning_content: undefined` is not
    // written. Only a reasoning part of this provider with an empty text would differ, and no reply of this format has
    // one
    missingReasoning === undefined || callParts.length === 0 || Predicate.isTruthy(reasoning["reasoning_content"])
      ? {}
      : { reasoning_content: missingReasoning }
  const assistant = {
    role: "assistant" as const,
    content: thinking === undefined ? (text === "" ? null : text) : thinkingParts(thinking, text),
    ...reasoning,
    ...demanded,
    ...(callParts.length === 0 ? {} : { tool_calls: callParts.map(({ call, id }) => encodeCall(call, id)) })
  }
  const results = callParts.map(({ id, settlement }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: shownParts(settlement, takes)?.map((part) => encodePart(part, dialect)) ?? settlementText(settlement)
  }))
  return [assistant, ...results]
}

/**
 * The calls of a message with the ids that are sent. An id that is too long is cut and gets a number at its end, so that equal cut ids
 * differ.
 */
const sentCalls = ({ content }: Message.Assistant, maxLength: number): ReadonlyArray<SentCall> => {
  const used = new Set<string>()
  /** The first number that may be free. All smaller numbers are used. */
  let next = 0
  const callParts = content.filter((part) => part.type === "settled-call")
  return callParts.map(({ call, settlement }, index) => {
    const { id } = call
    const numbered = (suffix: number) => {
      const end = `_${suffix}`
      return id.slice(0, maxLength - end.length) + end
    }
    let sent = id.length <= maxLength ? id : numbered(index)
    // Mutant `next--` survives: accepted. Of two equal cut ids, the second gets another free number, which call and
    // result share either way
    next = Math.max(next, index)
    while (used.has(sent)) sent = numbered(next++)
    used.add(sent)
    return { id: sent, call, settlement }
  })
}

/**
 * Describes earlier calls in text, for a server without tools. The calls become text of the assistant, their results become text of the
 * user.
 */
const retold = (message: Message.Assistant): ReadonlyArray<Wire> => {
  const callParts = message.content.filter((part) => part.type === "settled-call")
  const calls = callParts.map(({ call }) => `I called the tool '${call.name}' with ${argumentsText(call.arguments)}.`)
  const results = callParts.map(
    ({ call, settlement }) => `The tool '${call.name}' answered: ${settlementText(settlement)}`
  )
  const said = [Message.textOf(message), ...calls].filter((text) => text !== "").join("\n")
  if (said.trim() === "") return []
  return [
    { role: "assistant", content: said },
    ...(results.length === 0 ? [] : [{ role: "user" as const, content: results.join("\n") }])
  ]
}

/** The reasoning of this provider under its original field names. Reasoning of other providers is not sent. */
const encodeReasoning = (message: Message.Assistant, provider: string): Readonly<Record<string, Schema.Json>> => {
  const texts: Record<string, string> = {}
  const details: Array<Schema.Json> = []
  for (const part of message.content) {
    if (part.type === "reasoning" && part.opaque?.provider === provider && Predicate.isString(part.opaque.data)) {
      texts[part.opaque.data] = (texts[part.opaque.data] ?? "") + part.text
    }
    if (part.type === "provider-item" && part.opaque.provider === provider && part.kind === "reasoning_details") {
      if (Array.isArray(part.opaque.data)) details.push(...part.opaque.data)
    }
  }
  return details.length === 0 ? texts : { ...texts, reasoning_details: details }
}

/** The content of a message with reasoning, in the list of parts that Mistral sends and takes back. */
const thinkingParts = (thinking: Schema.Json, text: string): ReadonlyArray<Schema.Json> => [
  { type: "thinking", thinking: [{ type: "text", text: thinking }] },
  ...(text === "" ? [] : [{ type: "text", text }])
]

const encodeCall = ({ arguments: args, name }: Message.ToolCall, id: string) => ({
  id,
  type: "function",
  function: { name, arguments: argumentsText(args) }
})
