/** The server's side of OpenAI's chat completions. */
import * as Ask from "./openAiChatAsk.ts"
import * as Tell from "./openAiChatTell.ts"
import * as Parts from "./parts.ts"
import type { ClientFormat, Wire } from "./wire.ts"

/**
 * The chat completions. Like the real service it refuses: a request without a key; an unreadable body; a call without a result right behind
 * its message; a result without its call; a tool choice without tools; a strict schema with an open object or an optional field. Reasoning
 * is sent as `reasoning_content`, as by DeepSeek and Kimi; OpenAI itself does not send it.
 */
export const wire: Wire<ClientFormat> = {
  format: "openai-chat",
  serves: (path) => path.endsWith("/chat/completions"),
  isKeyNeeded: true,
  keyOf: Parts.bearerOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event"
}
