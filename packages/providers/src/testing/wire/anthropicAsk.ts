/** Reads a request for Anthropic's Messages API, and checks it as the real service does. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Parts from "./parts.ts"

const Source = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["base64", "text"]), media_type: Schema.String, data: Schema.String }),
  Schema.Struct({ type: Schema.Literal("url"), url: Schema.String }),
  Schema.Struct({ type: Schema.Literal("file"), file_id: Schema.String })
])

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const ToolUse = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.JsonObject
})

const ToolResult = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_use_id: Schema.String,
  content: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.Json)])),
  is_error: Schema.optionalKey(Schema.Boolean)
})

const Thinking = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  signature: Schema.String
})

const Block = Schema.Union([
  Text,
  ToolUse,
  ToolResult,
  Thinking,
  Schema.Struct({
    type: Schema.Literals(["image", "document"]),
    source: Source,
    title: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ type: Schema.Literal("container_upload"), file_id: Schema.String }),
  // Blocks of tools that the provider ran. Clients send them back unchanged.
  Schema.Struct({
    type: Schema.Literals([
      "redacted_thinking",
      "server_tool_use",
      "web_search_tool_result",
      "web_fetch_tool_result",
      "code_execution_tool_result",
      "bash_code_execution_tool_result",
      "text_editor_code_execution_tool_result",
      "mcp_tool_use",
      "mcp_tool_result",
      "search_result"
    ])
  })
])
type Block = typeof Block.Type

const Turn = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Union([Schema.String, Schema.Array(Block)])
})

const Body = Schema.Struct({
  model: Schema.String,
  max_tokens: Schema.Int,
  messages: Schema.Array(Turn),
  system: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Text)])),
  tools: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        description: Schema.optionalKey(Schema.String),
        input_schema: Schema.optionalKey(Schema.JsonObject)
      })
    )
  ),
  tool_choice: Schema.optionalKey(
    Schema.Struct({
      type: Schema.Literals(["auto", "any", "tool", "none"]),
      name: Schema.optionalKey(Schema.String)
    })
  ),
  thinking: Schema.optionalKey(Schema.Struct({ type: Schema.String })),
  stream: Schema.optionalKey(Schema.Boolean)
})
type Body = typeof Body.Type

export const keyOf = (received: Received): string | undefined =>
  received.headers["x-api-key"] || Parts.bearerOf(received)

export const read = (received: Received): Result.Result<Wire.BrainRequest, Wire.Failure> => {
  if (received.headers["anthropic-version"] === undefined) return Parts.invalid("anthropic-version: header is required")
  if (Predicate.isObject(received.body) && !("max_tokens" in received.body)) {
    return Parts.invalid("max_tokens: Field required")
  }
  return Result.flatMap(Parts.decode(Body, received), (body) => {
    const turns = body.messages.map(({ content, role }) => ({ role, blocks: blocksOf(content) }))
    return Parts.unless(complaint(body, turns), {
      format: "anthropic-messages",
      model: body.model,
      messages: [...systemOf(body), ...turns.flatMap(messagesOf)],
      // Mutant `["Stryker was here"]` survives: what has no schema is no tool of the client
      tools: (body.tools ?? []).flatMap(({ description, input_schema, name }) =>
        input_schema === undefined ? [] : [Parts.specOf(name, description, input_schema)]
      ),
      toolChoice: choiceOf(body),
      isStreamed: body.stream === true,
      received
    })
  })
}

interface Turn {
  readonly role: "user" | "assistant"
  readonly blocks: ReadonlyArray<Block>
}

const blocksOf = (content: string | ReadonlyArray<Block>): ReadonlyArray<Block> =>
  Predicate.isString(content) ? [{ type: "text", text: content }] : content

const systemOf = ({ system = [] }: Body): ReadonlyArray<Message.System> =>
  Predicate.isString(system) ? [Message.system(system)] : system.map(({ text }) => Message.system(text))

const choiceOf = ({ tool_choice }: Body): Model.ToolChoice => {
  switch (tool_choice?.type) {
    case undefined:
    case "auto":
      return "auto"
    case "none":
      return "none"
    case "any":
      return "required"
    case "tool":
      return { tool: tool_choice?.name ?? "" }
  }
}

/** Converts a turn to messages: the tool results of a user turn come first, then its other content. */
const messagesOf = ({ blocks, role }: Turn): ReadonlyArray<Message.Foreign> => {
  if (role === "assistant") return [{ role, content: blocks.flatMap(saidBy) }]
  const results = blocks.filter((block) => block.type === "tool_result").map(resultOf)
  const content = blocks.flatMap(shownBy)
  return content.length === 0 ? results : [...results, { role, content }]
}

const saidBy = (block: Block): Extract<Message.Foreign, { readonly role: "assistant" }>["content"] => {
  switch (block.type) {
    case "text":
      return [Message.text(block.text)]
    case "thinking":
      return [{ type: "reasoning", text: block.thinking }]
    case "tool_use":
      return [{ type: "tool-call", id: block.id, name: block.name, arguments: block.input }]
    case "tool_result":
    case "image":
    case "document":
    case "container_upload":
      return []
    default:
      return [{ type: "provider-item", kind: block.type, opaque: { provider: "anthropic", data: null } }]
  }
}

const shownBy = (block: Block): Message.UserContent => {
  if (block.type === "text") return [Message.text(block.text)]
  if (block.type === "container_upload") return [Message.file("application/octet-stream", { url: block.file_id })]
  if (block.type !== "image" && block.type !== "document") return []
  const { source, title } = block
  const from = "data" in source ? { data: source.data } : { url: source.type === "url" ? source.url : source.file_id }
  if (block.type === "image") return [Message.image("data" in source ? source.media_type : "image/*", from)]
  return [Message.file("data" in source ? source.media_type : "application/pdf", from, title)]
}

const resultOf = ({
  content = "",
  is_error,
  tool_use_id
}: typeof ToolResult.Type): Extract<Message.Foreign, { readonly role: "tool" }> => ({
  role: "tool",
  callId: tool_use_id,
  text: Predicate.isString(content) ? content : content.map(textIn).join(""),
  isError: is_error === true
})

const textIn = (block: Schema.Json): string =>
  Predicate.hasProperty(block, "text") && Predicate.isString(block.text) ? block.text : ""

/** The error message with which the real service refuses a request; `undefined` if it accepts the request. */
const complaint = (body: Body, turns: ReadonlyArray<Turn>): string | undefined => {
  if (turns.length === 0) return "messages: at least one message is required"
  if (turns[0]?.role !== "user") return 'messages: first message must use the "user" role'
  if (
    body.thinking !== undefined &&
    body.thinking.type !== "disabled" &&
    ["any", "tool"].includes(body.tool_choice?.type ?? "")
  ) {
    return "Thinking may not be enabled when tool_choice forces tool use."
  }
  const choice = choiceOf(body)
  const tools = body.tools ?? []
  if (body.tool_choice !== undefined && tools.length === 0) {
    return "tool_choice: tool_choice may only be specified while providing tools"
  }
  if (Predicate.isObject(choice) && !tools.some(({ name }) => name === choice.tool)) {
    return `Tool '${choice.tool}' not found in provided tools`
  }
  for (const [index, { input_schema, name }] of tools.entries()) {
    if (!nameForm.test(name)) return `tools.${index}.custom.name: String should match pattern '${nameForm.source}'`
    if (input_schema !== undefined && input_schema["type"] !== "object") {
      return `tools.${index}.custom.input_schema.type: Input should be 'object'`
    }
  }
  const seen = new Set<string>()
  for (const [index, { blocks }] of turns.entries()) {
    const found = badBlock(blocks, `messages.${index}`, seen) ?? badPair(turns, index)
    if (found !== undefined) return found
  }
  return undefined
}

const badBlock = (blocks: ReadonlyArray<Block>, where: string, seen: Set<string>): string | undefined => {
  for (const [index, block] of blocks.entries()) {
    const here = `${where}.content.${index}`
    if (block.type === "text" && block.text === "") return `${where}: text content blocks must be non-empty`
    if (block.type === "text" && block.text.trim() === "") {
      return `${where}: text content blocks must contain non-whitespace text`
    }
    if (block.type === "thinking" && block.signature !== Parts.signatureOf(block.thinking)) {
      return `${here}: Invalid \`signature\` in \`thinking\` block`
    }
    if (block.type === "tool_use") {
      if (!idForm.test(block.id)) return `${here}.tool_use.id: String should match pattern '${idForm.source}'`
      if (seen.has(block.id)) return `${here}: \`tool_use\` ids must be unique`
      seen.add(block.id)
    }
  }
  return undefined
}

const nameForm = /^[a-zA-Z0-9_-]{1,128}$/

const idForm = /^[a-zA-Z0-9_-]+$/

/** The error message for a tool call whose result is not in the next message, or a result whose call is not in the previous one. */
const badPair = (turns: ReadonlyArray<Turn>, index: number): string | undefined => {
  const { blocks = [], role } = turns[index] ?? {}
  const where = `messages.${index}`
  if (role === "assistant") {
    // Mutant `["Stryker was here"]` survives: what is no block is no result
    const next = turns[index + 1]?.blocks ?? []
    const first = next.findIndex(({ type }) => type !== "tool_result")
    const answered = new Set(next.slice(0, first < 0 ? next.length : first).map(answeredBy))
    const unanswered = blocks.flatMap((block) =>
      block.type === "tool_use" && !answered.has(block.id) ? [block.id] : []
    )
    return unanswered.length === 0
      ? undefined
      : `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  }
  // Mutant `["Stryker was here"]` survives: what is no block is no call
  const blocksBefore = turns[index - 1]?.blocks ?? []
  const asked = new Set(blocksBefore.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])))
  const at = blocks.findIndex((block) => block.type === "tool_result" && !asked.has(block.tool_use_id))
  return at < 0
    ? undefined
    : `${where}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${answeredBy(blocks[at])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
}

const answeredBy = (block: Block | undefined): string | undefined =>
  block?.type === "tool_result" ? block.tool_use_id : undefined
