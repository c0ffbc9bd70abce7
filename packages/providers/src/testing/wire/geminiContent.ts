/** The server's side of Gemini's `generateContent` and `streamGenerateContent`. */
import * as Ask from "./geminiAsk.ts"
import * as Counts from "./counts.ts"
import * as Tell from "./geminiTell.ts"
import type { ClientFormat, Wire } from "./wire.ts"

/**
 * Gemini's content API. Like the real service it refuses: a request without a key; unknown fields; a call that does not follow a user turn;
 * a number of responses other than the number of calls; and, for newer models, a step of the current turn whose first call comes back
 * without its thought signature. Like the real models, those named `gemini-1…` or `gemini-2…` give their calls no ids and demand no thought
 * signatures; others do both. Without `alt=sse` a stream is one JSON array.
 */
export const wire: Wire<ClientFormat> = {
  format: "gemini-content",
  serves: (path) => Ask.addressed(path) !== undefined || Counts.content.serves(path),
  counts: Counts.content,
  isKeyNeeded: true,
  keyOf: Ask.keyOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event"
}
