/** Requests, and the bodies that they become for OpenAI's chat completions. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type * as Provider from "@kintsugi/providers/Provider"

export const source: Provider.Source = { provider: "openai", model: "gpt-x", secrets: [] }

export const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** The body of a request, as the server parses it. */
export const encode = (
  request: Partial<Model.Request>,
  parameters?: Parameters<typeof OpenAiChat.make>[1],
  mode: "whole" | "streamed" = "whole"
) => JSON.parse(OpenAiChat.make(source, parameters).encode({ ...plain, ...request }, mode))

export const call = (id: string, args: Message.ToolCall["arguments"]): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: args
})

export const answered = (
  toolCall: Message.ToolCall,
  kind: Message.Settlement["kind"],
  text: string
): Message.SettledCall => ({
  type: "settled-call",
  call: toolCall,
  settlement: { kind, text }
})

export const tool: Message.ToolSpec = { name: "search", description: "Searches.", parameters: { type: "object" } }
