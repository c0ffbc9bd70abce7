/**
 * What durable runs cost on a database: `bench.ts database`, the URL of a server or a folder, with `--expose-gc`. It prints lines of JSON: the milliseconds of a bare
 * activity and of a step of an agent, runs per second, the bytes of turns, and the heap without and with suspended runs. `bench.ts` alone
 * measures steps on the engine in memory, which stores nothing.
 */
import { Agent, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Option, Schema } from "effect"
import * as Activity from "effect/workflow/Activity"
import * as SqlClient from "effect/sql/SqlClient"
import * as Workflow from "effect/workflow/Workflow"
import { bytesOf } from "./bytes.ts"
import { engineOn, isServer } from "../engine.ts"
import { streaming } from "../streams.ts"

const [database = ""] = process.argv.slice(2)

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)

const parameters = Schema.Struct({})

const look = Tool.make("look", {
  description: "Looks.",
  parameters,
  success: Schema.String,
  run: () => Effect.succeed("seen")
})
const sign = Tool.make("sign", {
  description: "Signs.",
  parameters,
  success: Schema.String,
  run: () => Effect.succeed("signed")
}).pipe(Tool.requireApproval({ validFor: "10 days" }))

/** A run of so many turns with one call each, or one that waits for a person. */
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "bench",
    provider: "test",
    generate: ({ messages }) =>
      Effect.sync(() => {
        const first = messages.find((message) => message.role === "user")
        const task = first === undefined ? "" : Message.textOf(first)
        const turn = messages.filter(({ role }) => role === "assistant").length
        const name = task === "sign" ? "sign" : "look"
        const isOver = turn >= (task === "sign" ? 1 : Number(task))
        const call: Message.ToolCall = { type: "tool-call", id: "call", name, arguments: {} }
        return {
          content: [isOver ? Message.text("done") : call],
          finish: isOver ? "stop" : "tool-calls",
          usage: Usage.make({ inputTokens: 10, outputTokens: 5 })
        } satisfies Message.Reply
      })
  })
)

const agent = Agent.make("clerk", {
  model,
  budget: { maxDuration: "30 days", maxTurns: 1000, maxToolCalls: 1000 },
  skills: [Skill.make("work", { description: "Works.", tools: [look, sign] })]
})

const runs = Durable.workflow(agent, { name: "bench", input: Schema.String, output: Schema.String })

/** The floor: as many activities of the engine, one after the other, that give a text. */
const bare = Workflow.make("bare", {
  payload: Schema.Struct({ id: Schema.String, steps: Schema.Int }),
  idempotencyKey: ({ id }) => id,
  success: Schema.Int
})

const bareLayer = bare.toLayer(({ steps }) =>
  Effect.gen(function* () {
    for (let step = 1; step <= steps; step++) {
      yield* Activity.make({ name: `step/${step}`, success: Schema.String, execute: Effect.succeed("seen") })
    }
    return steps
  })
)

/** Milliseconds: those of the processor where nothing but it is waited for. */
const now = (): number => {
  const { system, user } = process.cpuUsage()
  return database === "" ? (user + system) / 1000 : performance.now()
}

const timed = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const start = now()
    yield* self
    return now() - start
  })

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

const turns = 50
/** A model and a tool in each turn, the last answer, and the note that the run has begun. */
const steps = 2 * turns + 2

/** `where` tells one measurement from another. */
const perStep = Effect.fnUntraced(function* (where: string, laps = 6) {
  const [floors, ours]: [Array<number>, Array<number>] = [[], []]
  // the first round warms up
  for (let lap = 0; lap < laps; lap++) {
    const floor = yield* timed(bare.execute({ id: `bare-${where}-${lap}`, steps }))
    const own = yield* timed(runs.workflow.execute({ id: `own-${where}-${lap}`, input: `${turns}` }))
    if (lap > 0) {
      floors.push(floor / steps)
      ours.push(own / steps)
    }
  }
  const ratio = median(ours.map((own, index) => own / (floors[index] ?? Number.NaN)))
  say({ [where]: { steps, bare: median(floors), own: median(ours), ratio } })
})

const perSecond = Effect.gen(function* () {
  const count = 200
  const rates: Array<number> = []
  for (let lap = 0; lap < 4; lap++) {
    const ids = Array.from({ length: count }, (_, index) => `rate-${lap}-${index}`)
    const all = Effect.forEach(ids, (id) => runs.workflow.execute({ id, input: "1" }), {
      concurrency: 50,
      discard: true
    })
    const rate = (count / (yield* timed(all))) * 1000
    if (lap > 0) rates.push(rate)
  }
  say({ count, perSecond: median(rates) })
})

const bytes = Effect.gen(function* () {
  const id = yield* Durable.start(runs, { id: "long", input: "200" })
  yield* runs.workflow.execute({ id: "long", input: "200" })
  const sizes = yield* Effect.forEach([1, 5, 50, 100, 200], (turn) =>
    Effect.map(bytesOf(id, turn), (size) => [turn, size] as const)
  )
  say({ bytes: Object.fromEntries(sizes) })
})

/** In bytes, of what is still in use. */
const heap = Effect.gen(function* () {
  // what was given up last is collected with what refers to it
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    yield* Effect.sleep(50)
  }
  return process.memoryUsage().heapUsed
})

/** Starts runs that wait for a person, and waits until none of them is at work, nor held by the engine. */
const suspending = (prefix: string, count: number) =>
  Effect.gen(function* () {
    const ids = yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => `${prefix}-${index}`),
      (id) => Durable.start(runs, { id, input: "sign" }),
      { concurrency: 50 }
    )
    for (const id of ids) {
      while (Option.getOrUndefined(yield* Durable.poll(runs, id))?._tag !== "Suspended") yield* Effect.sleep(50)
    }
    // the engine keeps what has nothing to do for ten seconds, and looks every few
    yield* Effect.sleep("25 seconds")
  })

/** In bytes: tables, indexes, and what updates have left behind in them. */
const disk = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly size: number }>`
    SELECT (pg_total_relation_size('cluster_messages') + pg_total_relation_size('cluster_replies'))::float8 AS size`
  return row?.size ?? 0
})

/** As many alarms as a million suspended runs have, which wait for years; and what the planner has to know of them, as the guide says. */
const crowding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO cluster_messages (id, message_id, shard_id, entity_type, entity_id, kind, tag, payload, headers, request_id, deliver_at)
    SELECT n, 'Workflow/-/DurableClock/crowd-' || n || '/run/wait', 'default:' || (1 + n % 300), 'Workflow/-/DurableClock',
      'crowd-' || n, 0, 'run', '{"name":"wait"}', '{}', n, 4102444800000 FROM generate_series(1, 1000000) n`
  yield* sql`CREATE STATISTICS cluster_messages_waiting (mcv) ON processed, deliver_at FROM cluster_messages`
  yield* sql`ANALYZE cluster_messages`
})

const suspended = Effect.gen(function* () {
  // what is loaded and compiled for the first of them stays
  yield* suspending("warm", 100)
  const [before, stored] = [yield* heap, yield* disk]
  const count = 1000
  yield* suspending("held", count)
  const after = yield* heap
  say({ suspended: count, before, after, perRun: (after - before) / count, disk: ((yield* disk) - stored) / count })
})

const served = Layer.mergeAll(runs.layer, bareLayer)

const onDatabase = Effect.gen(function* () {
  yield* perStep("alone")
  yield* perSecond
  yield* bytes
  yield* suspended
  if (!isServer(database)) return
  yield* crowding
  yield* perStep("crowded")
}).pipe(Effect.provide(served.pipe(Layer.provideMerge(engineOn(database, 8)))))

const main =
  database === ""
    ? Effect.provide(perStep("alone", 31), served.pipe(Layer.provideMerge(Durable.layerMemory)))
    : onDatabase

await Effect.runPromise(main)
process.exit(0)
