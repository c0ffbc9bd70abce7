/** Events as JSON lines, one each, that `AgentEvent.AgentEvent` reads back. */
import * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { closeSync, openSync, writeSync } from "node:fs"

/** The file for the events cannot be written. */
export class EventLogError extends Schema.TaggedError<EventLogError>()("EventLogError", { message: Schema.String }) {}

export interface EventLog {
  readonly write: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** Empties the file, and keeps it open. A line is in the file before the next event comes. */
export const create = (path: string): Effect.Effect<EventLog, EventLogError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(path, "w"),
      catch: (error) => new EventLogError({ message: `cannot write '${path}': ${ErrorCause.messageOf(error)}` })
    }),
    (file) => Effect.sync(() => closeSync(file))
  ).pipe(Effect.map((file) => ({ write: (event) => Effect.sync(() => void writeSync(file, encode(event))) })))

/** The log without a file. */
export const none: EventLog = { write: () => Effect.void }

/** One event on one line. */
export const encode = (event: AgentEvent.AgentEvent): string => `${toText(event)}\n`

const toText = Schema.encodeSync(Schema.fromJsonString(AgentEvent.AgentEvent))
