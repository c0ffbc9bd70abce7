/** The position of a policy as data. A program stores it before a wait, and the policy continues from it after a restart. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { hintOf } from "./Backoff.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import { property } from "../data/Foreign.ts"

/** The stored fields of a failure: tag, message and advice. A schedule that is repeated after a restart reads only these. */
export const Seen = Schema.Struct({
  _tag: Schema.String,
  message: Schema.String,
  isRetryable: Schema.optionalKey(Schema.Boolean),
  suggestedDelay: Schema.optionalKey(Schema.DurationFromMillis),
  maxAttempts: Schema.optionalKey(Schema.Finite),
  retryAfter: Schema.optionalKey(Schema.DurationFromMillis)
})

export type Seen = typeof Seen.Type

/** One count or schedule of a policy. `row`, `rungs` (one index for each nested ladder) and `chosen` say where in the table it belongs. */
const slot = Schema.Struct({
  row: Schema.String,
  rungs: Schema.Array(Schema.Finite),
  /** The names of the verdicts that handlers chose on the way from the row; absent without handlers. */
  chosen: Schema.optionalKey(Schema.Array(Schema.String)),
  kind: Schema.Literals(["ladder", "fix", "ask", "retry", "when"]),
  /**
   * The index of the reached rung of a ladder, the runs of a fixer, or the requests to a person. For a schedule always 0; for a handler,
   * its repetitions.
   */
  count: Schema.Finite,
  /** The steps of a schedule, which repeats them after a restart. For a handler, the failures that it was called for. */
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
  /** The start of the first attempt (`startedAt`) and of the next one (`wakeAt`), in milliseconds since the epoch. */
  startedAt: Schema.Finite,
  wakeAt: Schema.Finite,
  /** The counts and schedules so far. A slot without counts and steps is left out. */
  slots: Schema.Array(slot)
})

/** Moves all instants of a position, as if no time had passed between its wait and `now`. */
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
