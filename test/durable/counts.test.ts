/** Counts of tokens for `Agent.compactAt` in durable runs. */
import { assert, it } from "@effect/vitest"
import { Agent, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm, done } from "../_support/dialogue.ts"
import { keepOne, pages, requested } from "../core/recovery/_support/longConversations.ts"
import { spending } from "../core/run/_support/spending.ts"
import { process, watched } from "./_support/engines.ts"

for (const first of [900, null]) {
  // Finds out nothing of its own: the subject is the replay of the compaction of core
  it.effect(`a replay reads the count that was recorded, here ${first} [P1570 P1573]`, () =>
    Effect.gen(function* () {
      let counts = 0
      const script = [spending(1, 1, "look"), spending(770, 10, "look"), spending(1, 1, "look"), done]
      const scripted = yield* ScriptedModel.make(...script)
      const countTokens = () =>
        Effect.suspend(() =>
          counts++ === 0 && first === null ? Effect.die(new Error("oh")) : Effect.succeed(first ?? 1)
        )
      const model = Layer.effect(
        Model.Model,
        Effect.map(Model.Model, (model) => ({ ...model, countTokens }))
      ).pipe(Layer.provide(scripted.layer))
      const agent = Agent.make("reader", { model, tools: [pages(38)] }).pipe(
        Agent.compactAt({ window: 1000, with: keepOne })
      )
      const durable = Durable.workflow(agent, { name: "reader", input: Schema.String, output: Schema.String })
      // it runs from the top after each step
      const engine = yield* watched(true)
      yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
      const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
      for (let second = 0; second < 20; second++) {
        yield* calm
        yield* TestClock.adjust("1 second")
      }
      const end = Option.getOrThrow(yield* Effect.provide(Durable.poll(durable, id), engine.layer))
      assert(end._tag === "Complete")
      assert.deepStrictEqual(end.exit, Exit.succeed("done"))
      assert.strictEqual(counts, 1)
      const outlines = requested(scripted)
      assert.deepStrictEqual(outlines[2], first === null ? ["user go", "page 1", "page 2"] : ["user go", "page 2"])
    })
  )
}
