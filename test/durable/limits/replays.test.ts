/** A shared budget in a durable run, which is replayed from the top after each step. */
import { assert, it } from "@effect/vitest"
import { Agent, Message } from "@kintsugi/core"
import { Durable, SharedBudget } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { calm, scripted } from "../../_support/dialogue.ts"
import { process, watched } from "../_support/engines.ts"
import { call, reading } from "../_support/readingModel.ts"

// Finds out nothing of its own: its subject is that a replay calls no model, here one with a budget around it
it.effect("a replay reserves and counts nothing: the budget has each call once [P1720]", () =>
  Effect.gen(function* () {
    const { asked, layer } = reading("m", (turn) => (turn < 2 ? [call("look")] : [Message.text("done")]))
    const { tool } = scripted("look", Effect.succeed("rain"), Effect.succeed("rain"))
    const limit = { key: "acme", tokens: 1000, reserve: 100 } as const
    const agent = Agent.make("clerk", { model: SharedBudget.layer(layer, limit), tools: [tool] })
    const durable = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
    const engine = yield* watched(true)
    yield* process(durable.layer.pipe(Layer.provide(engine.layer)))
    const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
    for (let n = 0; n < 20; n++) yield* calm
    const end = Option.getOrThrow(yield* Effect.provide(Durable.poll(durable, id), engine.layer))
    assert(end._tag === "Complete")
    assert.deepStrictEqual(end.exit, Exit.succeed("done"))
    assert.isAbove(engine.bodies(), 3)
    assert.strictEqual(asked(), 3)
    assert.deepStrictEqual(yield* SharedBudget.spending(limit), { spent: 45, reserved: 0 })
  }).pipe(Effect.provide(SharedBudget.layerMemory), Effect.orDie)
)
