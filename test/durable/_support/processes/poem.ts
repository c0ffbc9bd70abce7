/**
 * A process of a durable run on a file of SQLite: `poem.ts file writes` runs it, with a model that shows two words and never the third;
 * `poem.ts file reads id` tells each event that it reads, and runs it when a line comes, with a model that goes on to its end.
 */
import { createInterface } from "node:readline"
import { Agent, Model, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as Digest from "effect/crypto/Digest"
import { sqlite } from "../sqlite.ts"

const [file = "", role = "", id = ""] = process.argv.slice(2)

/** A process without an address runs nothing: it only asks the storage. */
const engineOf = (address: Option.Option<RunnerAddress.RunnerAddress>) => {
  const config = ShardingConfig.layer({
    runnerAddress: address,
    entityMessagePollInterval: "100 millis",
    refreshAssignmentsInterval: "100 millis"
  })
  return ClusterWorkflowEngine.layer.pipe(
    Layer.provide(Sharding.layer.pipe(Layer.provideMerge(Runners.layerNoop))),
    Layer.provide([SqlMessageStorage.layer, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
    Layer.provide([config, Digest.layerWebCrypto]),
    Layer.provide(sqlite(file))
  )
}

const says = (...texts: ReadonlyArray<string>): ReadonlyArray<Model.Part> =>
  texts.map((text) => ({ type: "text-delta", text }))
const finish: Model.Part = { type: "finish", finish: "stop", usage: Usage.make({ inputTokens: 10, outputTokens: 5 }) }

const first = Stream.fromIterable(says("roses ", "are "))
const model = Layer.succeed(Model.Model, {
  name: "poet",
  provider: "here",
  generate: () => Effect.die(new Error("the model of a durable run streams")),
  stream: () => Stream.concat(first, role === "writes" ? Stream.never : Stream.fromIterable([...says("red"), finish]))
})

const agent = Agent.make("poet", { model, budget: { maxDuration: "9 days" } })
const durable = Durable.workflow(agent, { name: "poem", input: Schema.String, output: Schema.String })
const runner = Layer.provideMerge(durable.layer, engineOf(Option.some(RunnerAddress.make("localhost", 1))))

const tell = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const writing = Effect.gen(function* () {
  tell({ id: yield* Durable.start(durable, { id: "one", input: "go" }) })
  return yield* Effect.never
}).pipe(Effect.provide(runner))

const line = Effect.promise(
  () => new Promise<void>((resolve) => createInterface(process.stdin).once("line", () => resolve()))
)

const reading = Effect.gen(function* () {
  yield* Effect.forkChild(Effect.andThen(line, Layer.launch(Layer.fresh(runner))))
  const events = Durable.events(durable, id)
  yield* Stream.runForEach(events, (event) => Effect.sync(() => tell(event)))
  tell({ all: yield* Stream.runCollect(events) })
}).pipe(Effect.provide(engineOf(Option.none())))

await Effect.runPromise<void, unknown>(role === "writes" ? writing : reading)
process.exit(0)
