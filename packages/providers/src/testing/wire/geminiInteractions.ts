/**
 * The server's side of Gemini's Interactions API, written from its documentation (ai.google.dev: Interactions API reference, guides on
 * streaming, function calling and background execution; the types of `@google/genai`), looked up on 2026-11-26. It was never compared with
 * a recording. The form of errors comes from a report of a user. Not confirmed are: the error codes other than `invalid_request`, the error
 * messages, and how a filtered reply ends.
 */
import * as Predicate from "effect/Predicate"
import * as GeminiAsk from "./geminiAsk.ts"
import * as Ask from "./geminiInteractionsAsk.ts"
import * as Tell from "./geminiInteractionsTell.ts"
import * as Parts from "./parts.ts"
import type { JobWords, Wire } from "./wire.ts"

const addressed = (path: string): { readonly id: string; readonly isCancel: boolean } | undefined => {
  // Mutant `["Stryker was here"]` survives: the first element is not read
  const [, id, cancel] = /\/interactions\/([^/]+)(\/cancel)?$/.exec(path) ?? []
  return id === undefined ? undefined : { id, isCancel: cancel !== undefined }
}

/**
 * The background jobs of Interactions. Every interaction is stored unless the request has `store: false`; an interaction with `background:
 * true` is a job.
 */
const jobs: JobWords = {
  isJob: ({ received: { body } }) => Predicate.hasProperty(body, "background") && body.background === true,
  isStored: ({ received: { body } }) => !Predicate.hasProperty(body, "store") || body.store !== false,
  idOf: ({ received }) => Tell.idOf(received),
  about: (received) => {
    const found = addressed(Parts.pathOf(received))
    if (found === undefined) return undefined
    const query = new URLSearchParams(received.path.split("?")[1])
    const isStream = query.get("stream") === "true"
    // Mutant `"Stryker was here!"` survives: it is no id of an event either
    const after = Tell.numberOf(query.get("last_event_id") ?? "")
    return { id: found.id, asks: found.isCancel ? "cancel" : isStream ? "events" : "state", after }
  },
  state: Tell.state,
  events: Tell.events,
  unknown: (id) => Tell.refused(404, "not_found", `Interaction ${id} was not found.`),
  unstreamed: (id) => Tell.refused(400, "invalid_request", `Interaction ${id} was not created as a stream.`)
}

/**
 * The Interactions API. Like the real service it refuses: a request without a key; one without a model or an agent, or with both; a call
 * without its result, and a result without its call; the older form of inputs, with roles; an earlier interaction that is not stored; a job
 * that is not stored.
 */
export const wire: Wire = {
  format: "gemini-interactions",
  serves: (path) => path.endsWith("/interactions") || addressed(path) !== undefined,
  isKeyNeeded: true,
  keyOf: GeminiAsk.keyOf,
  read: Ask.read,
  render: Tell.render,
  refuse: Tell.refuse,
  breakOff: Tell.breakOff,
  split: "event",
  jobs
}
