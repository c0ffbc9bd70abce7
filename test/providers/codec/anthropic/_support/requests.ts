/** Requests, and the bodies that they become for Anthropic. */
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import type * as Provider from "@kintsugi/providers/Provider"

export const source: Provider.Source = { provider: "anthropic", model: "claude-x", secrets: [] }

export const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** The body of a request, as the server parses it. */
export const encode = (
  request: Partial<Model.Request>,
  parameters?: Parameters<typeof AnthropicMessages.make>[1],
  mode: "whole" | "streamed" = "whole"
) => JSON.parse(AnthropicMessages.make(source, parameters).encode({ ...plain, ...request }, mode))

export const messagesOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).messages

export const call = (id: string, args: Message.ToolCall["arguments"] = {}): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: args
})

export const answered = (
  toolCall: Message.ToolCall,
  kind: Message.Settlement["kind"] = "result",
  text = "found"
): Message.SettledCall => ({ type: "settled-call", call: toolCall, settlement: { kind, text } })

export const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

export const thought = (text: string, signature: string, provider = "anthropic"): Message.Reasoning => ({
  type: "reasoning",
  text,
  opaque: { provider, data: signature }
})

export const text = (value: string) => ({ type: "text", text: value })
