/** Converts a request to the options of one call to a language model of the SDK. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "effect/Schema"
import * as Metadata from "./metadata.ts"
import type {
  AssistantPart,
  CallOptions,
  Parts,
  PromptMessage,
  ProviderTool,
  ResultPart,
  Version
} from "./specification.ts"
import { type Attachment, fileOf, givenBy, speaking } from "./versions.ts"

/** The fields of a request that are sent to the client. */
export type Sent = Pick<Model.Request, "messages" | "output" | "tools" | "toolChoice" | "options">

/** The model that a request is for: its version, its provider, and the tools that the provider runs. */
export interface Addressee<V extends Version> {
  readonly version: V
  /** The name of the provider. Opaque data with this name is sent to the model. */
  readonly provider: string
  readonly providerTools: ReadonlyArray<ProviderTool>
}

type PromptOf<V extends Version> = PromptMessage<Parts[V]["data"], Parts[V]["shown"], Parts[V]["further"]>
type PartOf<V extends Version> = AssistantPart<Parts[V]["data"], Parts[V]["shown"], Parts[V]["further"]>
type ResultOf<V extends Version> = ResultPart<Parts[V]["shown"]>

/** The options of one call, without the settings that are the same for every call. */
export const optionsOf = <V extends Version>(sent: Sent, to: Addressee<V>): CallOptions<V> => {
  const { messages, options, output, toolChoice, tools } = sent
  const isObject = output?.schema["type"] === "object"
  const asText: ReadonlyArray<PromptOf<V>> =
    output === undefined || isObject ? [] : [{ role: "system", content: inWords(output.schema) }]
  const declared: NonNullable<CallOptions<V>["tools"]> = [
    ...tools.map(({ description, name, parameters }) => ({
      type: "function" as const,
      name,
      description,
      // cast: `parameters` is a JSON Schema
      inputSchema: parameters as never
    })),
    ...to.providerTools.map((tool) => ({ ...tool, type: speaking[to.version].providerTool }))
  ]
  return {
    prompt: [...asText, ...messages.flatMap((message) => messageOf(message, to))],
    ...(declared.length === 0 ? {} : { tools: declared, toolChoice: choiceOf(toolChoice) }),
    ...(output !== undefined && isObject
      ? // cast: `schema` is a JSON Schema
        { responseFormat: { type: "json", name: output.name, schema: output.schema as never } }
      : {}),
    ...(options === undefined ? {} : { providerOptions: Metadata.byProvider(options) })
  }
}

/** Asks in a text for an answer that fits the schema, because providers only take schemas of objects as a format. */
const inWords = (schema: JsonObject): string =>
  `Answer with JSON alone that fits this JSON Schema: ${JSON.stringify(schema)}`

const choiceOf = (choice: Model.ToolChoice): NonNullable<CallOptions<Version>["toolChoice"]> =>
  Predicate.isString(choice) ? { type: choice } : { type: "tool", toolName: choice.tool }

const messageOf = <V extends Version>(message: Message.Message, to: Addressee<V>): ReadonlyArray<PromptOf<V>> => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.text }]
    case "user":
      return [
        {
          role: "user",
          content: message.content.map((part) =>
            part.type === "text" ? { type: "text", text: part.text } : filePart(part, to)
          )
        }
      ]
    case "assistant":
      return assistant(message, to)
  }
}

const filePart = <V extends Version>(part: Attachment, { provider, version }: Addressee<V>) => ({
  type: "file" as const,
  mediaType: part.mediaType,
  data: speaking[version].data(part, firstOf(provider)),
  ...(part.type === "file" && part.name !== undefined ? { filename: part.name } : {})
})

/** The first part of a provider's name, `openai` of `openai.responses`. Providers of the SDK store files under it. */
const firstOf = (provider: string): string => provider.split(".")[0] ?? provider

/** Converts an assistant message, followed by a message with the results of its calls. */
const assistant = <V extends Version>(message: Message.Assistant, to: Addressee<V>): ReadonlyArray<PromptOf<V>> => {
  const content: Array<PartOf<V>> = []
  const results: Array<ResultOf<V>> = []
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        content.push({ type: "text", text: part.text })
        break
      case "reasoning":
        if (part.opaque === undefined || part.opaque.provider === to.provider)
          content.push({ type: "reasoning", text: part.text, ...Metadata.optionsOf(part.opaque?.data) })
        break
      case "provider-item":
        if (part.opaque.provider === to.provider) addItem(content, part.opaque.data, to)
        break
      case "settled-call": {
        const { arguments: args, id, name, opaque } = part.call
        const own = opaque?.provider === to.provider ? Metadata.optionsOf(opaque.data) : {}
        content.push({ type: "tool-call", toolCallId: id, toolName: name, input: inputOf(args), ...own })
        results.push({
          type: "tool-result",
          toolCallId: id,
          toolName: name,
          output: outputOf(part.settlement, to)
        })
      }
    }
  }
  return [
    ...(content.length === 0 ? [] : [{ role: "assistant" as const, content }]),
    ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }])
  ]
}

/**
 * The input of a tool call, which must be an object for providers. Other arguments are wrapped in one, so that the conversation can still
 * be sent.
 */
const inputOf = (args: Json): JsonObject => {
  if (args === null || args === "") return {}
  const parsed = Predicate.isString(args) ? Result.try((): Json => JSON.parse(args)) : Result.succeed(args)
  return (Result.isSuccess(parsed) ? Metadata.objectOf(parsed.success) : undefined) ?? { arguments: args }
}

const outputOf = <V extends Version>(
  settlement: Message.Settlement,
  { provider, version }: Addressee<V>
): ResultOf<V>["output"] => {
  const { parts, text } = settlement
  if (Message.isError(settlement)) return { type: "error-text", value: text }
  const value = (parts ?? []).map((part): { type: "text"; text: string } | Parts[V]["shown"] | undefined => {
    if (part.type === "text") return { type: "text", text: part.text }
    return "bytes" in part || !isTaken(part, { provider, version })
      ? undefined
      : speaking[version].shown(part, firstOf(provider))
  })
  const shown = value.filter(Predicate.isNotUndefined)
  const isWhole = shown.length === value.length && parts?.some(({ type }) => type !== "text") === true
  return isWhole ? { type: "content", value: shown } : { type: "text", value: text }
}

/** The providers that read an image in a tool result as an image. The others would send the text of its base64. */
const withParts = /^(?:anthropic|google|vertex|amazon-bedrock|bedrock)\b|\.(?:responses|anthropic)\b/

/** Whether an image or a file in a tool result is sent as such. Providers of the SDK leave out other types with a warning, or throw. */
export const isTaken = (part: Attachment, { provider, version }: Pick<Addressee<Version>, "provider" | "version">) => {
  const given = givenBy(part)
  const isReadable = part.type === "image" ? images.test(part.mediaType) : part.mediaType === "application/pdf"
  if (!isReadable || !withParts.test(provider) || given.way === "id") return false
  return given.way === "data" ? given.data !== "" : version !== "v2" && /^https?:/i.test(given.url)
}

const images = /^image\/(?:png|jpeg|gif|webp)$/

/** Adds a part of the provider to the message: a call or a result of a tool that the provider ran, a file, or metadata of a text. */
const addItem = <V extends Version>(content: Array<PartOf<V>>, data: Json, { provider, version }: Addressee<V>) => {
  const own = Metadata.optionsOf(data)
  const part = Metadata.objectOf(Metadata.fieldOf(data, "part"))
  if (part === undefined) return mark(content, Metadata.countOf(Metadata.fieldOf(data, "length")) ?? 0, own)
  const [toolCallId = "", toolName = ""] = [Metadata.textOf(part["toolCallId"]), Metadata.textOf(part["toolName"])]
  switch (part["type"]) {
    case "tool-call": {
      const input = inputOf(part["input"] ?? null)
      content.push({ type: "tool-call", toolCallId, toolName, input, providerExecuted: true, ...own })
      return
    }
    case "tool-result": {
      const type = part["isError"] === true ? "error-json" : "json"
      content.push({
        type: "tool-result",
        toolCallId,
        toolName,
        output: { type, value: part["result"] ?? null },
        ...own
      })
      return
    }
    case "file": {
      const file = fileOf(part)
      if (file !== undefined) content.push({ ...filePart(file, { provider, version, providerTools: [] }), ...own })
      return
    }
    default: {
      const further = speaking[version].further(part)
      if (further !== undefined) content.push({ ...further, ...own })
    }
  }
}

/** Attaches metadata to the last `length` characters of the text before it. */
const mark = <V extends Version>(
  content: Array<PartOf<V>>,
  length: number,
  own: ReturnType<typeof Metadata.optionsOf>
): void => {
  const last = content.at(-1)
  if (last?.type !== "text" || length === 0 || length > last.text.length) {
    content.push({ type: "text", text: "", ...own })
    return
  }
  const at = last.text.length - length
  const before: ReadonlyArray<PartOf<V>> = at === 0 ? [] : [{ type: "text", text: last.text.slice(0, at) }]
  content.splice(-1, 1, ...before, { type: "text", text: last.text.slice(at), ...own })
}
