/** Rate limits that several processes share by a table of SQL, as `Resilience` of `@kintsugi/providers` and Effect's `RateLimiter` use them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimiterStore } from "effect/persistence/RateLimiter"
import type { SqlClient } from "effect/sql/SqlClient"
import { rateStore } from "./limits/rateStore.ts"

/**
 * The store of Effect's rate limiter in tables of PostgreSQL, PGlite or SQLite. Each take is one statement. The layer makes its tables, or
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
