/** Reads a request for OpenAI's Responses API, and checks it as the real service does. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Tools from "./openAiTools.ts"
import * as Waiting from "./openAiWaiting.ts"
import * as Parts from "./parts.ts"

const Part = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["input_text", "output_text"]), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("input_image"),
    image_url: Schema.optionalKey(Schema.String),
    file_id: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("input_file"),
    filename: Schema.optionalKey(Schema.String),
    file_data: Schema.optionalKey(Schema.String),
    file_url: Schema.optionalKey(Schema.String),
    file_id: Schema.optionalKey(Schema.String)
  })
])

const Content = Schema.Union([Schema.String, Schema.Array(Part)])

const Said = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: Content
})

const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  id: Schema.optionalKey(Schema.String),
  summary: Schema.Array(Schema.Struct({ text: Schema.String })),
  encrypted_content: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const Item = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("function_call"),
    call_id: Schema.String,
    name: Schema.String,
    arguments: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("function_call_output"), call_id: Schema.String, output: Content }),
  Waiting.Call,
  Waiting.Output,
  Waiting.ApprovalRequest,
  Waiting.ApprovalResponse,
  Reasoning,
  // Items of tools that the provider ran. Clients send them back unchanged.
  Schema.Struct({
    type: Schema.Literals([
      "web_search_call",
      "file_search_call",
      "code_interpreter_call",
      "image_generation_call",
      "mcp_call",
      "mcp_list_tools",
      "compaction"
    ])
  }),
  Said
])
type Item = typeof Item.Type

const Body = Schema.Struct({
  model: Schema.String,
  input: Schema.Union([Schema.String, Schema.Array(Item)]),
  instructions: Schema.optionalKey(Schema.NullOr(Schema.String)),
  previous_response_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  tools: Schema.optionalKey(Schema.Array(Schema.Json)),
  tool_choice: Schema.optionalKey(Schema.Json),
  text: Schema.optionalKey(Schema.Json),
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  background: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  store: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

const Tool = Schema.Struct({
  type: Schema.Literal("function"),
  name: Schema.String,
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  parameters: Schema.optionalKey(Schema.NullOr(Schema.JsonObject)),
  strict: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

export const read = (received: Received, earlier: Wire.Earlier): Result.Result<Wire.BrainRequest, Wire.Failure> =>
  Result.flatMap(Parts.decode(Body, received), (body) => {
    const previous = body.previous_response_id
    const before = previous ? earlier(previous) : []
    if (before === undefined)
      return Parts.invalid(`Previous response with id '${previous}' not found.`, {
        code: "previous_response_not_found"
      })
    const items: ReadonlyArray<Item> = Predicate.isString(body.input)
      ? [{ role: "user", content: body.input }]
      : body.input
    const tools = (body.tools ?? []).filter(Schema.is(Tool))
    const given = tools.map(({ name, parameters, strict }) => ({
      name,
      parameters: parameters ?? undefined,
      isStrict: strict === true
    }))
    const toolChoice = choiceOf(body.tool_choice)
    // if the request also has tools that the service runs, the choice may mean one of those, so it is not checked
    const isChosen = body.tool_choice !== undefined && (body.tools ?? []).length === tools.length
    const against =
      (body.background === true && body.store === false ? unstored : undefined) ??
      complaint(items, before) ??
      Tools.complaint(given, isChosen, toolChoice) ??
      (Schema.is(StrictText)(body.text) ? Tools.badFormat(body.text.format) : undefined)
    return Parts.unless(against, {
      format: "openai-responses",
      model: body.model,
      messages: [...(body.instructions ? [Message.system(body.instructions)] : []), ...before, ...messagesOf(items)],
      tools: tools.map(({ description, name, parameters }) =>
        Parts.specOf(name, description ?? undefined, parameters ?? undefined)
      ),
      toolChoice,
      isStreamed: body.stream === true,
      received
    })
  })

// OpenAI's guide on background mode says that `store: false` is rejected, but does not quote the error message.
const unstored = "Background mode requires 'store' to be true."

const StrictText = Schema.Struct({ format: Tools.Format })

/** A tool choice by name. Perplexity's form of it has no `type` (docs.perplexity.ai, looked up on 2026-11-26). */
const Named = Schema.Struct({ type: Schema.optionalKey(Schema.Literal("function")), name: Schema.String })

const choiceOf = (choice: Schema.Json | undefined): Model.ToolChoice => {
  if (choice === "none" || choice === "required") return choice
  return Schema.is(Named)(choice) ? { tool: choice.name } : "auto"
}

/** Converts items to messages. Consecutive items of the model become one message. */
const messagesOf = (items: ReadonlyArray<Item>): ReadonlyArray<Message.Foreign> => {
  const messages: Array<Message.Foreign> = []
  for (const item of items) {
    const message = messageOf(item)
    const last = messages.at(-1)
    if (message.role !== "assistant" || last?.role !== "assistant") messages.push(message)
    else messages[messages.length - 1] = { role: "assistant", content: [...last.content, ...message.content] }
  }
  return messages
}

const messageOf = (item: Item): Message.Foreign => {
  const said = (
    part: Extract<Message.Foreign, { readonly role: "assistant" }>["content"][number]
  ): Extract<Message.Foreign, { readonly role: "assistant" }> => ({
    role: "assistant",
    content: [part]
  })
  switch (item.type) {
    case undefined:
    case "message":
      if (item.role === "assistant") return said(Message.text(textOf(item.content)))
      return item.role === "user"
        ? { role: "user", content: partsOf(item.content) }
        : Message.system(textOf(item.content))
    case "function_call":
      return said({ type: "tool-call", id: item.call_id, name: item.name, arguments: item.arguments })
    case "function_call_output":
      return { role: "tool", callId: item.call_id, text: textOf(item.output) }
    case "mcp_approval_response":
      return Waiting.decided(item)
    case "apply_patch_call_output":
    case "computer_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "shell_call_output":
      return Waiting.answered(item)
    case "reasoning":
      return said({ type: "reasoning", text: item.summary.map(({ text }) => text).join("") })
    default:
      return said({ type: "provider-item", kind: item.type, opaque: { provider: "openai", data: null } })
  }
}

const partsOf = (content: typeof Content.Type): Message.UserContent =>
  Predicate.isString(content) ? [Message.text(content)] : content.map(partOf)

const partOf = (part: typeof Part.Type): Message.UserContent[number] => {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return Message.text(part.text)
    case "refusal":
      return Message.text(part.refusal)
    case "input_image": {
      const { from, type } = Parts.attachedAt(part.file_id ?? part.image_url ?? "", "image/*")
      return Message.image(type, from)
    }
    case "input_file": {
      const { from, type } = Parts.attachedAt(part.file_id ?? part.file_url ?? part.file_data ?? "", "application/pdf")
      return Message.file(type, from, part.filename)
    }
  }
}

const textOf = (content: typeof Content.Type): string => Message.textOf({ content: partsOf(content) })

/**
 * The error message with which the real service refuses the items; `undefined` if it accepts them. Calls and outputs match by id, anywhere
 * in the input.
 */
const complaint = (items: ReadonlyArray<Item>, before: ReadonlyArray<Message.Foreign>): string | undefined => {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  const asked = new Set<string>()
  for (const message of before) {
    if (message.role === "tool") answered.add(message.callId)
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type === "tool-call") called.set(part.id, "function call")
      if (part.type !== "provider-item" || !Predicate.isObject(part.opaque.data)) continue
      const { call_id, id } = part.opaque.data
      if (Predicate.isString(call_id)) called.set(call_id, Waiting.wordsOf(part.kind))
      if (part.kind === "mcp_approval_request" && Predicate.isString(id)) asked.add(id)
    }
  }
  for (const [index, item] of items.entries()) {
    // Mutant `""` survives: only calls and outputs count
    const { type = "message" } = item
    if (item.type === "mcp_approval_request") asked.add(item.id)
    if (item.type === "mcp_approval_response" && !asked.has(item.approval_request_id)) return Waiting.unasked(item)
    if ("call_id" in item && type.endsWith("_output")) {
      const kind = Waiting.wordsOf(type.replace(/_output$/, ""))
      if (!called.has(item.call_id)) return `No tool call found for ${kind} output with call_id ${item.call_id}.`
      answered.add(item.call_id)
    } else if ("call_id" in item) called.set(item.call_id, Waiting.wordsOf(type))
    if (item.type === "reasoning") {
      const found = badReasoning(item, items[index + 1])
      if (found !== undefined) return found
    }
  }
  const unanswered = [...called].find(([id]) => !answered.has(id))
  return unanswered === undefined ? undefined : `No tool output found for ${unanswered[1]} ${unanswered[0]}.`
}

const badReasoning = (
  { encrypted_content, id = "" }: typeof Reasoning.Type,
  next: Item | undefined
): string | undefined => {
  const isByModel = next !== undefined && !isByClient(next)
  if (!isByModel) {
    return `Item '${id}' of type 'reasoning' was provided without its required following item.`
  }
  return encrypted_content && encrypted_content !== Parts.signatureOf(id)
    ? `The encrypted content for item ${id} could not be verified.`
    : undefined
}

const isByClient = (item: Item): boolean =>
  // Mutant `/_output$|mcp_approval_response$/` survives: the type of no other item ends so
  "role" in item ? item.role !== "assistant" : /_output$|^mcp_approval_response$/.test(item.type)
