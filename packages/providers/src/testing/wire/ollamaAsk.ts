/** Reads a request for Ollama's chat API, and checks it as the real server does. */
import * as Message from "@kintsugi/core/Message"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Received } from "../handling.ts"
import type * as Wire from "./wire.ts"
import { toolsOf } from "./openAiChatAsk.ts"
import * as Parts from "./parts.ts"

const WireMessage = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant", "tool"]),
  content: Schema.optionalKey(Schema.String),
  thinking: Schema.optionalKey(Schema.String),
  images: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
  tool_calls: Schema.optionalKey(
    Schema.NullOr(
      Schema.Array(
        Schema.Struct({
          id: Schema.optionalKey(Schema.String),
          function: Schema.Struct({ name: Schema.String, arguments: Schema.JsonObject })
        })
      )
    )
  ),
  tool_name: Schema.optionalKey(Schema.String),
  tool_call_id: Schema.optionalKey(Schema.String)
})
type WireMessage = typeof WireMessage.Type

const Body = Schema.Struct({
  model: Schema.optionalKey(Schema.String),
  messages: Schema.optionalKey(Schema.Array(WireMessage)),
  tools: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Json))),
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

export const read = (received: Received): Result.Result<Wire.BrainRequest, Wire.Failure> =>
  Result.flatMap(Parts.decode(Body, received), ({ messages = [], model, stream, tools }) =>
    model === undefined || model === ""
      ? Parts.invalid("model is required")
      : Result.succeed({
          format: "ollama-chat",
          model,
          messages: messagesOf(messages),
          tools: toolsOf(tools ?? []),
          toolChoice: "auto",
          isStreamed: stream !== false,
          received
        })
  )

/**
 * Converts messages to this library's form. A call without an id gets a numbered id, and a result without an id belongs to the next
 * unanswered call.
 */
const messagesOf = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<Message.Foreign> => {
  let count = 0
  let unanswered: Array<string> = []
  return messages.map(({ content = "", images, role, thinking, tool_call_id, tool_calls }): Message.Foreign => {
    switch (role) {
      case "system":
        return Message.system(content)
      case "user":
        return { role, content: [Message.text(content), ...(images ?? []).map(imageOf)] }
      case "tool":
        return { role, callId: tool_call_id ?? unanswered.shift() ?? "", text: content }
      case "assistant": {
        const calls = (tool_calls ?? []).map(({ function: { arguments: args, name }, id }): Message.ToolCall => ({
          type: "tool-call",
          id: id ?? `call_${++count}`,
          name,
          arguments: args
        }))
        unanswered = calls.map(({ id }) => id)
        const thoughts = thinking ? [{ type: "reasoning" as const, text: thinking }] : []
        return { role, content: [...thoughts, ...(content === "" ? [] : [Message.text(content)]), ...calls] }
      }
    }
  })
}

const imageOf = (data: string) => Message.image("image/*", { data })
