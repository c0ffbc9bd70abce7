/** Pictures in results: of fixed calls, where a conversation goes on, and in what was put aside. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, eventLog, settlements } from "../../_support/dialogue.ts"
import { type Named, namedModel } from "../../_support/namedModels.ts"
import { outcomeOf } from "../../_support/suspension.ts"
import { digits, pages, reads } from "./_support/aside.ts"

const { call, calls, make, text } = ScriptedModel

const png = "MARKERmarkerMARKERmarker"
const image = Message.image("image/png", { data: png })
const described = "[image, image/png, 18 bytes, not shown]"

const shooting = (options: Parameters<typeof Tool.parts>[2] = {}) =>
  Tool.make("shot", {
    description: "Takes a picture.",
    parameters: Schema.Struct({ n: Schema.Finite }),
    success: Schema.Struct({ png: Schema.String }),
    coercion: [],
    run: () => Effect.succeed({ png })
  }).pipe(Tool.parts(({ png }) => [Message.image("image/png", { data: png })], options))

const seeing = ({ service }: Named) =>
  Layer.succeed(Model.Model, { ...service, showsInResults: ({ type }) => type === "image" })

const blind = ({ service }: Named) => Layer.succeed(Model.Model, service)

it.run("a call that a fixer has mended gives its picture, and the fixer and its model read no base64 [P1538]", (run) =>
  Effect.gen(function* () {
    for (const as of ["arguments", "result"] as const) {
      const log = eventLog()
      const mending = yield* make(text(as === "arguments" ? '{"n":1}' : JSON.stringify({ png })))
      const mender = Agent.make("mender", { model: mending.layer })
      const model = yield* namedModel("m", calls(call("shot", as === "arguments" ? "{n: 1" : { n: "one" }, "c1")), done)
      const tool =
        as === "arguments"
          ? shooting().pipe(Tool.onError({ orElse: Recovery.fix(mender) }))
          : shooting().pipe(Tool.onError({ orElse: Recovery.fix(mender, { as }) }))
      const agent = agentWith(tool).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(seeing(model)))
      const [result] = (model.requests[1]?.messages ?? []).flatMap((message) =>
        message.role === "assistant" ? message.content.filter(({ type }) => type === "settled-call") : []
      )
      assert(result?.type === "settled-call")
      assert.deepStrictEqual(result.settlement, { kind: "result", text: described, parts: [image] })
      assert.notInclude(JSON.stringify(mending.requests), png)
      for (const event of log.all) {
        // the fixer of results has written it itself
        const isOfMender = event.agent === "mender" || event.type === "fix-end"
        if (as === "arguments" || !isOfMender) assert.notInclude(JSON.stringify(event), png, event.type)
      }
    }
  })
)

it.effect(
  "a conversation that goes on is read as `unsupported` of the tool says, from a snapshot of JSON too [P1538]",
  () =>
    Effect.gen(function* () {
      for (const unsupported of ["describe", "follow", "refuse"] as const) {
        const log = eventLog()
        const agent = Agent.make("clerk", { tools: [shooting({ unsupported })] }).pipe(log.listen)
        const first = yield* namedModel("m", calls(call("shot", { n: 1 }, "c1")), done)
        const run = yield* Effect.provide(agent.start("go"), seeing(first))
        yield* run.outcome
        const stored = yield* Schema.encodeEffect(Schema.toCodecJson(Message.Transcript))(yield* run.transcript)
        assert.include(JSON.stringify(stored), png)
        const from = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(Message.Transcript))(
          JSON.parse(JSON.stringify(stored))
        )
        const other = yield* make(...(unsupported === "refuse" ? [] : [text("seen")]))
        const exit = yield* Effect.result(outcomeOf(Agent.resume(agent), { from, input: "more" }, other))
        for (const event of log.all) assert.notInclude(JSON.stringify(event), png, event.type)
        const { messages = [] } = other.requests[0] ?? {}
        if (unsupported === "refuse") {
          assert(exit._tag === "Failure" && exit.failure instanceof LlmError.CapabilityMismatchError)
          continue
        }
        const follows = unsupported === "follow"
        assert.deepStrictEqual(settlements(messages), [
          `result: ${follows ? described.replace("not shown", "in the next message") : described}`
        ])
        assert.deepStrictEqual(
          messages.filter(({ role }) => role === "user").map((message) => JSON.stringify(message).includes(png)),
          follows ? [false, true, false] : [false, false]
        )
      }
    })
)

it.run("what is put aside of a result with a picture is its text, which has a description of it [P1535 P1538]", (run) =>
  Effect.gen(function* () {
    for (const shows of [true, false]) {
      const tool = pages("look", digits(500)).pipe(Tool.parts((text) => [Message.text(text), image]))
      const model = yield* namedModel("m", batch("look"), reads({ from: 490 }), done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide(shows ? seeing(model) : blind(model)))
      const page = `0123456789\n${described}\n\n[Characters 490 to 540 of 540. This is the end.]`
      assert.strictEqual(settlements(model.requests.at(-1)?.messages ?? [])[1], `result: ${page}`)
      assert.strictEqual(JSON.stringify(model.requests).includes(png), shows)
    }
  })
)
