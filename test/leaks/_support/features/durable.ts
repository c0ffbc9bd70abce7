/** Durable runs that others read, decide about, speak to and stop; those of a queue and of a proxy; and the stores in tables. */
import { Agent, Approval, Message, Snapshot, Tool } from "@kintsugi/core"
import {
  Conversations,
  Durable,
  RateLimits,
  ResultStores,
  RunQueue,
  SharedBudget,
  SnapshotClaims,
  SnapshotKeys
} from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import * as ConversationProxy from "@kintsugi/interop/ConversationProxy"
import * as ConversationProxyServer from "@kintsugi/interop/ConversationProxyServer"
import { Resilience } from "@kintsugi/providers"
import { Context, Deferred, Effect, Exit, Layer, Redacted, Schema, Stream } from "effect"
import { PersistedQueue } from "effect/persistence"
import { RpcTest } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { sqlite } from "../../../durable/_support/sqlite.ts"
import { agent, kinds, Named, named, ways } from "../../../interop/proxy/_support/served.ts"
import type { Around, Feature } from "../measure.ts"
import { call, calling, looking, pay } from "./models.ts"

const texts = { input: Schema.String, output: Schema.String } as const

/** Ids that no run has had. */
const ids = () => {
  let nth = 0
  return () => `${nth++}`
}

/** A durable run whose events are read to their end, then from a cursor on, and by a reader that leaves. */
const read: Feature = {
  name: "events of a durable run, from a cursor on",
  isStore: true,
  most: 300,
  warmUp: 10,
  prepare: (around) =>
    Effect.gen(function* () {
      const worker = looking(around).pipe(Agent.withModel(calling(call("look"))))
      const runs = Durable.workflow(worker, { name: "read", ...texts })
      const services = yield* Layer.build(Layer.provideMerge(runs.layer, Durable.layerMemory))
      const next = ids()
      const use = Effect.gen(function* () {
        const id = yield* Durable.start(runs, { id: next(), input: "go" })
        const all = yield* Stream.runCollect(Durable.events(runs, id))
        const after = all[2]?.cursor ?? "none"
        yield* Stream.runDrain(Durable.events(runs, id, { after }))
        yield* Stream.runHead(Durable.events(runs, id, { after }))
      })
      return { use: Effect.provide(use, services) }
    })
}

/** A workflow, with what others may do to its runs. */
type Undecided = Parameters<typeof Durable.say>[0] & Parameters<typeof Durable.decide>[0]

/** A durable run that waits for a person. What becomes of it is said from outside. */
const undecided = (
  name: string,
  end: (
    runs: Undecided,
    asked: Durable.DurableRequest
  ) => Effect.Effect<unknown, unknown, Layer.Success<typeof Durable.layerMemory>>
): Feature => ({
  name,
  isStore: true,
  most: 1_000,
  prepare: (around) =>
    Effect.gen(function* () {
      const requests = new Map<string, Deferred.Deferred<Durable.DurableRequest>>()
      const requestOf = (id: string) => {
        const request = requests.get(id) ?? Deferred.makeUnsafe<Durable.DurableRequest>()
        requests.set(id, request)
        return request
      }
      const clerk = Agent.make("clerk", { model: calling(call("pay")), tools: [pay(around)] })
      const runs = Durable.workflow(clerk, {
        name: "asking",
        ...texts,
        inbox: true,
        onApproval: (asked) => Effect.asVoid(Deferred.succeed(requestOf(asked.executionId), asked))
      })
      const services = yield* Layer.build(Layer.provideMerge(runs.layer, Durable.layerMemory))
      const next = ids()
      const use = Effect.gen(function* () {
        const payload = { id: next(), input: "go" }
        const id = yield* Durable.start(runs, payload)
        const asked = yield* Deferred.await(requestOf(id))
        requests.delete(id)
        yield* end(runs, asked)
        yield* Effect.exit(runs.workflow.execute(payload))
      })
      return { use: Effect.provide(use, services), entries: Effect.sync(() => ({ requests: requests.size })) }
    })
})

/** A deferred call of a durable run that is settled from outside. */
const deferred: Feature = {
  name: "a deferred call of a durable run",
  isStore: true,
  most: 1_000,
  prepare: ({ resource }) =>
    Effect.gen(function* () {
      const tokens: Array<Deferred.Deferred<string>> = []
      const tool = Tool.deferred("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        wait: "suspend",
        deadline: "1 hour",
        start: (_, { token }) =>
          Effect.as(
            Effect.andThen(
              resource,
              Effect.suspend(() => {
                const [awaited] = tokens.splice(0)
                return awaited === undefined ? Effect.void : Deferred.succeed(awaited, token)
              })
            ),
            { job: 1 }
          )
      })
      const clerk = Agent.make("clerk", { model: calling(call("pay")), tools: [tool] })
      const runs = Durable.workflow(clerk, { name: "settled", ...texts })
      const services = yield* Layer.build(Layer.provideMerge(runs.layer, Durable.layerMemory))
      const next = ids()
      const use = Effect.gen(function* () {
        const payload = { id: next(), input: "go" }
        const begun = yield* Deferred.make<string>()
        tokens.push(begun)
        yield* Durable.start(runs, payload)
        yield* Durable.settle(runs, tool, yield* Deferred.await(begun), Exit.succeed("paid"))
        yield* runs.workflow.execute(payload)
      })
      return { use: Effect.provide(use, services) }
    })
}

const queued: Feature = {
  name: "a durable run of a queue",
  isStore: true,
  most: 200,
  prepare: (around) =>
    Effect.gen(function* () {
      const worker = looking(around).pipe(Agent.withModel(calling(call("look"))))
      const runs = Durable.workflow(worker, { name: "queued", ...texts })
      const queue = Layer.provide(PersistedQueue.layer, PersistedQueue.layerStoreMemory)
      const services = yield* Layer.build(
        RunQueue.layerWorker(runs, { concurrency: 2 }).pipe(
          Layer.provideMerge(runs.layer),
          Layer.provideMerge(Layer.merge(Durable.layerMemory, queue))
        )
      )
      const next = ids()
      const use = Effect.suspend(() => {
        const payload = { id: next(), input: "go" }
        return Effect.andThen(RunQueue.put(runs, payload), runs.workflow.execute(payload))
      })
      return { use: Effect.provide(use, services) }
    })
}

/** A client of durable runs behind a server: it reads a stream to its end, or leaves it and reads the rest from its cursor on. */
const proxied = (way: keyof typeof ways, isLeft: boolean): Feature => ({
  name: `durable runs over ${way}, a client that ${isLeft ? "leaves and comes back" : "stays"}`,
  isStore: true,
  most: 100,
  warmUp: 10,
  prepare: () =>
    Effect.gen(function* () {
      const { desk } = yield* agent
      const connect = yield* Effect.orDie(ways[way](kinds.durable.runsOf({ desk, model: calling() })))
      const client = yield* connect("ann")
      const next = ids()
      const use = Effect.gen(function* () {
        const run = next()
        const read = client.stream({ input: "go", run })
        if (!isLeft) return yield* Stream.runDrain(read)
        const [seen] = yield* Stream.runCollect(Stream.take(read, 1))
        yield* Stream.runDrain(client.events(run, seen?.cursor))
      })
      return { use }
    })
})

const clerk = ConversationProxy.make("clerk")

class Procedures extends ConversationProxy.toRpcGroup(clerk, Named, { prefix: "clerk." }) {}

const conversing: Feature = {
  name: "a conversation over a proxy",
  isStore: true,
  most: 100,
  warmUp: 10,
  prepare: (around) =>
    Effect.gen(function* () {
      const worker = looking(around).pipe(Agent.withModel(calling(call("look"))))
      const durable = Durable.workflow(Agent.resume(worker), {
        name: "clerk",
        input: ConversationEntity.turn(Schema.String),
        output: Schema.String,
        inbox: true
      })
      const entity = ConversationEntity.make(durable, { name: "clerks" })
      const handlers = ConversationProxyServer.layerRpcHandlers(clerk, { entity, durable, prefix: "clerk." })
      const services = yield* Layer.build(
        Layer.merge(handlers, named).pipe(
          Layer.provideMerge(entity.layer),
          Layer.provideMerge(ConversationEntity.layerMemory),
          Layer.provideMerge(Conversations.layerMemory())
        )
      )
      const client = yield* Effect.provideContext(RpcTest.makeClient(Procedures), services)
      const options = { headers: { authorization: "ann" } }
      const next = ids()
      const use = Effect.gen(function* () {
        const of = { conversation: `c-${next()}` }
        yield* client["clerk.send"]({ ...of, id: "1", message: "go" }, options)
        yield* Stream.runHead(client["clerk.events"]({ ...of, id: "1" }, options))
        yield* client["clerk.answer"]({ ...of, id: "1" }, options)
        yield* client["clerk.history"](of, options)
      })
      return { use }
    })
}

/** How many rows each of these tables has. */
const rowsOf = (sql: SqlClient.SqlClient, ...tables: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(tables, (table) =>
      Effect.map(sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => [table, row?.n ?? 0])
    ),
    (counts): Record<string, number> => Object.fromEntries(counts)
  ).pipe(Effect.orDie)

/** A snapshot that is signed, resumed once, and refused then. Its claim has a row for ever. */
const claimed: Feature = {
  name: "a signed snapshot whose claim is in a table",
  isStore: true,
  prepare: (around) =>
    Effect.gen(function* () {
      const keys = SnapshotKeys.layer({ keys: [{ id: "a", secret: Redacted.make("a".repeat(32)) }] })
      const services = yield* Layer.build(
        Layer.mergeAll(keys, SnapshotClaims.layerSql().pipe(Layer.provide(sqlite(":memory:"))), calling(call("pay")))
      )
      const asked = Agent.make("clerk", { tools: [pay(around)] })
      const use = Effect.gen(function* () {
        const outcome = yield* (yield* asked.start("go")).outcome
        if (outcome._tag !== "Suspended") return yield* Effect.die(new Error("it is not suspended"))
        const from = yield* Snapshot.fromJson(yield* Snapshot.sign(outcome.snapshot))
        const decisions = yield* Effect.forEach(Snapshot.requestsOf(from), ({ digest }) =>
          Snapshot.signDecision({ digest, decision: Approval.approve })
        )
        const resumed = yield* Agent.resume(asked).start({ from, decisions })
        yield* resumed.outcome
        yield* Effect.flip(Effect.flatMap(Agent.resume(asked).start({ from, decisions }), (run) => run.outcome))
      })
      return { use: Effect.provide(use, services) }
    })
}

const long = "x".repeat(3_000)

/** A conversation in tables, encrypted, with a long result and a grant of its own. All goes with it. */
const tabled: Feature = {
  name: "an encrypted conversation in tables, with its results and grants",
  prepare: ({ resource }: Around) =>
    Effect.gen(function* () {
      const secret = Redacted.make(new Uint8Array(32).fill(1))
      const beside = Layer.merge(Conversations.layerResults, Conversations.layerApprovals)
      const services = yield* Layer.build(
        beside.pipe(
          Layer.provideMerge(Conversations.layerSql()),
          Layer.provide(Conversations.layerEncryption([{ id: "a", secret }])),
          Layer.provideMerge(sqlite(":memory:"))
        )
      )
      const store = Context.get(services, Conversations.Conversations)
      const tool = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        putAside: Tool.putAside({ above: 1_000 }),
        run: () => Effect.as(resource, long)
      }).pipe(Tool.requireApproval())
      const decide = () => Effect.succeed(Approval.approveFor({ conversation: "c" }))
      const of = { conversation: "c", subject: "ann" }
      const use = Effect.gen(function* () {
        yield* store.append({ ...of, expected: 0, messages: [Message.user("go")] })
        yield* Agent.make("clerk", { tools: [tool] })("go").pipe(
          Effect.provideService(Approval.Conversation, "c"),
          Effect.provide([Approval.layer(decide), calling(call("pay"))])
        )
        yield* store.load(of)
        yield* store.remove(of)
      })
      const sql = Context.get(services, SqlClient.SqlClient)
      const tables = sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
      const entries = Effect.flatMap(Effect.orDie(tables), (found) => rowsOf(sql, ...found.map(({ name }) => name)))
      return { use: Effect.provide(use, services), entries }
    })
}

/** Two limits in one database: the rows are those of the keys, not of the calls. */
const shared: Feature = {
  name: "a shared budget and a limit of rate in tables",
  prepare: () =>
    Effect.gen(function* () {
      const services = yield* Layer.build(
        Layer.merge(SharedBudget.layerSql, RateLimits.layerSql).pipe(Layer.provideMerge(sqlite(":memory:")))
      )
      const guard = yield* Effect.provide(
        Resilience.make({ limits: [{ requests: 1_000_000, per: "1 hour" }], onStoreError: "fail" }),
        services
      )
      const model = SharedBudget.layer(guard(calling()), { key: "acme", tokens: 1e9, reserve: 100 })
      const sql = Context.get(services, SqlClient.SqlClient)
      const tables = sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
      const entries = Effect.flatMap(Effect.orDie(tables), (found) => rowsOf(sql, ...found.map(({ name }) => name)))
      return { use: Effect.provide(Agent.make("clerk", { model })("go"), services), entries }
    })
}

/** Long results in a table: those of a run stay until they are deleted. */
const aside: Feature = {
  name: "long results in a table",
  isStore: true,
  prepare: ({ resource }) =>
    Effect.gen(function* () {
      const services = yield* Layer.build(ResultStores.layerSql().pipe(Layer.provide(sqlite(":memory:"))))
      const tool = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        putAside: Tool.putAside({ above: 1_000 }),
        run: () => Effect.as(resource, long)
      })
      const use = Effect.provide(Agent.make("clerk", { tools: [tool] })("go"), calling(call("look")))
      return { use: Effect.provide(use, services) }
    })
}

export const durable: ReadonlyArray<Feature> = [
  read,
  undecided("a durable run that a person decides about", (runs, asked) =>
    Durable.decide(runs, asked, Approval.approve)
  ),
  undecided("a durable run that is spoken to", (runs, { executionId }) =>
    Durable.say(runs, { executionId, id: "1", message: "never mind", supersede: true })
  ),
  undecided("a durable run that is stopped", (runs, { executionId }) => Durable.interrupt(runs, executionId)),
  deferred,
  queued,
  proxied("HttpApi in memory", false),
  proxied("HttpApi in memory", true),
  proxied("Rpc in memory", true),
  conversing,
  claimed,
  tabled,
  shared,
  aside
]
