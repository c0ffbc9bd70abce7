/** The position of a waiting policy, as data: with it the policy goes on after a restart as if there had been none. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { hintOf } from "./Backoff.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { property } from "../data/Foreign.ts"

/** The stored part of a failure: its tag, message and advice. A schedule reads no more of it. */
export const Seen = Schema.Struct({
  _tag: Schema.String,
  message: Schema.String,
  isRetryable: Schema.optionalKey(Schema.Boolean),
  suggestedDelay: Schema.optionalKey(Schema.DurationFromMillis),
  maxAttempts: Schema.optionalKey(Schema.Finite),
  retryAfter: Schema.optionalKey(Schema.DurationFromMillis)
})

export type Seen = typeof Seen.Type

/** One count or schedule of a policy, by its place in the table: a row, then rung by rung, one number for each ladder, and by what handlers have chosen. */
const slot = Schema.Struct({
  row: Schema.String,
  rungs: Schema.Array(Schema.Finite),
  /** What handlers have chosen on the way down from the row; absent where there is none. */
  chosen: Schema.optionalKey(Schema.Array(Schema.String)),
  kind: Schema.Literals(["ladder", "fix", "ask", "retry", "when"]),
  /** The rung that a ladder has reached, the runs of a fixer, or how often a person was asked; 0 of a schedule and of a handler. */
  count: Schema.Finite,
  /** The steps that a schedule has made: it makes them again. Of a handler, the failures about which it was asked. */
  steps: Schema.Array(Schema.Struct({ at: Schema.Finite, seen: Seen }))
})

/** The position of a waiting policy, as data. */
export interface Position extends Schema.Schema.Type<typeof Position> {}

const otherVersion = "Expected a position of version 2"

export const Position = Schema.Struct({
  version: Schema.Literal(2).annotate({ message: otherVersion }).annotateKey({ messageMissingKey: otherVersion }),
  /** Attempts made so far. */
  attempts: Schema.Finite,
  /** Repairs so far. */
  repairs: Schema.Finite,
  /** When the first attempt began, and when the next one is due: milliseconds since the epoch. */
  startedAt: Schema.Finite,
  wakeAt: Schema.Finite,
  /** Of what was asked so far; a slot that counts nothing is absent. */
  slots: Schema.Array(slot)
})

/** The same position, of a policy whose time stood still from its wait until now. */
export const asOfNow = (self: Position, now: number): Position => {
  const pause = now - self.wakeAt
  const slots = self.slots.map((slot) => {
    return { ...slot, steps: slot.steps.map(({ at, seen }) => ({ at: at + pause, seen })) }
  })
  return { ...self, startedAt: self.startedAt + pause, wakeAt: now, slots }
}

export const seenOf = (error: unknown): Seen => {
  const [isRetryable, suggestedDelay, maxAttempts] = [
    property(error, "isRetryable"),
    property(error, "suggestedDelay"),
    property(error, "maxAttempts")
  ]
  const hint = hintOf(error) ?? Infinity
  return {
    _tag: ErrorCause.tagOf(error),
    message: Redaction.foreign(ErrorCause.messageOf(error)),
    ...(Predicate.isBoolean(isRetryable) ? { isRetryable } : {}),
    ...(Duration.isDuration(suggestedDelay) && Duration.isFinite(suggestedDelay) ? { suggestedDelay } : {}),
    ...(Predicate.isNumber(maxAttempts) && Number.isFinite(maxAttempts) ? { maxAttempts } : {}),
    ...(Number.isFinite(hint) ? { retryAfter: Duration.millis(hint) } : {})
  }
}
