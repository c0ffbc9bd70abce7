/** Reads the `details` that Google's servers add to an error: the reason, the quota and the wait. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Hints from "../transport/Hints.ts"
import * as Json from "../transport/Json.ts"
import { dailyQuota } from "./DailyQuota.ts"

export interface Details {
  /** The reasons of the error. `dailyQuota` is the first if no short wait refills the quota. */
  readonly codes: ReadonlyArray<string>
  readonly retryAfter: Duration.Duration | undefined
}

export const read = (error: Schema.Json, text: string): Details => {
  const details = Json.items(Json.field(error, "details"))
  const reasons = details.map((detail) => Json.text(Json.field(detail, "reason"))).filter(Predicate.isNotUndefined)
  const delays = details
    .map((detail) => Hints.fromProtobuf(Json.text(Json.field(detail, "retryDelay")) ?? ""))
    .filter(Predicate.isNotUndefined)
  const daily = exhausted(error) && (details.some(endsToday) || spent.test(text))
  return {
    codes: daily ? [dailyQuota, ...reasons] : reasons,
    retryAfter: delays.length === 0 ? undefined : delays.reduce((one, other) => Duration.max(one, other))
  }
}

/**
 * Messages of a quota for a whole day, of a quota of zero and of a spent budget. Google sends all of them with the status of a rate limit.
 */
const spent = /perday|\blimit: 0\b(?!\.\d)|monthly spending cap|credits are depleted/i

const exhausted = (error: Schema.Json): boolean =>
  Json.field(error, "status") === "RESOURCE_EXHAUSTED" || Json.field(error, "code") === 429

const endsToday = (detail: Schema.Json): boolean =>
  Json.items(Json.field(detail, "violations")).some((violation) => {
    const value = Json.field(violation, "quotaValue")
    return /perday/i.test(Json.text(Json.field(violation, "quotaId")) ?? "") || value === "0" || value === 0
  })
