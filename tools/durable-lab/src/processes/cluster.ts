/** Effect's own engine over several processes: one PostgreSQL keeps what they do, who they are, and who has which shard. */
import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import { PgClient } from "@effect/sql-pg"
import { Layer, Option, Redacted } from "effect"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Digest from "effect/crypto/Digest"
import * as RpcSerialization from "effect/rpc/RpcSerialization"

export const clientOn = (port: number) =>
  PgClient.layer({
    host: "127.0.0.1",
    port,
    username: "postgres",
    database: "postgres",
    password: Redacted.make("none"),
    maxConnections: 8
  })

/** All is quicker than by default: here processes come and go every few seconds. */
const configOf = (runnerPort: number | undefined) =>
  ShardingConfig.layer({
    runnerAddress: Option.map(Option.fromUndefinedOr(runnerPort), (port) => RunnerAddress.make("127.0.0.1", port)),
    shardsPerGroup: 60,
    shardLockRefreshInterval: "3 seconds",
    shardLockExpiration: "15 seconds",
    refreshAssignmentsInterval: "500 millis",
    runnerHealthCheckInterval: "2 seconds",
    entityMessagePollInterval: "1 second",
    entityTerminationTimeout: "2 seconds"
  })

const storage = Layer.mergeAll(SqlMessageStorage.layer, SqlRunnerStorage.layer)

const protocol = Layer.provideMerge(NodeClusterSocket.layerClientProtocol, RpcSerialization.layerNdjson)

/** The engine of a runner, which listens on a port of its own. */
export const runnerOn = (databasePort: number, runnerPort: number) =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provide(SocketRunner.layer),
    Layer.provide([NodeClusterSocket.layerSocketServer, Layer.provide(RunnerHealth.layerPing, Runners.layerRpc)]),
    Layer.provide(protocol),
    Layer.provide(storage),
    Layer.provide([configOf(runnerPort), clientOn(databasePort), Digest.layerWebCrypto])
  )

/** The engine of a client that starts runs and serves none. */
export const clientOf = (databasePort: number) =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provide(SocketRunner.layerClientOnly),
    Layer.provide(protocol),
    Layer.provide(storage),
    Layer.provide([configOf(undefined), Digest.layerWebCrypto]),
    Layer.provideMerge(clientOn(databasePort))
  )
