import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, Approval, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import { assert, it } from "vitest"
import { streaming } from "../src/streams.ts"

const about = { parameters: Schema.Struct({}), success: Schema.String }

/** It pays, has that signed, and is done. */
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "reading",
    provider: "test",
    generate: ({ messages }) => {
      const name = ["pay", "sign"][messages.filter(({ role }) => role === "assistant").length]
      const call: Message.ToolCall = { type: "tool-call", id: "one", name: name ?? "", arguments: {} }
      return Effect.succeed({
        content: name === undefined ? [Message.text("done")] : [call],
        finish: name === undefined ? "stop" : "tool-calls",
        usage: Usage.empty
      })
    }
  })
)

const story = () => {
  let paid = 0
  const asked = new Map<string, Durable.DurableRequest>()
  const pay = Tool.make("pay", {
    ...about,
    description: "Pays.",
    sideEffects: "unsafe",
    run: () => Effect.sync(() => `paid ${++paid}`)
  })
  const sign = Tool.make("sign", { ...about, description: "Signs.", run: () => Effect.succeed("signed") })
  const agent = Agent.make("clerk", {
    model,
    skills: [Skill.make("work", { description: "Works.", tools: [pay, sign.pipe(Tool.requireApproval())] })]
  })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    input: Schema.String,
    output: Schema.String,
    onApproval: (one) => Effect.sync(() => void asked.set(one.executionId, one))
  })
  return { asked, durable, paid: () => paid }
}

/** As often as it takes, in real time: the database is a thread. */
const until = <A, E, R>(effect: Effect.Effect<A, E, R>, isSo: (value: A) => boolean) =>
  Effect.repeat(effect, { schedule: Schedule.spaced("100 millis"), until: isSo })

it(
  "runs whose rows are deleted from the database end as lost, and pay nothing again [P1398]",
  { timeout: 240_000 },
  async () => {
    const { SqlClient } = await import("effect/sql")
    const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
    const { asked, durable, paid } = story()
    const engine = durable.layer.pipe(Layer.provideMerge(Durable.layerPglite({ folder: temporary })))
    const losses = {
      reply: (id: string) => `DELETE FROM cluster_replies r USING cluster_messages m
        WHERE r.request_id = m.id AND m.entity_id = '${id}' AND m.tag = 'activity'
        AND m.payload::jsonb ->> 'name' LIKE '%/model/1'`,
      steps: (id: string) => `WITH gone AS (
          DELETE FROM cluster_messages WHERE entity_id = '${id}' AND tag = 'activity' RETURNING id
        ) DELETE FROM cluster_replies r USING gone WHERE r.request_id = gone.id`,
      nothing: () => "SELECT 1"
    }
    const names = ["reply", "steps", "nothing"] as const
    const begun = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Effect.forEach(names, (id) => Durable.start(durable, { id, input: "go" }))
      const stateless = yield* Durable.start(durable, { id: "standing", input: "go" })
      for (const id of [...ids, stateless]) {
        yield* until(Durable.poll(durable, id), (end) => Option.getOrUndefined(end)?._tag === "Suspended")
      }
      for (const [index, id] of ids.entries()) yield* sql.unsafe(losses[names[index] ?? "nothing"](id))
      yield* sql.unsafe(`DELETE FROM cluster_replies r USING cluster_messages m
        WHERE r.request_id = m.id AND m.entity_id = '${stateless}' AND m.tag = 'run'`)
      return { ids, lost: yield* Effect.flip(Durable.poll(durable, stateless)), stateless }
    })
    const ended = (ids: ReadonlyArray<string>) =>
      Effect.forEach(
        ids,
        (id) =>
          Effect.gen(function* () {
            const request = asked.get(id)
            if (request === undefined) return assert.fail(`no request came about ${id}`)
            yield* Durable.decide(durable, request, Approval.approve)
            const end = yield* until(
              Durable.poll(durable, id),
              (end) => Option.getOrUndefined(end)?._tag === "Complete"
            )
            const result = Option.getOrUndefined(end)
            if (result?._tag !== "Complete") return undefined
            const { exit } = result
            return Exit.isSuccess(exit) ? exit.value : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
          }),
        { concurrency: "unbounded" }
      )
    try {
      const { ids, lost, stateless } = await Effect.runPromise(Effect.provide(begun, Layer.fresh(engine)))
      assert.deepInclude(lost, { _tag: "RunLostError", executionId: stateless })
      assert.strictEqual(paid(), 4)
      const ends = await Effect.runPromise(Effect.provide(ended(ids), Layer.fresh(engine)))
      for (const end of ends.slice(0, 2)) assert.instanceOf(end, DoorError.RunLostError)
      assert.strictEqual(ends[2], "done")
      assert.strictEqual(paid(), 4)
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  }
)
