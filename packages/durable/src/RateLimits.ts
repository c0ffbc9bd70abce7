/** Rate limits in a table of SQL, for several processes. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimiterStore } from "effect/persistence/RateLimiter"
import type { SqlClient } from "effect/sql/SqlClient"
import { rateStore } from "./limits/rateStore.ts"

/**
 * The store of Effect's rate limiter in tables. They are those of PostgreSQL, PGlite or SQLite, and `Resilience` of `@kintsugi/providers`
 * uses the store. Each take is one statement. The layer makes its tables, or
 * brings those of an older release up to date; it dies if it cannot. The clock is that of the process, so the processes need equal clocks.
 *
 * @example
 * ```ts
 * import { RateLimits } from "@kintsugi/durable"
 * import { Resilience } from "@kintsugi/providers"
 * import { Effect, type Layer } from "effect"
 * import type { SqlClient } from "effect/sql"
 *
 * const guarded = (database: Layer.Layer<SqlClient.SqlClient>) =>
 *   Resilience.make({ limits: [{ requests: 60, per: "1 minute", by: "provider" }], onStoreError: "fail" }).pipe(
 *     Effect.provide(RateLimits.layerSql),
 *     Effect.provide(database)
 *   )
 * ```
 */
export const layerSql: Layer.Layer<RateLimiterStore, never, SqlClient> = Layer.effect(
  RateLimiterStore,
  Effect.orDie(rateStore)
)
