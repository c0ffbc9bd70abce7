/** The server's side of OpenAI's Responses API. */
import * as Ask from "./openAiResponsesAsk.ts"
import * as Counts from "./counts.ts"
import * as Job from "./openAiResponsesJob.ts"
import * as Tell from "./openAiResponsesTell.ts"
import * as Parts from "./parts.ts"
import type { ClientFormat, Wire } from "./wire.ts"

/**
 * The Responses API. Like the real service it refuses: a request without a key; a call without its output; an output without its call;
 * reasoning without the item that followed it, or with foreign encrypted content; a previous response that is not stored; a strict schema
 * with an open object or an optional field; an approval response without its request; a background job that is not stored.
 */
export const wire: Wire<ClientFormat> = {
  format: "openai-responses",
  serves: Job.serves,
  counts: Counts.responses,
  isKeyNeeded: true,
  keyOf: Parts.bearerOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event",
  jobs: Job.words
}
