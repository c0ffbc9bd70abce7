/** Reads a request for Gemini's Interactions API, and checks it as the real service does. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const Content = Schema.Union([
  Text,
  Schema.Struct({
    type: Schema.Literals(["image", "audio", "document", "video"]),
    data: Schema.optionalKey(Schema.String),
    uri: Schema.optionalKey(Schema.String),
    mime_type: Schema.optionalKey(Schema.String)
  })
])
type Content = typeof Content.Type

const Step = Schema.Union([
  Schema.Struct({
    type: Schema.Literals(["user_input", "model_output"]),
    content: Schema.optionalKey(Schema.Array(Content))
  }),
  Schema.Struct({
    type: Schema.Literal("thought"),
    signature: Schema.optionalKey(Schema.String),
    summary: Schema.optionalKey(Schema.Array(Content))
  }),
  Schema.Struct({
    type: Schema.Literal("function_call"),
    id: Schema.String,
    name: Schema.String,
    arguments: Schema.JsonObject
  }),
  Schema.Struct({
    type: Schema.Literal("function_result"),
    call_id: Schema.String,
    result: Schema.Json,
    is_error: Schema.optionalKey(Schema.Boolean)
  }),
  // Steps of tools that the service ran. Clients send them back unchanged.
  Schema.Struct({
    type: Schema.Literals(
      (
        ["code_execution", "url_context", "mcp_server_tool", "google_search", "file_search", "google_maps"] as const
      ).flatMap((name) => [`${name}_call`, `${name}_result`] as const)
    )
  })
])
type Step = typeof Step.Type

const Choice = Schema.Union([
  Schema.Literals(["auto", "any", "none", "validated"]),
  Schema.Struct({
    allowed_tools: Schema.optionalKey(
      Schema.Struct({
        mode: Schema.optionalKey(Schema.String),
        tools: Schema.optionalKey(Schema.Array(Schema.String))
      })
    )
  })
])

const Body = Schema.Struct({
  model: Schema.optionalKey(Schema.String),
  agent: Schema.optionalKey(Schema.String),
  input: Schema.Union([Schema.String, Content, Schema.Array(Schema.Union([Content, Step]))]),
  system_instruction: Schema.optionalKey(Schema.String),
  previous_interaction_id: Schema.optionalKey(Schema.String),
  generation_config: Schema.optionalKey(Schema.Struct({ tool_choice: Schema.optionalKey(Choice) })),
  tools: Schema.optionalKey(Schema.Array(Schema.Json)),
  stream: Schema.optionalKey(Schema.Boolean),
  background: Schema.optionalKey(Schema.Boolean),
  store: Schema.optionalKey(Schema.Boolean)
})

const Function = Schema.Struct({
  type: Schema.Literal("function"),
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(Schema.JsonObject)
})

export const read = (received: Received, earlier: Wire.Earlier): Result.Result<Wire.BrainRequest, Wire.Failure> =>
  Result.flatMap(Parts.decode(Body, received), (body) => {
    const { agent, model, previous_interaction_id: previous } = body
    const before = previous === undefined ? [] : earlier(previous)
    if (before === undefined) return Parts.invalid(`Interaction ${previous} was not found.`)
    const messages = [...before, ...messagesOf(body.input)]
    const against = formOf(body) ?? unmatched(messages)
    return Parts.unless(against, {
      format: "gemini-interactions",
      model: model ?? agent ?? "",
      messages: [
        ...(body.system_instruction === undefined ? [] : [Message.system(body.system_instruction)]),
        ...messages
      ],
      tools: (body.tools ?? [])
        .filter(Schema.is(Function))
        .map(({ description, name, parameters }) => Parts.specOf(name, description, parameters)),
      toolChoice: choiceOf(body.generation_config?.tool_choice),
      isStreamed: body.stream === true,
      received
    })
  })

const formOf = ({ agent, background, model, store }: typeof Body.Type): string | undefined => {
  if (agent === undefined && model === undefined) return "Either 'model' or 'agent' must be specified."
  if (agent !== undefined && model !== undefined) return "Only one of 'model' and 'agent' can be specified."
  return background === true && store === false ? "'background' requires 'store' to be true." : undefined
}

const choiceOf = (choice: typeof Choice.Type | undefined): Model.ToolChoice => {
  if (choice === "none") return "none"
  if (choice === "any") return "required"
  if (choice === undefined || Predicate.isString(choice)) return "auto"
  // Mutant `""` survives: each mode but `any` and `none` means `auto`
  const { mode = "auto", tools: [only, ...others] = [] } = choice.allowed_tools ?? {}
  if (mode !== "any") return mode === "none" ? "none" : "auto"
  return only === undefined || others.length > 0 ? "required" : { tool: only }
}

/**
 * Converts the input to messages. Consecutive contents become one user message, and consecutive steps of the model become one assistant
 * message.
 */
const messagesOf = (input: (typeof Body.Type)["input"]): ReadonlyArray<Message.Foreign> => {
  if (Predicate.isString(input)) return [Message.user(input)]
  const messages: Array<Message.Foreign> = []
  for (const item of Array.isArray(input) ? input : [input as Content]) {
    const last = messages.at(-1)
    if (isContent(item)) {
      if (last?.role === "user") messages[messages.length - 1] = { ...last, content: [...last.content, shown(item)] }
      else messages.push({ role: "user", content: [shown(item)] })
      continue
    }
    const message = messageOf(item)
    if (message.role === "assistant" && last?.role === "assistant") {
      messages[messages.length - 1] = { role: "assistant", content: [...last.content, ...message.content] }
    } else messages.push(message)
  }
  return messages
}

const isContent: (item: Content | Step) => item is Content = Schema.is(Content)

const messageOf = (step: Step): Message.Foreign => {
  switch (step.type) {
    case "user_input":
      return { role: "user", content: (step.content ?? []).map(shown) }
    case "model_output":
      return { role: "assistant", content: [Message.text(textOf(step.content ?? []))] }
    case "thought":
      return { role: "assistant", content: [{ type: "reasoning", text: textOf(step.summary ?? []) }] }
    case "function_call":
      return {
        role: "assistant",
        content: [{ type: "tool-call", id: step.id, name: step.name, arguments: step.arguments }]
      }
    case "function_result":
      return { role: "tool", callId: step.call_id, text: resultOf(step.result), isError: step.is_error === true }
    default: {
      const opaque = { provider: "gemini", data: null }
      return { role: "assistant", content: [{ type: "provider-item", kind: step.type, opaque }] }
    }
  }
}

const textOf = (content: ReadonlyArray<Content>): string =>
  content.map((each) => (each.type === "text" ? each.text : "")).join("")

/** The text of a function result, which may be a text, a list of contents, or any JSON. */
const resultOf = (result: Schema.Json): string => {
  if (Predicate.isString(result)) return result
  return Schema.is(Schema.Array(Content))(result) ? textOf(result) : JSON.stringify(result)
}

const shown = (content: Content): Message.UserContent[number] => {
  if (content.type === "text") return Message.text(content.text)
  const { data, mime_type = "application/octet-stream", type, uri = "" } = content
  const from = data === undefined ? { url: uri } : { data }
  return type === "image" ? Message.image(mime_type, from) : Message.file(mime_type, from)
}

/** The error message for a call without its result anywhere in the input, or a result without its call; `undefined` if all match. */
const unmatched = (messages: ReadonlyArray<Message.Foreign>): string | undefined => {
  const called = new Set(
    messages.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
        : []
    )
  )
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])))
  const stray = [...answered].find((id) => !called.has(id))
  if (stray !== undefined) return `No function call found for function result with call_id ${stray}.`
  const unanswered = [...called].find((id) => !answered.has(id))
  return unanswered === undefined ? undefined : `No function result found for function call ${unanswered}.`
}
