/** Turns of durable runs that are prepared: the choice is a step, and a process that goes on has the same one. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Layer, Schema } from "effect"
import { type Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"

const preparing = (millis: number) => {
  const own = reading("own", (turn) => (turn === 0 ? [call("look")] : [Message.text("own")]))
  const other = reading("other", () => [call("look")])
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "none",
    run: () => Effect.succeed("seen")
  })
  const chosen: Array<string> = []
  let nth = 0
  const agent = Agent.make("worker", {
    model: own.layer,
    prompt: "Be.",
    budget: { maxDuration: "2 days" },
    skills: [Skill.make("work", { description: "Works.", tools: [look] })]
  }).pipe(
    Agent.prepareTurn(({ turn }) =>
      Effect.delay(
        Effect.sync(() => {
          const choice = { prompt: `Choice ${++nth} for turn ${turn}.` }
          return turn === 2 ? { ...choice, model: other.layer } : choice
        }),
        millis
      )
    ),
    Agent.onEvent((event) =>
      Effect.sync(() => {
        if (event.type === "turn-prepared") chosen.push(`${event.turn} ${event.model ?? "own"} ${event.prompt}`)
      })
    )
  )
  const durable = Durable.workflow(agent, { name: "worker", input: Schema.String, output: Schema.String })
  return { chosen, durable, layer: durable.layer.pipe(Layer.orDie), asked: () => nth }
}

it.effect("a process may die at any step: each turn has one choice, and a replay asks for a model alone [P1551]", () =>
  Effect.gen(function* () {
    for (const millis of [0, 90_000])
      for (const when of ["before", "after"] as const)
        for (let at = 1; ; at++) {
          const death: Death = { at, when }
          const { asked, chosen, durable, layer } = preparing(millis)
          const { exit, hasDied } = yield* surviving(durable, layer as never, death)
          assert.deepInclude(exit, { _tag: "Success", value: "own" }, `${when} ${at}`)
          // an event of a turn is emitted again by the process that goes on, if at all with the same choice
          const byTurn = Map.groupBy(new Set(chosen), (line) => line.split(" ")[0])
          for (const [turn, lines] of byTurn) assert.lengthOf(lines, 1, `${when} ${at}, turn ${turn}`)
          assert.deepStrictEqual(
            [...new Set(chosen)].map((line) => line.split(" ")[1]),
            ["own", "other", "own"]
          )
          if (!hasDied) {
            assert.strictEqual(asked(), 3)
            break
          }
          assert.isAtMost(asked(), 5)
        }
  })
)
