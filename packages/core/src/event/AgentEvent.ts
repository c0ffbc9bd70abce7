/**
 * What happens in a run, as data. Traces, timelines, listeners and the trail of an error all read these events. A run builds an event only
 * if a listener is there.
 */
import * as Schema from "effect/Schema"
import * as Codec from "./Codec.ts"
import * as Message from "../data/Message.ts"

import type { Origin, Happening } from "./Happening.ts"

export type AgentEvent = Origin & Happening

/** The events of one or several types. */
export type OfType<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>

/** An event without its schema does not compile. */
const schemas: {
  readonly [Type in Happening["type"]]: Schema.Codec<Extract<AgentEvent, { readonly type: Type }>, unknown>
} = Codec.schemas

/**
 * The schema of events: their codec as JSON. `Schema.fromJsonString(AgentEvent.AgentEvent)` is the codec as text. Errors of this library
 * decode to their own class, others to their name, message and code. Input, output, parameters and progress keep only what is JSON.
 */
export const AgentEvent: Schema.Codec<AgentEvent, Schema.Json> = Schema.toCodecJson(
  Schema.Union(Object.values(schemas))
)

/**
 * Whether this event ends its run. It does if it is `run-completed`, `run-failed`, `run-interrupted` or `run-suspended`. A run emits
 * exactly one such event, and one more after each resume.
 */
export const isTerminal = (event: AgentEvent): boolean =>
  event.type === "run-completed" ||
  event.type === "run-failed" ||
  event.type === "run-interrupted" ||
  event.type === "run-suspended"

/**
 * Computes the transcript of a run from its events. It equals the run's own transcript, for whole, streamed, routed, suspended and
 * resumed runs. Without `runId`, the run is that of the first event. A resumed run emits its initial transcript again, so the events of
 * several segments, in order, give the transcript at the end of the last one. The events of a part of a run give the transcript so far.
 * A withheld message has no text of the model in events, and images and files have no bytes: of a user's there is a text in their place.
 */
export const transcriptOf = (events: Iterable<AgentEvent>, runId?: string): Message.Transcript => {
  let said: Array<Message.Message> = []
  let wanted = runId
  for (const event of events) {
    wanted ??= event.runId
    if (event.runId === wanted) said = saidAfter(said, event)
  }
  return said
}

/**
 * What was said after one more event of a run. May change the list that it is given.
 *
 * @internal
 */
export const saidAfter = (said: Array<Message.Message>, event: AgentEvent): Array<Message.Message> => {
  switch (event.type) {
    case "run-start":
    case "events-lost":
      return [...event.transcript]
    case "skill-chosen": {
      const others = said.filter(({ role }) => role !== "system")
      return event.prompt === "" ? others : [Message.system(event.prompt), ...others]
    }
    case "guardrail": {
      const { index = said.length, message } = event
      if (message !== undefined) said[index] = message
      return said
    }
    case "turn-start":
    case "turn-end":
    case "message-read":
    case "tool-result":
    case "output-rejected":
    case "run-suspended":
      if (event.message !== undefined) said.push(event.message)
      return said
    case "attempt-continued":
      // a run goes on from the incomplete message: it and the word behind it leave the transcript, the whole reply comes with the turn
      return event.attempt === 0 ? said.slice(0, -2) : said
    default:
      return said
  }
}
