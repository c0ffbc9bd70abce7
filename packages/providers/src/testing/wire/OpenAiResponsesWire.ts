/** The server's side of OpenAI's Responses. */
import * as Ask from "./openAiResponsesAsk.ts"
import * as Tell from "./openAiResponsesTell.ts"
import * as Parts from "./parts.ts"
import type * as LoopbackServer from "../LoopbackServer.ts"
import * as Wire from "../Wire.ts"

/** Nothing is stored: a request contains its whole conversation. */
export const wire: Wire.Wire = {
  format: "openai-responses",
  serves: (path) => path.endsWith("/responses"),
  isKeyNeeded: true,
  keyOf: Parts.bearerOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event"
}

/**
 * A handler that lets a brain answer. Like the real service it refuses: a request without a key; a call without its
 * output; an output without its call; reasoning without the item that followed it, or with foreign encrypted content;
 * a previous response, because none is stored; a strict schema with an open object or an optional field.
 */
export const handler = (brain: Wire.Brain, rules?: Wire.Rules): LoopbackServer.Handler =>
  Wire.handler(wire, brain, rules)
