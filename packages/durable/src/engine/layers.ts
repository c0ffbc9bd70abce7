/**
 * The layers of engines. The packages of an engine are loaded when its layer is built, so a program without that layer does not bundle
 * them.
 */
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import type { ShardingConfig } from "effect/cluster/ShardingConfig"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { SocketServerError } from "effect/socket/SocketServer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Engine from "effect/workflow/WorkflowEngine"
import { FolderInUseError } from "./errors.ts"

/** The settings of Effect's cluster, by its own names and with its own defaults. */
type Settings = Partial<Omit<ShardingConfig["Service"], "runnerAddress">>

/** The options of `layerPglite`. */
export interface PgliteOptions {
  /** The folder of the database. It is created if it does not exist. A relative path begins at the working directory. */
  readonly folder: string
  readonly sharding?: Settings
}

/** The options of `layerPostgres`. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: Redacted.Redacted
  /** The most connections that the process holds: 10 by default, and at least 3, because some of them hold locks. */
  readonly maxConnections?: number
  /**
   * The address at which the other runners reach this one, if several processes serve the runs of one database. `"client"` is for a process
   * that starts runs, decides and reads, and serves no run. Without `runner`, one process serves the database, and a second one fails.
   */
  readonly runner?: { readonly host: string; readonly port: number } | "client"
  readonly sharding?: Settings
}

/** The engine in memory, for tests. Its runs end with the process. */
export const layerMemory: Layer.Layer<Engine.WorkflowEngine> = Engine.layerMemory

/**
 * The engine on PostgreSQL in WebAssembly, in a folder. It is for one process without a database server. The database works in a worker
 * thread and listens on a free port of 127.0.0.1, without a password. All of it ends with the scope of the layer.
 *
 * One process at a time has a folder: a second one fails with `FolderInUseError`. A folder whose process is dead is free. A folder that
 * cannot be opened fails with `SqlError`.
 *
 * It needs `@electric-sql/pglite`, `@electric-sql/pglite-socket` and `@effect/sql-pg`, and dies with the line that installs them if one is
 * missing.
 */
export const layerPglite = (
  options: PgliteOptions
): Layer.Layer<Engine.WorkflowEngine | MessageStorage | Sharding | SqlClient, FolderInUseError | SqlError> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./pglite.ts")),
      // `pglite.ts` gets the error as an argument, because a bundler would keep a statement for each module that it shares with this one
      ({ layer }) => layer(options, FolderInUseError.make)
    )
  )

/**
 * The engine on a PostgreSQL server. It serves one process or, with `runner`, many. It fails with `SqlError` if the server refuses or if
 * another process has the database, and with `SocketServerError` if the port of the runner is taken.
 *
 * It needs `@effect/sql-pg`, with `runner` also `@effect/platform-node-shared`, and dies with the line that installs them if one is missing.
 */
export const layerPostgres = (
  options: PostgresOptions
): Layer.Layer<Engine.WorkflowEngine | MessageStorage | Sharding | SqlClient, SqlError | SocketServerError> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./postgres.ts")),
      ({ layer }) => layer(options)
    )
  )
