/** The engine of the processes of a cluster, on the database that listens on this port. */
import { Durable } from "@kintsugi/durable"
import { Redacted } from "effect"

type Sharding = NonNullable<Parameters<typeof Durable.layerPostgres>[0]["sharding"]>

/** One that listens at the second port, or one that starts runs and serves none. All is quicker than by default: processes come and go every few seconds. */
export const engineOn = (database: number, runner?: number, sharding: Sharding = {}) =>
  Durable.layerPostgres({
    url: Redacted.make(`postgres://postgres@127.0.0.1:${database}/postgres`),
    maxConnections: 8,
    runner: runner === undefined ? "client" : { host: "127.0.0.1", port: runner },
    sharding: {
      shardsPerGroup: 60,
      shardLockRefreshInterval: "3 seconds",
      shardLockExpiration: "15 seconds",
      refreshAssignmentsInterval: "500 millis",
      runnerHealthCheckInterval: "2 seconds",
      entityMessagePollInterval: "1 second",
      entityTerminationTimeout: "2 seconds",
      ...sharding
    }
  })
