/**
 * Events as JSON lines, one each. Errors become plain objects with tag, code, message and fields; durations become
 * milliseconds; what looks like a credential in an error is masked.
 */
import type * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { closeSync, openSync, writeSync } from "node:fs"

/** The file for the events cannot be written. */
export class EventLogError extends Schema.TaggedError<EventLogError>()("EventLogError", { message: Schema.String }) {}

export interface EventLog {
  readonly write: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** Empties the file, and keeps it open. A line is in the file before the next event is seen. */
export const open = (path: string): Effect.Effect<EventLog, EventLogError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(path, "w"),
      catch: (error) => new EventLogError({ message: `cannot write '${path}': ${ErrorCause.messageOf(error)}` })
    }),
    (file) => Effect.sync(() => closeSync(file))
  ).pipe(Effect.map((file) => ({ write: (event) => Effect.sync(() => void writeSync(file, encode(event))) })))

/** For those who asked for no file. */
export const none: EventLog = { write: () => Effect.void }

/** One event on one line. */
export const encode = (event: AgentEvent.AgentEvent): string => `${JSON.stringify(jsonOf(event, outside))}\n`

interface Place {
  readonly depth: number
  /** Texts of an error may quote what nobody should read; texts of a conversation are the conversation. */
  readonly isInError: boolean
}

const outside: Place = { depth: 0, isInError: false }

const maxDepth = 24

const jsonOf = (value: unknown, place: Place): Schema.Json => {
  if (value === null || value === undefined) return null
  if (Predicate.isString(value)) return place.isInError ? ErrorCause.mask(value) : value
  if (Predicate.isNumber(value)) return Number.isFinite(value) ? value : String(value)
  if (Predicate.isBoolean(value)) return value
  if (!Predicate.isObjectOrArray(value)) return String(value)
  if (Redacted.isRedacted(value)) return "<redacted>"
  if (Duration.isDuration(value)) return jsonOf(Duration.toMillis(value), place)
  if (place.depth >= maxDepth) return "…"
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, deeper(place)))
  return value instanceof Error ? errorOf(value, place) : fieldsOf(value, deeper(place))
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 })

/** Our own errors and a user's tagged ones show their fields; of a foreign one only what it says. */
const errorOf = (error: Error, place: Place): Schema.Json => {
  const within: Place = { depth: place.depth + 1, isInError: true }
  const { code, message, name } = ErrorCause.summarise(error)
  const said = code === undefined ? { name, message } : { name, message, code }
  if (!Predicate.hasProperty(error, "_tag")) return said
  const cause = error.cause === undefined ? {} : { cause: jsonOf(error.cause, within) }
  return { ...said, ...fieldsOf(error, within), message, ...cause }
}

const fieldsOf = (value: object, place: Place): { readonly [key: string]: Schema.Json } =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, jsonOf(field, key === "transcript" ? { ...place, isInError: false } : place)])
  )
