/** The server's side of Ollama's own chat API. */
import * as Ask from "./ollamaAsk.ts"
import * as Tell from "./ollamaTell.ts"
import * as Parts from "./parts.ts"
import type { ClientFormat, Wire } from "./wire.ts"

/**
 * Ollama's chat API, as of a local server: it needs no key, and streams lines of JSON by default. Like the real server it accepts almost
 * everything, even results without calls. It refuses a body of another shape, arguments that are not an object, and a request without a
 * model.
 */
export const wire: Wire<ClientFormat> = {
  format: "ollama-chat",
  serves: (path) => path.endsWith("/api/chat"),
  isKeyNeeded: false,
  keyOf: Parts.bearerOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "line"
}
