/** The server's side of OpenAI's chat completions. */
import * as Ask from "./openAiChatAsk.ts"
import * as Tell from "./openAiChatTell.ts"
import * as Parts from "./parts.ts"
import * as Fault from "../Fault.ts"
import type * as LoopbackServer from "../LoopbackServer.ts"
import * as Wire from "../Wire.ts"

/** Reasoning goes out as `reasoning_content`, as from DeepSeek and Kimi; OpenAI itself does not return it. */
export const wire: Wire.Wire = {
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

/**
 * A handler that lets a brain answer. Like the real service it refuses: a request without a key; an unreadable body;
 * a call without a result right behind its message; a result without its call; a tool choice without tools; a strict
 * schema with an open object or an optional field.
 */
export const handler = (brain: Wire.Brain, rules?: Wire.Rules): LoopbackServer.Handler =>
  Wire.handler(wire, brain, rules)

/** A failure in OpenAI's words; the brain does not run. */
export const failure = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string },
  headers?: Readonly<Record<string, string>>
): Fault.Fault => Fault.status(status, { error: { param: null, type: null, code: null, ...error } }, headers)

/** 503, the model has no capacity. */
export const overloaded: Fault.Fault = Fault.respond(Tell.refuse({ type: "overloaded" }))
