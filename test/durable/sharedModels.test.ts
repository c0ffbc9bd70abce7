/** An agent's own model in workflows: one build for all runs of a process, closed with the process. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Model } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Context, Effect, Layer, Schema } from "effect"
import { calm } from "../_support/dialogue.ts"
import { process, watched } from "./_support/engines.ts"
import { reading } from "./_support/readingModel.ts"

// Finds out nothing of its own: its subject is the scope in which core opens a model
it.effect("the runs of a process share the model of their agent, and each process has its own [P1353 P1504]", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const { asked, layer } = reading("m", () => [Message.text("done")])
    const opened = Effect.acquireRelease(
      Effect.tap(Effect.map(Layer.build(layer), Context.get(Model.Model)), () => Effect.sync(() => log.push("opens"))),
      () => Effect.sync(() => void log.push("closes"))
    )
    const agent = Agent.make("clerk", { model: Layer.effect(Model.Model, opened) })
    const durable = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
    const engine = yield* watched(false)
    const played = (...ids: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const stop = yield* process(durable.layer)
        for (const id of ids) {
          yield* Durable.start(durable, { id, input: "go" })
          for (let n = 0; n < 10; n++) yield* calm
        }
        assert.deepStrictEqual(log.splice(0), ["opens"])
        yield* stop
        yield* engine.kill
        assert.deepStrictEqual(log.splice(0), ["closes"])
      })
    yield* Effect.provide(Effect.andThen(played("one", "two"), played("three")), engine.layer)
    assert.strictEqual(asked(), 3)
  })
)
