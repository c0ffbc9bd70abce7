/** The engine of `effect/cluster`, which stores its runs as rows of a SQL database. */
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import type { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import type { ShardingConfig } from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Digest from "effect/crypto/Digest"
import * as Layer from "effect/Layer"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import type { SocketServer, SocketServerError } from "effect/socket/SocketServer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"

/** A workflow engine, with its cluster, and the storage in which `Durable.poll` looks for lost rows. */
type Engine<E, R> = Layer.Layer<WorkflowEngine | MessageStorage | Sharding.Sharding, E, R | ShardingConfig | SqlClient>

/** The engine of a process that is the only one on its database. */
export const alone = <E, R>(runners: Layer.Layer<RunnerStorage, E, R>): Engine<E, R> =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(Layer.provideMerge(Sharding.layer, Runners.layerNoop)),
    Layer.provide([runners, RunnerHealth.layerNoop]),
    Layer.provideMerge(SqlMessageStorage.layer),
    Layer.provide(Digest.layerWebCrypto)
  )

/** The layers that the engine uses of the sockets of `@effect/platform-node-shared`. */
export interface Sockets {
  readonly layerClientProtocol: Layer.Layer<Runners.RpcClientProtocol, never, RpcSerialization.RpcSerialization>
  readonly layerSocketServer: Layer.Layer<SocketServer, SocketServerError, ShardingConfig>
}

const protocolOf = ({ layerClientProtocol }: Sockets) =>
  Layer.provideMerge(layerClientProtocol, RpcSerialization.layerNdjson)

/** The engine of one runner among several. It listens at the address of its config. */
export const runner = (sockets: Sockets): Engine<SqlError | SocketServerError, never> =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(SocketRunner.layer),
    Layer.provide([sockets.layerSocketServer, Layer.provide(RunnerHealth.layerPing, Runners.layerRpc)]),
    Layer.provide(protocolOf(sockets)),
    Layer.provide(SqlRunnerStorage.layer),
    Layer.provideMerge(SqlMessageStorage.layer),
    Layer.provide(Digest.layerWebCrypto)
  )

/** The engine of a process that starts runs, and does not serve them. */
export const client = (sockets: Sockets): Engine<SqlError, never> =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(SocketRunner.layerClientOnly),
    Layer.provide(protocolOf(sockets)),
    Layer.provide(SqlRunnerStorage.layer),
    Layer.provideMerge(SqlMessageStorage.layer),
    Layer.provide(Digest.layerWebCrypto)
  )
