/** The engine on a PostgreSQL server. */
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import { LockTimeoutError, SqlError } from "effect/sql/SqlError"
import { alone, client, runner, type Sockets } from "./clusters.ts"
import type { PostgresOptions } from "./layers.ts"
import { load, type Needed } from "./peers.ts"

/** The layer that the engine uses of `@effect/sql-pg`, and its options. */
export interface SqlPg {
  readonly layer: (config: {
    readonly url?: Redacted.Redacted
    readonly host?: string
    readonly port?: number
    readonly username?: string
    readonly password?: Redacted.Redacted
    readonly database?: string
    readonly maxConnections: number
    readonly minConnections?: number
    readonly connectionTTL?: string
    readonly connectTimeout?: string
  }) => Layer.Layer<SqlClient, SqlError>
}

const oneRunner: Needed = { layer: "layerPostgres", packages: ["@effect/sql-pg"] }
const several: Needed = { ...oneRunner, packages: [...oneRunner.packages, "@effect/platform-node-shared"] }

/**
 * Takes a lock that only one process at a time has on the database, and fails with `SqlError` if another one has it. The lock belongs to a
 * session of the database, so it ends with the process, even after a crash.
 */
const isOnly = Layer.effectDiscard(
  Effect.gen(function* () {
    const session = yield* (yield* SqlClient).reserve
    // "kintsugi" in hexadecimal; the locks of the cluster's shards are pairs of numbers, so they do not clash
    const taking = "SELECT pg_try_advisory_lock(x'6b696e7473756769'::bigint) AS taken"
    const [row] = yield* session.execute(taking, [], undefined)
    if (row?.taken === true) return
    const message =
      "Another process serves the runs of this database, and no others are to: give each process a runner with its address, or end that process"
    yield* new SqlError({ reason: new LockTimeoutError({ cause: undefined, message, operation: "open" }) })
  })
)

const engineOf = (address: PostgresOptions["runner"]) =>
  Effect.gen(function* () {
    if (address === undefined) return Layer.provide(alone(SqlRunnerStorage.layer), isOnly)
    const sockets = yield* load<Sockets>(several, "@effect/platform-node-shared/NodeClusterSocket")
    return address === "client" ? client(sockets) : runner(sockets)
  })

export const layer = ({ maxConnections = 10, runner: address, sharding, url }: PostgresOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { layer: clientOf } = yield* load<SqlPg>(
        address === undefined ? oneRunner : several,
        "@effect/sql-pg/PgClient"
      )
      const engine = yield* engineOf(address)
      const at =
        address === undefined
          ? {}
          : {
              runnerAddress:
                address === "client" ? Option.none() : Option.some(RunnerAddress.make(address.host, address.port))
            }
      return engine.pipe(
        Layer.provide(ShardingConfig.layer({ ...sharding, ...at })),
        Layer.provideMerge(clientOf({ url, maxConnections }))
      )
    })
  )
