import { assert, it } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Deferred, Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../_support/dialogue.ts"
import { cluster } from "./_support/cluster.ts"
import { call, reading } from "./_support/readingModel.ts"

const passing = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds * 2; i++) {
      for (let k = 0; k < 6; k++) yield* calm
      yield* TestClock.adjust(500)
    }
  })

/** Where the run is served: by a runner of a cluster, or in memory. */
const engines = {
  "on a cluster": (durable: ReturnType<typeof story>["durable"]) =>
    Effect.gen(function* () {
      const join = yield* cluster
      return (yield* join(durable.layer)).context
    }),
  "in memory": (durable: ReturnType<typeof story>["durable"]) =>
    Layer.build(Layer.provideMerge(durable.layer, Durable.layerMemory))
} as const

/** A run that waits at its first tool until the gate opens, and would pay after that. */
const story = () => {
  const log: Array<string> = []
  const gate = Deferred.makeUnsafe<void>()
  const model = reading("o", (turn) => [[call("look")], [call("pay")]][turn] ?? [Message.text("end")])
  const about = { description: "x", parameters: Schema.Struct({}), success: Schema.String }
  const tool = (name: string, before: Effect.Effect<void>) =>
    Tool.make(name, {
      ...about,
      run: () =>
        Effect.map(before, () => {
          log.push(name)
          return name
        })
    })
  const agent = Agent.make("a", {
    model: model.layer,
    skills: [
      Skill.make("w", { description: "w", tools: [tool("look", Deferred.await(gate)), tool("pay", Effect.void)] })
    ]
  })
  const durable = Durable.workflow(agent, { name: "x", input: Schema.String, output: Schema.String })
  return { durable, gate, log }
}

describe.each(Object.entries(engines))("%s", (_, serving) => {
  // Finds out nothing of its own: its subject is how the runners of Effect interrupt a workflow
  it.effect.each([1, 2])(
    "an interrupted run begins no further step, however often it is interrupted [P1136]",
    (times) =>
      Effect.gen(function* () {
        const { durable, gate, log } = story()
        const context = yield* serving(durable)
        yield* passing(3)
        const id = yield* Effect.provideContext(Durable.start(durable, { id: "1", input: "go" }), context)
        yield* passing(3)
        for (let i = 0; i < times; i++) {
          yield* Effect.forkChild(Effect.provideContext(durable.workflow.interrupt(id), context))
          yield* passing(2)
        }
        yield* Deferred.succeed(gate, undefined)
        yield* passing(20)
        assert.notInclude(log, "pay")
        const end = Option.getOrUndefined(yield* Effect.provideContext(Durable.poll(durable, id), context))
        assert.isTrue(end?._tag === "Complete" && end.exit._tag === "Failure")
      })
  )
})
