/** What a chat-completions request says, read leniently: what does not fit is left out, nothing is an error. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isObject, parse, write, type JsonObject } from "./Json.ts"
import * as Shape from "./Shape.ts"

export interface Tool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its parameters: where references in `fields` point to. */
  readonly root: JsonObject
  readonly fields: ReadonlyArray<Shape.Field>
}

export interface Call {
  readonly id: string
  readonly tool: string
  /** The arguments as an object; empty when they are none. */
  readonly arguments: JsonObject
}

/** A call with what came back. */
export interface Outcome {
  readonly call: Call
  readonly text: string
  readonly isError: boolean
}

export interface Conversation {
  readonly system: string
  /** The tools that may be called now. */
  readonly tools: ReadonlyArray<Tool>
  readonly mustCall: boolean
  /** The last message of the user. */
  readonly request: string
  /** What was called since, oldest first. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** The outcomes of the last message alone; empty when the user spoke last. */
  readonly latest: ReadonlyArray<Outcome>
  readonly messages: number
  /** Characters in all: what the prompt costs. */
  readonly size: number
}

const Message = Schema.Struct({
  role: Schema.String,
  content: Schema.optionalKey(Schema.Unknown),
  tool_call_id: Schema.optionalKey(Schema.String),
  tool_calls: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Unknown)))
})

const WireCall = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.optionalKey(Schema.Json) })
})

const WireTool = Schema.Struct({
  function: Schema.Struct({
    name: Schema.String,
    description: Schema.optionalKey(Schema.String),
    parameters: Schema.optionalKey(Schema.Json)
  })
})

const Choice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  Schema.Struct({ function: Schema.Struct({ name: Schema.String }) })
])

const Text = Schema.Struct({ text: Schema.String })

const asMessage = Schema.decodeUnknownOption(Message)
const asCall = Schema.decodeUnknownOption(WireCall)
const asTool = Schema.decodeUnknownOption(WireTool)
const asChoice = Schema.decodeUnknownOption(Choice)
const asText = Schema.decodeUnknownOption(Text)
const asList = Schema.decodeUnknownOption(Schema.Array(Schema.Unknown))

const listOf = (value: unknown): ReadonlyArray<unknown> => Option.getOrElse(asList(value), () => [])

const readAll = <A>(values: unknown, read: (value: unknown) => Option.Option<A>): ReadonlyArray<A> =>
  listOf(values).flatMap((value) => Option.toArray(read(value)))

export const fromBody = (body: unknown): Conversation => {
  const fields: { readonly [key: string]: unknown } = isObject(body) ? body : {}
  const messages = readAll(fields.messages, asMessage)
  const choice = Option.getOrElse(asChoice(fields.tool_choice), () => "auto" as const)
  const offered = readAll(fields.tools, asTool).map(toTool)
  const lastUser = messages.findLastIndex((message) => message.role === "user")
  const since = messages.slice(lastUser + 1)
  const lastAssistant = since.findLastIndex((message) => message.role === "assistant")
  const batch = since.at(-1)?.role === "tool" ? since.slice(Math.max(lastAssistant, 0)) : []
  const systems = messages.filter(({ role }) => role === "system" || role === "developer")
  const tools =
    choice === "none" ? [] : offered.filter(({ name }) => typeof choice === "string" || name === choice.function.name)
  return {
    system: systems.map(({ content }) => textOf(content)).join("\n"),
    tools,
    mustCall: choice !== "auto" && choice !== "none",
    request: textOf(messages[lastUser]?.content),
    outcomes: outcomesOf(since),
    latest: outcomesOf(batch),
    messages: messages.length,
    size:
      messages.reduce(
        (sum, { content, tool_calls }) => sum + textOf(content).length + 64 * (tool_calls?.length ?? 0),
        0
      ) + offered.reduce((sum, { description, root }) => sum + description.length + write(root).length, 0)
  }
}

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : readAll(content, asText)
        .map(({ text }) => text)
        .join("")

const toTool = ({ function: { name, description, parameters } }: typeof WireTool.Type): Tool => {
  const root = isObject(parameters) ? parameters : {}
  return { name, description: description ?? "", root, fields: Shape.fieldsOf(Shape.resolve(root, root), root) }
}

/** The calls in these messages that were answered, each with its answer. */
const outcomesOf = (messages: ReadonlyArray<typeof Message.Type>): ReadonlyArray<Outcome> => {
  const answers = new Map<string, string>()
  for (const { role, tool_call_id, content } of messages) {
    if (role === "tool" && tool_call_id !== undefined) answers.set(tool_call_id, textOf(content))
  }
  return messages
    .flatMap(({ tool_calls }) => readAll(tool_calls, asCall))
    .flatMap(({ id, function: { name, arguments: sent } }) => {
      const answer = answers.get(id)
      const parsed = typeof sent === "string" ? parse(sent) : sent
      const call: Call = { id, tool: name, arguments: isObject(parsed) ? parsed : {} }
      return answer === undefined ? [] : [{ call, ...read(answer) }]
    })
}

/** A result is what it says; chat completions have no error flag, so the text has to tell. */
const read = (answer: string): { readonly text: string; readonly isError: boolean } => {
  const value = parse(answer)
  if (typeof value === "string") return { text: value, isError: saysError(value) }
  const error = isObject(value) ? value.error : undefined
  if (typeof error === "string") return { text: error, isError: true }
  if (isObject(error) && typeof error.message === "string") return { text: error.message, isError: true }
  return { text: answer, isError: saysError(answer) }
}

const saysError = (text: string): boolean => /^\s*(?:error|transient|permanent|denied|failed)\b/i.test(text)
