/** What a model may lack, and how that is told. */
import * as Schema from "effect/Schema"

/** What a model may lack; `other` is named by nothing but the provider's words, in `detail`. */
export const Capability = Schema.Literals([
  "streaming",
  "vision",
  "files",
  "structuredOutput",
  "tools",
  "toolChoice",
  "thinking",
  "chat",
  "other"
])
export type Capability = typeof Capability.Type

/** In words, behind "does not support". */
export const spoken: Readonly<Record<Capability, string>> = {
  streaming: "streaming",
  vision: "images",
  files: "files",
  structuredOutput: "structured output",
  tools: "tool calls",
  toolChoice: "this choice of tools",
  thinking: "thinking",
  chat: "chat",
  other: "what the request asks for"
}
