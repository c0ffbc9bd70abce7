/**
 * The store of Effect's rate limiter in two tables of PostgreSQL or SQLite. Each function is one statement, which does the same as the store
 * in memory of Effect; `asked` holds what a call would have made of the amount, also if it was refused.
 */
import * as Redaction from "@kintsugi/core/Redaction"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RateLimiterError, RateLimiterStore, RateLimitStoreError } from "effect/persistence/RateLimiter"
import type { SqlClient } from "effect/sql/SqlClient"
import { learnedRates, migrated, rates, removed } from "./tables.ts"

/** As in Effect: how long a learned rate is kept beyond its use, and the longest wait and window, in milliseconds. */
const grace = 60_000
const longest = 60 * 60 * 1000

/** How many takes of a process lie between two removals of rows that have expired. */
const between = 100

/** A row of the table of rates. */
interface Rate {
  readonly asked: number
  readonly instant: number
}

/** A row of the table of learned rates. */
interface Learned {
  readonly phase: "cooldown" | "learning" | "learned"
  readonly epoch: number
  readonly cooldown_until: number
  readonly observed: number
  readonly learned_limit: number
  readonly learned_window: number
}

const failing =
  (operation: string) =>
  <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, RateLimiterError> =>
    Effect.mapError(
      self,
      (cause) =>
        new RateLimiterError({
          reason: new RateLimitStoreError({ message: `The table of rate limits failed at '${operation}'`, cause })
        })
    )

/** How long a call waits for a learned rate, whose row counts the call already. */
const delayOf = ({ cooldown_until, learned_limit, learned_window, observed }: Learned, now: number): number => {
  const elapsed = observed * (learned_window / learned_limit) - (cooldown_until - now)
  return Math.max(0, Math.floor((observed - 1) / learned_limit) * learned_window - elapsed)
}

/** The store on this client. It makes its tables, or brings them up to date. */
export const rateStore: Effect.Effect<RateLimiterStore["Service"], unknown, SqlClient> = Effect.gen(function* () {
  const sql = yield* migrated("RateLimits.layerSql")

  let takes = 0
  /**
   * Removes rows that answer as no row does: a window that is over, a full bucket, a learned rate that is forgotten. So the tables do not
   * grow with the keys that were ever used. The grace is for processes whose clock is late. A failure leaves the rows to the next removal.
   */
  const tidied = (now: number): Effect.Effect<void> =>
    ++takes % between === 0
      ? Effect.matchEffect(
          Effect.andThen(
            removed(sql, rates, ["name", "kind"], sql`expires_at < ${now - grace}`),
            removed(sql, learnedRates, ["name"], sql`expires_at < ${now - grace}`)
          ),
          {
            onSuccess: () => Effect.void,
            onFailure: (error) =>
              Effect.logDebug("The table of rate limits has not removed old rows", {
                error: Redaction.foreign(String(error))
              })
          }
        )
      : Effect.void

  const fixedWindow: RateLimiterStore["Service"]["fixedWindow"] = ({ key, limit, refillRate, tokens }) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      yield* tidied(now)
      const rate = Duration.toMillis(refillRate)
      // 0 is no limit, as in Effect
      const most = limit === undefined || limit === 0 ? Number.MAX_VALUE : limit
      const first = tokens > most ? 0 : tokens
      const counted = sql`(CASE WHEN r.instant <= ${now} THEN 0 ELSE r.amount END)`
      const ends = sql`(CASE WHEN r.instant <= ${now} THEN ${now} ELSE r.instant END)`
      const isOver = sql`${counted} + ${tokens} > ${most}`
      const instant = sql`CASE WHEN ${isOver} THEN ${ends} ELSE ${ends} + ${rate * tokens} END`
      const [row] = yield* sql<Rate>`INSERT INTO ${sql(rates)} AS r (name, kind, amount, instant, asked, expires_at)
        VALUES (${key}, 'window', ${first}, ${now + rate * first}, ${tokens}, ${now + rate * first})
        ON CONFLICT (name, kind) DO UPDATE SET
          asked = ${counted} + ${tokens},
          amount = CASE WHEN ${isOver} THEN ${counted} ELSE ${counted} + ${tokens} END,
          instant = ${instant},
          expires_at = ${instant}
        RETURNING asked, instant`
      return [row?.asked ?? tokens, (row?.instant ?? now) - now] as const
    }).pipe(failing("fixedWindow"))

  const tokenBucket: RateLimiterStore["Service"]["tokenBucket"] = ({ allowOverflow, key, limit, refillRate, tokens }) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      yield* tidied(now)
      const rate = Duration.toMillis(refillRate)
      const steps = sql`(${now} - r.instant) / ${rate}`
      const floored = sql.onDialectOrElse({
        pg: () => sql`FLOOR(${steps})`,
        orElse: () => sql`CAST(${steps} AS INTEGER)`
      })
      const added = sql`(CASE WHEN r.instant < ${now} THEN ${floored} ELSE 0 END)`
      const left = sql`(CASE WHEN r.amount + ${added} > ${limit} THEN ${limit} ELSE r.amount + ${added} END)`
      const isFitting = allowOverflow ? sql`1 = 1` : sql`${left} >= ${tokens}`
      const first = allowOverflow || tokens <= limit ? limit - tokens : limit
      const amount = sql`(CASE WHEN ${isFitting} THEN ${left} - ${tokens} ELSE ${left} END)`
      const instant = sql`CASE WHEN ${left} >= ${limit} THEN ${now} ELSE r.instant + ${added} * ${rate} END`
      const [row] = yield* sql<Rate>`INSERT INTO ${sql(rates)} AS r (name, kind, amount, instant, asked, expires_at)
        VALUES (${key}, 'bucket', ${first}, ${now}, ${limit - tokens}, ${now + (limit - first) * rate})
        ON CONFLICT (name, kind) DO UPDATE SET
          asked = ${left} - ${tokens},
          amount = ${amount},
          instant = ${instant},
          expires_at = ${instant} + (${limit} - ${amount}) * ${rate}
        RETURNING asked, instant`
      return [row?.asked ?? limit - tokens, Math.max(0, now - (row?.instant ?? now))] as const
    }).pipe(failing("tokenBucket"))

  const adaptiveConsume: RateLimiterStore["Service"]["adaptiveConsume"] = ({ fallbackWindow, key, tokens }) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      yield* tidied(now)
      const isCooled = sql`phase = 'cooldown' AND cooldown_until <= ${now}`
      const isIdle = sql`cooldown_until <= ${now}`
      const [row] = yield* sql<Learned>`UPDATE ${sql(learnedRates)} SET
          phase = CASE WHEN ${isCooled} THEN 'learning' ELSE phase END,
          epoch = CASE WHEN ${isCooled} THEN epoch + 1 ELSE epoch END,
          learning_started = CASE WHEN ${isCooled} THEN ${now} ELSE learning_started END,
          observed = CASE WHEN ${isCooled} THEN ${tokens}
            WHEN phase = 'cooldown' THEN observed
            WHEN phase = 'learned' AND ${isIdle} THEN ${tokens}
            ELSE observed + ${tokens} END,
          cooldown_until = CASE WHEN phase <> 'learned' THEN cooldown_until
            ELSE (CASE WHEN ${isIdle} THEN ${now} ELSE cooldown_until END) + (learned_window / learned_limit) * ${tokens} END,
          expires_at = CASE WHEN ${isCooled} THEN ${now + Duration.toMillis(fallbackWindow) + grace} ELSE expires_at END
        WHERE name = ${key} AND expires_at > ${now}
        RETURNING *`
      if (row === undefined) return { delay: Duration.zero, epoch: 0, phase: "inactive" as const }
      const { epoch, phase } = row
      // Mutant `""` survives: a rate that is not learned yet has the limit 0, which is no delay either
      if (phase === "learning") return { delay: Duration.zero, epoch, phase }
      return {
        delay: Duration.millis(phase === "cooldown" ? row.cooldown_until - now : delayOf(row, now)),
        epoch,
        phase
      }
    }).pipe(failing("adaptiveConsume"))

  const adaptiveFeedback: RateLimiterStore["Service"]["adaptiveFeedback"] = (options) =>
    Effect.gen(function* () {
      const { epoch, key, retryAfter, status, tokens } = options
      if (status !== 429 || retryAfter === undefined) return
      const now = yield* Clock.currentTimeMillis
      const wait = Math.min(longest, Math.max(1, Duration.toMillis(retryAfter)))
      const until = now + wait
      const isAlive = sql`s.expires_at > ${now}`
      const isWaiting = sql`${isAlive} AND s.phase = 'cooldown'`
      const isLearnt = sql`${isAlive} AND s.phase = 'learning' AND s.observed > ${tokens}`
      const span = sql`(${until} - s.learning_started)`
      const window = sql`(CASE WHEN ${span} > ${longest} THEN ${longest} WHEN ${span} < 1 THEN 1 ELSE ${span} END)`
      const later = sql`(CASE WHEN s.cooldown_until > ${until} THEN s.cooldown_until ELSE ${until} END)`
      const next = sql`phase = CASE WHEN ${isLearnt} THEN 'learned' ELSE 'cooldown' END,
        epoch = CASE WHEN ${isLearnt} THEN s.epoch + 1 WHEN ${isAlive} THEN s.epoch ELSE 0 END,
        cooldown_until = CASE WHEN ${isLearnt} THEN s.learning_started + ${window} WHEN ${isWaiting} THEN ${later} ELSE ${until} END,
        learning_started = CASE WHEN ${isLearnt} OR ${isWaiting} THEN s.learning_started ELSE 0 END,
        observed = CASE WHEN ${isLearnt} THEN s.observed - ${tokens} WHEN ${isWaiting} THEN s.observed ELSE 0 END,
        learned_limit = CASE WHEN ${isLearnt} THEN s.observed - ${tokens} WHEN ${isWaiting} THEN s.learned_limit ELSE 0 END,
        learned_window = CASE WHEN ${isLearnt} THEN ${window} WHEN ${isWaiting} THEN s.learned_window ELSE 0 END,
        expires_at = ${grace} + CASE WHEN ${isLearnt} THEN ${now} + ${window} WHEN ${isWaiting} THEN ${later} ELSE ${until} END`
      yield* epoch === 0
        ? sql`INSERT INTO ${sql(learnedRates)} AS s
            (name, phase, epoch, cooldown_until, learning_started, observed, learned_limit, learned_window, expires_at)
          VALUES (${key}, 'cooldown', 0, ${until}, 0, 0, 0, 0, ${until + grace})
          ON CONFLICT (name) DO UPDATE SET ${next} WHERE s.expires_at <= ${now} OR s.epoch = 0`
        : sql`UPDATE ${sql(learnedRates)} AS s SET ${next} WHERE name = ${key} AND ${isAlive} AND s.epoch = ${epoch}`
    }).pipe(failing("adaptiveFeedback"))

  return RateLimiterStore.of({ fixedWindow, tokenBucket, adaptiveConsume, adaptiveFeedback })
})
