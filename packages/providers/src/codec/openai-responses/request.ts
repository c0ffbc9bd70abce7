/**
 * Encodes a request as the body of `POST /responses`. Messages and tools are encoded once and cached by their
 * identity, so that a turn does not pay for the transcript before it.
 */
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Codec } from "../Codec.ts"
import * as Parameters from "../Parameters.ts"
import * as Json from "../../transport/Json.ts"
import { formatName } from "../text.ts"
import * as Items from "./items.ts"
import * as PlainItems from "./plainItems.ts"
import type * as Chain from "./chain.ts"
import { breakpoint, lastInstruction } from "../cacheMarks.ts"
import * as OutputWords from "../outputWords.ts"
import { remembering } from "../Remembering.ts"
import * as RootSchema from "../rootSchema.ts"
import * as StrictSchema from "../strictSchema.ts"

/** The settings of an encoder, which are the same for every request. */
export interface Settings {
  readonly provider: string
  /** The model and parameters, under their names on the wire. */
  readonly constants: Readonly<Record<string, Schema.Json | undefined>>
  /** The fields of the option `text` besides its format. */
  readonly text: Schema.Json | undefined
  readonly toolChoice: Model.ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly providerTools: ReadonlyArray<Schema.Json>
  /** Whether the provider stores replies, so that requests can refer to their items. */
  readonly stored: boolean
  /** How the server enforces the schema of an output, see `Capabilities`. */
  readonly output: "schema" | "json" | "none"
  /** Whether the server takes only plain items, see `Dialect`. */
  readonly isPlain: boolean
  /** Whether the last of the instructions gets a cache mark. */
  readonly isMarked: boolean
  /** Finds the stored reply that a request continues. */
  readonly linkIn?: Chain.Chain["linkIn"] | undefined
  /** Whether schemas that fit the strict dialect are sent as strict. */
  readonly strict: boolean
}

export const make = (settings: Settings): Codec["encode"] => {
  const { constants, parallelToolCalls, providerTools, text } = settings
  const head = JSON.stringify(constants).slice(0, -1)
  const parallel = parallelToolCalls === undefined ? "" : `,"parallel_tool_calls":${parallelToolCalls}`
  const provided = providerTools.map((tool) => JSON.stringify(tool))
  const plainText = text === undefined ? "" : `,"text":${JSON.stringify(text)}`
  const messages = inputOf(settings)
  const tools = remembering((spec: Message.ToolSpec) => encodeTool(spec, settings))
  const texts = remembering((output: Model.OutputSpec) => encodeText(output, settings) ?? "")
  const isLeftToUser = Json.field(text, "format") !== undefined || constants["response_format"] !== undefined
  const messagesOf = OutputWords.make()
  return (request, mode) => {
    const format = request.output === undefined || isLeftToUser ? "" : texts(request.output)
    const link = settings.linkIn?.(request)
    const transcript =
      link?.messages ?? messagesOf(request, isLeftToUser || (format !== "" && settings.output === "schema"))
    const items = messages(transcript)
    const sent = link === undefined ? items : [...link.answers.map((answer) => JSON.stringify(answer)), ...items]
    const input = (settings.isMarked && link === undefined ? marked(sent, transcript) : sent).filter(
      (items) => items !== ""
    )
    const previous = link === undefined ? "" : `,"previous_response_id":${JSON.stringify(link.id)}`
    const all = [...request.tools.map(tools), ...provided]
    const choice = encodeChoice(Parameters.choiceOf(request, settings.toolChoice), settings.isPlain)
    const toolFields = all.length === 0 ? "" : `,"tools":[${all.join(",")}]${choice}${parallel}`
    const said = format === "" || settings.isPlain ? `${plainText}${format}` : format
    return `${head}${previous},"input":[${input.join(",")}]${toolFields}${said}${mode === "streamed" ? ',"stream":true' : ""}}`
  }
}

/** Adds a cache mark to the last of the instructions at the beginning. */
const marked = (items: ReadonlyArray<string>, transcript: Message.Transcript): ReadonlyArray<string> => {
  const at = lastInstruction(transcript)
  const message = transcript[at]
  if (message?.role !== "system") return items
  const content = [{ type: "input_text", text: message.text, ...breakpoint }]
  return items.with(at, JSON.stringify({ role: "system", content }))
}

/**
 * Makes a function that gives the items of each message as JSON texts. The provider matches an answer to its call by the id over the whole
 * conversation, so repeated ids are numbered. A number depends only on the messages before it, so it is the same in every later request.
 */
const inputOf = (settings: Settings): ((messages: Message.Transcript) => ReadonlyArray<string>) => {
  const idsIn = remembering(Items.idsIn)
  // Mutant `["Stryker was here"]` survives: the first number is 1
  const encoders: Array<(message: Message.Message) => string> = []
  const encoded = (message: Message.Message, time: number) =>
    (encoders[time] ??= remembering((message) => encodeMessage(message, settings, time)))(message)
  return (messages) => {
    const used = new Set<string>()
    const times = new Map<string, number>()
    return messages.map((message) => {
      // Mutant `["Stryker was here"]` survives: speed only. Messages of users and systems get numbers too, and are
      // encoded once per number, to the same text
      const ids = message.role === "assistant" ? idsIn(message) : []
      const [first] = ids
      if (first === undefined) return encoded(message, 1)
      let time = times.get(first) ?? 1
      let sent = Items.callIds(ids, time)
      while (sent.some((id) => used.has(id))) sent = Items.callIds(ids, ++time)
      times.set(first, time)
      for (const id of sent) used.add(id)
      return encoded(message, time)
    })
  }
}

/** The JSON texts of a message's items, joined by commas. */
const encodeMessage = (message: Message.Message, { isPlain, provider, stored }: Settings, time: number): string => {
  if (isPlain) {
    // Mutant `["Stryker was here"]` survives: only messages of the model have calls
    const ids = message.role === "assistant" ? Items.callIds(Items.idsIn(message), time) : []
    return PlainItems.ofMessage(message, provider, ids)
      .map((item) => JSON.stringify(item))
      .join(",")
  }
  switch (message.role) {
    case "system":
      return JSON.stringify({ role: "system", content: message.text })
    case "user": {
      const [only, ...more] = message.content
      const text = only === undefined ? "" : more.length === 0 && only.type === "text" ? only.text : undefined
      return JSON.stringify({ role: "user", content: text ?? message.content.map(Items.ofPart) })
    }
    case "assistant":
      return Items.ofAssistant(message, provider, stored, time)
        .map((item) => JSON.stringify(item))
        .join(",")
  }
}

/**
 * Encodes a tool. The field `strict` is always sent: without it, the provider treats a schema as strict, and refuses a schema that does not
 * fit.
 */
const encodeTool = (spec: Message.ToolSpec, settings: Settings): string => {
  const { description, keepsNulls, name, parameters } = spec
  const strict = settings.strict ? StrictSchema.strict(parameters, { optional: keepsNulls !== true }) : undefined
  return JSON.stringify({
    type: "function",
    name,
    description,
    parameters: strict ?? RootSchema.parametersRoot(parameters) ?? parameters,
    strict: strict !== undefined
  })
}

/**
 * Encodes the schema of an output. The wire takes only objects, and restricts the characters of names. In the strict dialect optional
 * properties may be `null`, because answers are always read with `null` as absent.
 */
const encodeText = ({ name, schema }: Model.OutputSpec, settings: Settings): string | undefined => {
  const { isPlain, output, strict, text } = settings
  const root = RootSchema.objectRoot(schema)
  if (root === undefined || output === "none") return undefined
  const strictly = strict ? StrictSchema.strict(schema, { optional: true }) : undefined
  const shape = { name: formatName(name), schema: strictly ?? root, strict: strictly !== undefined }
  const isJson = output === "json"
  const type = isJson ? "json_object" : "json_schema"
  if (isPlain) return `,"response_format":${JSON.stringify({ type, ...(isJson ? {} : { json_schema: shape }) })}`
  return `,"text":${JSON.stringify({ ...Json.object(text), format: { type, ...(isJson ? {} : shape) } })}`
}

const encodeChoice = (choice: Model.ToolChoice, isPlain: boolean): string => {
  if (choice === "auto") return ""
  const named = isPlain ? {} : { type: "function" }
  const encoded = Predicate.isString(choice) ? choice : { ...named, name: choice.tool }
  return `,"tool_choice":${JSON.stringify(encoded)}`
}
