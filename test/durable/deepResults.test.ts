/** What a tool of a durable run gives is stored, and what no row can hold ends the run. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm } from "../_support/dialogue.ts"
import { clusterOfRows } from "./_support/cluster.ts"
import { call, reading } from "./_support/readingModel.ts"

const passing = Effect.gen(function* () {
  for (let i = 0; i < 20; i++) {
    for (let k = 0; k < 6; k++) yield* calm
    yield* TestClock.adjust(250)
  }
})

const ending = (levels: number) =>
  Effect.gen(function* () {
    const model = reading("clerk", (turn) => [[call("dig")]][turn] ?? [Message.text("done")])
    let runs = 0
    const dig = Tool.make("dig", {
      description: "Digs.",
      parameters: Schema.Struct({}),
      success: Schema.Json,
      run: () =>
        Effect.sync((): Schema.Json => {
          runs++
          return JSON.parse("[".repeat(levels) + "]".repeat(levels))
        })
    })
    const agent = Agent.make("clerk", {
      model: model.layer,
      skills: [Skill.make("work", { description: "Works.", tools: [dig] })]
    })
    const durable = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
    const { join } = yield* clusterOfRows
    const { context } = yield* join(durable.layer)
    yield* passing
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "a", input: "go" }), context)
    yield* passing
    const end = Option.getOrUndefined(yield* Effect.provideContext(Durable.poll(durable, id), context))
    assert(end?._tag === "Complete")
    assert.strictEqual(runs, 1)
    return end.exit
  })

it.effect(
  "a result as deep as a text may be is stored, and one that no row can hold ends the run by name [P1393]",
  () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ending(1000), Exit.succeed("done"))
      const exit = yield* ending(6000)
      assert(Exit.isFailure(exit))
      assert.include(Cause.pretty(exit.cause), "nested in more than 1100 levels: no row can hold it")
    })
)
