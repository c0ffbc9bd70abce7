/** Several runners of Effect's cluster in one process: what they store outlives each of them, and shards move when one comes or goes. */
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as MachineId from "effect/cluster/MachineId"
import * as MessageStorage from "effect/cluster/MessageStorage"
import type * as Runner from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import type * as ShardId from "effect/cluster/ShardId"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"

/** Who is there, and who has which shard: one has it at a time. */
const makeRunnerStorage = (): RunnerStorage.RunnerStorage["Service"] => {
  const runners = new Map<string, readonly [Runner.Runner, boolean]>()
  const owners = new Map<string, string>()
  const machines = new Map<string, number>()
  const ownedBy = (address: string, shardIds: Iterable<ShardId.ShardId>) =>
    Array.from(shardIds).filter((shard) => owners.get(`${shard}`) === address)
  return RunnerStorage.RunnerStorage.of({
    getRunners: Effect.sync(() => [...runners.values()]),
    register: (runner, isHealthy) =>
      Effect.sync(() => {
        const key = `${runner.address}`
        runners.set(key, [runner, isHealthy])
        machines.set(key, machines.get(key) ?? machines.size)
        return MachineId.make(machines.get(key) ?? 0)
      }),
    unregister: (address) => Effect.sync(() => void runners.delete(`${address}`)),
    setRunnerHealth: () => Effect.void,
    acquire: (address, shardIds) =>
      Effect.sync(() => {
        const shards = Array.from(shardIds)
        for (const shard of shards) if (!owners.has(`${shard}`)) owners.set(`${shard}`, `${address}`)
        return ownedBy(`${address}`, shards)
      }),
    refresh: (address, shardIds) => Effect.sync(() => ownedBy(`${address}`, shardIds)),
    release: (address, shard) =>
      Effect.sync(() => void (owners.get(`${shard}`) === `${address}` && owners.delete(`${shard}`))),
    releaseAll: (address) =>
      Effect.sync(() => {
        for (const [shard, owner] of owners) if (owner === `${address}`) owners.delete(shard)
      })
  })
}

/** One runner: its engine, and how it is stopped, gently. */
export interface OneRunner {
  readonly context: Context.Context<WorkflowEngine | Sharding.Sharding>
  readonly stop: Effect.Effect<void>
}

/** A cluster without runners, and its rows: each `join` begins a runner, which serves the layer that it is given. */
export const clusterOfRows = Effect.gen(function* () {
  const memory = Layer.provide(MessageStorage.layerMemory, ShardingConfig.layer())
  const stored = yield* Layer.build(memory)
  const storage = Context.get(stored, MessageStorage.MessageStorage)
  const shared = Layer.mergeAll(
    Layer.succeed(MessageStorage.MessageStorage, storage),
    Layer.succeed(RunnerStorage.RunnerStorage, makeRunnerStorage()),
    RunnerHealth.layerNoop
  )
  let port = 0
  const join = <R>(served: Layer.Layer<never, never, R | WorkflowEngine | Sharding.Sharding>) =>
    Effect.gen(function* () {
      const config = ShardingConfig.layer({
        runnerAddress: Option.some(RunnerAddress.make("runner", ++port)),
        entityTerminationTimeout: 1000,
        entityMessagePollInterval: 500,
        refreshAssignmentsInterval: 500,
        simulateRemoteSerialization: true
      })
      const sharding = Sharding.layer.pipe(Layer.provideMerge(Runners.layerNoop))
      const engine = ClusterWorkflowEngine.layer.pipe(
        Layer.provideMerge(sharding),
        Layer.provide(shared),
        Layer.provide(config)
      )
      const scope = yield* Scope.fork(yield* Effect.scope)
      const whole = Layer.fresh(Layer.provideMerge(served, engine))
      const context = yield* Layer.buildWithScope(whole, scope)
      return { context, stop: Scope.close(scope, Exit.void) }
    })
  return { join, driver: Context.get(stored, MessageStorage.MemoryDriver), storage }
})

/** The same, without a view of the rows. */
export const cluster = Effect.map(clusterOfRows, ({ join }) => join)
