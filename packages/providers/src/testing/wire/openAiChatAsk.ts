/** Reads a request for chat completions, and checks it as the real service does. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Tools from "./openAiTools.ts"
import * as Parts from "./parts.ts"

const Part = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("image_url"), image_url: Schema.Struct({ url: Schema.String }) }),
  Schema.Struct({
    type: Schema.Literal("file"),
    file: Schema.Struct({
      filename: Schema.optionalKey(Schema.String),
      file_data: Schema.optionalKey(Schema.String),
      file_id: Schema.optionalKey(Schema.String)
    })
  }),
  Schema.Struct({
    type: Schema.Literal("input_audio"),
    input_audio: Schema.Struct({ data: Schema.String, format: Schema.String })
  })
])

const Call = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})

const Content = Schema.Union([Schema.String, Schema.Array(Part)])
const Maybe = Schema.optionalKey(Schema.NullOr(Content))

const WireMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literals(["system", "developer", "user"]), content: Content }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    content: Maybe,
    reasoning_content: Schema.optionalKey(Schema.NullOr(Schema.String)),
    tool_calls: Schema.optionalKey(Schema.Array(Call))
  }),
  Schema.Struct({ role: Schema.Literal("tool"), content: Content, tool_call_id: Schema.String })
])
type WireMessage = typeof WireMessage.Type

const Body = Schema.Struct({
  model: Schema.String,
  messages: Schema.Array(WireMessage),
  tools: Schema.optionalKey(Schema.Array(Schema.Json)),
  tool_choice: Schema.optionalKey(Schema.Json),
  response_format: Schema.optionalKey(Schema.Json),
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

const Tool = Schema.Struct({
  function: Schema.Struct({
    name: Schema.String,
    description: Schema.optionalKey(Schema.String),
    parameters: Schema.optionalKey(Schema.JsonObject),
    strict: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
  })
})

/** The client's tools, in this library's form. Tools that the service would run itself are omitted. */
// Mutant `["Stryker was here"]` survives: what is no object is no tool
export const toolsOf = (tools: ReadonlyArray<Schema.Json> = []): ReadonlyArray<Message.ToolSpec> =>
  tools.filter(Schema.is(Tool)).map(({ function: fn }) => Parts.specOf(fn.name, fn.description, fn.parameters))

export const read = (received: Received): Result.Result<Wire.BrainRequest, Wire.Failure> =>
  Result.flatMap(Parts.decode(Body, received), ({ messages, model, response_format, stream, tool_choice, tools }) => {
    const toolChoice = choiceOf(tool_choice)
    const given = (tools ?? []).filter(Schema.is(Tool)).map(({ function: { name, parameters, strict } }) => ({
      name,
      parameters,
      isStrict: strict === true
    }))
    const against =
      complaint(messages) ??
      Tools.complaint(given, tool_choice !== undefined, toolChoice) ??
      (Schema.is(StrictFormat)(response_format) ? Tools.badFormat(response_format.json_schema) : undefined)
    return Parts.unless(against, {
      format: "openai-chat",
      model,
      messages: messages.map(messageOf),
      tools: toolsOf(tools),
      toolChoice,
      isStreamed: stream === true,
      received
    })
  })

const StrictFormat = Schema.Struct({ json_schema: Tools.Format })

const Named = Schema.Struct({ function: Schema.Struct({ name: Schema.String }) })

const choiceOf = (choice: Schema.Json | undefined): Model.ToolChoice => {
  if (choice === "none" || choice === "required") return choice
  return Schema.is(Named)(choice) ? { tool: choice.function.name } : "auto"
}

const messageOf = (message: WireMessage): Message.Foreign => {
  switch (message.role) {
    case "system":
    case "developer":
      return Message.system(textOf(message.content))
    case "user":
      return { role: "user", content: partsOf(message.content) }
    case "tool":
      return { role: "tool", callId: message.tool_call_id, text: textOf(message.content) }
    case "assistant": {
      const { content, reasoning_content, tool_calls = [] } = message
      const text = textOf(content)
      return {
        role: "assistant",
        content: [
          ...(reasoning_content ? [{ type: "reasoning" as const, text: reasoning_content }] : []),
          ...(text === "" ? [] : [Message.text(text)]),
          ...tool_calls.map(({ function: { arguments: args, name }, id }) => ({
            type: "tool-call" as const,
            id,
            name,
            arguments: args
          }))
        ]
      }
    }
  }
}

const partsOf = (content: typeof Content.Type): Message.UserContent =>
  Predicate.isString(content) ? [Message.text(content)] : content.map(partOf)

const partOf = (part: typeof Part.Type): Message.UserContent[number] => {
  switch (part.type) {
    case "text":
      return Message.text(part.text)
    case "image_url": {
      const { from, type } = Parts.attachedAt(part.image_url.url, "image/*")
      return Message.image(type, from)
    }
    case "file": {
      const { from, type } = Parts.attachedAt(part.file.file_id ?? part.file.file_data ?? "", "application/pdf")
      return Message.file(type, from, part.file.filename)
    }
    case "input_audio":
      return Message.file(`audio/${part.input_audio.format}`, { data: part.input_audio.data })
  }
}

const textOf = (content: typeof Content.Type | null | undefined): string =>
  content === null || content === undefined ? "" : Message.textOf({ content: partsOf(content) })

/**
 * The error message with which the real service refuses a conversation: each call must have its result directly behind its message.
 * `undefined` if the service accepts it.
 */
const complaint = (messages: ReadonlyArray<WireMessage>): string | undefined => {
  const unanswered = new Set<string>()
  let isAsked = false
  const orphans = () =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...unanswered].join(", ")}`
  for (const message of messages) {
    if (message.role === "tool") {
      if (!isAsked) {
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      }
      if (!unanswered.delete(message.tool_call_id)) {
        return `Invalid parameter: 'tool_call_id' of '${message.tool_call_id}' not found in 'tool_calls' of previous message.`
      }
      continue
    }
    if (unanswered.size > 0) return orphans()
    isAsked = message.role === "assistant" && (message.tool_calls ?? []).length > 0
    if (message.role === "assistant") for (const { id } of message.tool_calls ?? []) unanswered.add(id)
  }
  return unanswered.size > 0 ? orphans() : undefined
}
