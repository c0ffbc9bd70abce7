/** The server's side of Anthropic's Messages API. */
import * as Ask from "./anthropicAsk.ts"
import * as Counts from "./counts.ts"
import * as Tell from "./anthropicTell.ts"
import type { ClientFormat, Wire } from "./wire.ts"

/**
 * The Messages API. Like the real service it refuses: a request without key, version or `max_tokens`; a conversation that the user does not
 * open; a call without a result in the next message; a result without its call; results that do not come first; empty texts; foreign ids
 * and signatures; thinking with a forced call; a tool choice without tools.
 */
export const wire: Wire<ClientFormat> = {
  format: "anthropic-messages",
  serves: (path) => path.endsWith("/v1/messages") || Counts.messages.serves(path),
  counts: Counts.messages,
  isKeyNeeded: true,
  keyOf: Ask.keyOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event"
}
