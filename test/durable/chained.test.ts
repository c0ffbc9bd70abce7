/** Requests that name the stored reply before them, of a run that another process goes on with. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { OpenAi } from "@kintsugi/providers"
import { Effect, Exit, Layer, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { calm, scripted } from "../_support/dialogue.ts"
import { event, fakeNetwork, key, respond, silence } from "../_support/network.ts"
import { call, events, message, response } from "../providers/codec/openai-responses/_support/responses.ts"
import { process, watched } from "./_support/engines.ts"

for (const isStreamed of [false, true]) {
  // Finds out nothing of its own: the subject is the chain of replies of the provider, after a death
  it.effect(
    `after the death of its process, the reply before is named, ${isStreamed ? "streamed" : "whole"} [P1416]`,
    () =>
      Effect.gen(function* () {
        const said = (output: Parameters<typeof response>[0], id: string) => {
          const whole = response(output, { id })
          return respond(
            200,
            isStreamed
              ? events(whole)
                  .map((one) => event(one))
                  .join("")
              : whole
          )
        }
        const network = fakeNetwork([
          said([call("1", '{"n":1}', { name: "look" })], "resp_1"),
          silence,
          said([message("done")], "resp_2")
        ])
        const model = OpenAi.layerResponses({ model: "m", apiKey: Redacted.make(key), store: true, chained: true })
        const { tool } = scripted("look", Effect.succeed("seen"))
        const agent = Agent.make("looker", {
          model: Layer.provide(model, network.layer),
          tools: [tool],
          budget: { maxDuration: "9 days" }
        })
        const settings = { name: "looker", input: Schema.String, output: Schema.String, events: isStreamed }
        const durable = Durable.workflow(agent, settings)
        const engine = yield* watched(false)
        const serve = process(durable.layer.pipe(Layer.provide(engine.layer)))
        const stop = yield* serve
        const id = yield* Effect.provide(Durable.start(durable, { id: "one", input: "go" }), engine.layer)
        const pass = Effect.gen(function* () {
          for (let second = 0; second < 30; second++) {
            yield* calm
            yield* TestClock.adjust("1 second")
          }
        })
        yield* pass
        assert.strictEqual(network.sent.length, 2)
        yield* stop
        yield* engine.kill
        yield* serve
        yield* pass
        const result = yield* Effect.provide(Durable.poll(durable, id), engine.layer)
        const end = Option.getOrThrow(result)
        assert(end._tag === "Complete")
        assert.deepStrictEqual(end.exit, Exit.succeed("done"))
        const named = network.sent.map(({ body }) => JSON.parse(body).previous_response_id)
        assert.deepStrictEqual(named, [undefined, "resp_1", "resp_1"])
      })
  )
}
