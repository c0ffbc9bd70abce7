/**
 * Records steps on Effect's engine: `steps.ts ours` those of an agent, which are attempts of a tool, `steps.ts quiet` the same without the
 * log of events, `steps.ts bare` activities of a workflow. The second argument is the URL of a server, or a folder.
 */
import { Agent, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { engineOn } from "../engine.ts"
import { idsOf, type Order, recorded, serve, tablesOf, textOf } from "../recorded.ts"
import { streaming } from "../streams.ts"

const [subject, database = ""] = process.argv.slice(2)

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  // an unsafe tool records that it begins as well
  sideEffects: "none",
  run: () => Effect.succeed(recorded)
})

/** It calls the tool so often in one reply, and ends. */
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "bench",
    provider: "test",
    generate: ({ messages }) =>
      Effect.sync((): Message.Reply => {
        const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
        if (messages.at(-1)?.role !== "user") return { content: [Message.text("done")], finish: "stop", usage }
        const first = messages.find((message) => message.role === "user")
        const calls = Array.from({ length: first === undefined ? 0 : Number(Message.textOf(first)) }, (_, index) => ({
          type: "tool-call" as const,
          id: `${index}`,
          name: "look",
          arguments: {}
        }))
        return { content: calls, finish: "tool-calls", usage }
      })
  })
)

const agent = Agent.make("clerk", {
  model,
  // one attempt after the other, as the activities beside it
  budget: { toolConcurrency: 1, maxToolCalls: 10_000 },
  skills: [Skill.make("work", { description: "Works.", tools: [look] })]
})

const ours = Durable.workflow(agent, {
  name: "ours",
  input: Schema.String,
  output: Schema.String,
  events: subject === "ours"
})

const bare = Workflow.make("bare", {
  payload: Schema.Struct({ id: Schema.String, steps: Schema.Int }),
  idempotencyKey: ({ id }) => id,
  success: Schema.Int
})

const bareLayer = bare.toLayer(({ steps }) =>
  Effect.gen(function* () {
    for (let step = 1; step <= steps; step++) {
      yield* Activity.make({ name: `step/run/${step}`, success: Schema.String, execute: Effect.succeed(recorded) })
    }
    return steps
  })
)

const run = (id: string, steps: number) =>
  subject === "bare"
    ? Effect.asVoid(bare.execute({ id, steps }))
    : Effect.asVoid(ours.workflow.execute({ id, input: `${steps}` }))

/** Steps that are stored with their result, and the bytes of their rows. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number; readonly bytes: number }>`
    SELECT count(*)::int AS count, coalesce(sum(octet_length(m::text) + octet_length(r::text)), 0)::float8 AS bytes FROM cluster_messages m JOIN cluster_replies r ON r.request_id = m.id
    WHERE m.tag = 'activity' AND m.payload ~ '/run/' AND r.payload ~ ${recorded}`
  return row ?? { count: 0, bytes: 0 }
})

const runtime = ManagedRuntime.make(
  Layer.mergeAll(ours.layer, bareLayer).pipe(Layer.provideMerge(engineOn(database, 10)))
)

let count = 0
const record = async (order: Order): Promise<void> => {
  await runtime.runPromise(Effect.forEach(idsOf(order), (id) => run(id, order.steps), { concurrency: "unbounded" }))
  count += order.runs * order.steps
}

const sizes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* stored
  if (found.count !== count) return yield* Effect.die(new Error(`${found.count} of ${count} steps are stored`))
  let [text, disk] = [0, 0]
  for (const table of yield* sql.unsafe<{ readonly name: string; readonly disk: number }>(tablesOf)) {
    const [row] = yield* sql.unsafe<{ readonly text: number }>(textOf(table.name))
    text += row?.text ?? 0
    disk += table.disk
  }
  return { steps: found.bytes, text, disk }
})

await runtime.runPromise(Effect.void)
serve(record, () => runtime.runPromise(sizes))
