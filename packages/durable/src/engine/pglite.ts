/** The engine on PGlite, which is PostgreSQL in WebAssembly. */
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join, resolve } from "node:path"
import { alone } from "./clusters.ts"
import { lock } from "./lock.ts"
import type { PgliteOptions } from "./layers.ts"
import { find, load, type Needed } from "./peers.ts"
import type { SqlPg } from "./postgres.ts"
import { serve } from "./server.ts"

const needed: Needed = {
  layer: "layerPglite",
  packages: ["@electric-sql/pglite", "@electric-sql/pglite-socket", "@effect/sql-pg"]
}

export const layer = <E>({ folder, sharding }: PgliteOptions, inUse: Parameters<typeof lock<E>>[1]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const pglite = yield* find(needed, "@electric-sql/pglite")
      const socket = yield* find(needed, "@electric-sql/pglite-socket")
      const { layer: clientOf } = yield* load<SqlPg>(needed, "@effect/sql-pg/PgClient")
      const path = resolve(folder)
      yield* lock(path, inUse)
      const port = yield* serve({ pglite, socket, data: join(path, "data") })
      const client = clientOf({
        host: "127.0.0.1",
        port,
        username: "postgres",
        database: "postgres",
        password: Redacted.make("none"),
        // PGlite has one session, and its server ends with this process, so one connection stays open for ever
        maxConnections: 1,
        minConnections: 1,
        connectionTTL: "1000 days",
        connectTimeout: "1000 days"
      })
      return alone(RunnerStorage.layerMemory).pipe(
        Layer.provide(ShardingConfig.layer(sharding)),
        Layer.provideMerge(client)
      )
    })
  )
