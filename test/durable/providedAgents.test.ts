/** Agents with a layer of their own, as workflows: the layer is there in each process, and the steps are those of the agent. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Context, Effect, Layer, Schema } from "effect"
import type { Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

/** Two tools that need a service, one after a failure and one after an approval, and a sub-agent that has the service from elsewhere. */
const story = () => {
  const log: Array<string> = []
  const desk = (name: string) =>
    Layer.effect(
      Desk,
      Effect.acquireRelease(
        Effect.sync(() => (log.push(`${name} opens`), { name })),
        () => Effect.sync(() => void log.push(`${name} closes`))
      )
    )
  const about = { description: "d", parameters: Schema.Struct({}), success: Schema.String }
  const look = Tool.make("look", {
    ...about,
    failure: Busy,
    run: (_, { attempt }) =>
      Effect.flatMap(Desk, ({ name }) =>
        attempt === 1
          ? Effect.fail(new Busy({ message: "busy" }))
          : Effect.sync(() => (log.push(`look at ${name}`), name))
      ),
    onError: { Busy: Recovery.retry({ retries: 1, initialBackoff: "90 seconds" }) }
  })
  const sign = Tool.make("sign", {
    ...about,
    run: () => Effect.flatMap(Desk, ({ name }) => Effect.sync(() => (log.push(`sign at ${name}`), name)))
  }).pipe(Tool.requireApproval())
  const innerModel = reading("below", (turn) => (turn === 0 ? [call("sign")] : [Message.text("below done")]))
  // time goes on while there is no process
  const budget = { maxDuration: "2 days" } as const
  const inner = Agent.make("inner", { model: innerModel.layer, budget, tools: [sign] }).pipe(
    Agent.provide(desk("back"))
  )
  const model = reading(
    "above",
    (turn) => [[call("look")], [call("inner", { input: "go" })]][turn] ?? [Message.text("done")]
  )
  const agent = Agent.make("outer", {
    model: model.layer,
    budget,
    tools: [look, Agent.asTool(inner, { description: "d" })]
  }).pipe(Agent.provide(desk("front")))
  return { agent, asked: () => [model.asked(), innerModel.asked()], log }
}

const play = (death: Death | undefined) =>
  Effect.gen(function* () {
    const { agent, ...seen } = story()
    const waiting: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "provided",
      input: Schema.String,
      output: Schema.String,
      onApproval: (asked) => Effect.sync(() => void waiting.push(asked))
    })
    return { ...seen, ...(yield* surviving(durable, durable.layer, death, waiting)) }
  })

const success = { _id: "Exit", _tag: "Success", value: "done" }

/** All that was opened was closed. */
const isClosed = (log: ReadonlyArray<string>) =>
  ["front", "back"].every(
    (name) =>
      log.filter((line) => line === `${name} opens`).length === log.filter((line) => line === `${name} closes`).length
  )

const worked = (log: ReadonlyArray<string>) => log.filter((line) => / at /u.test(line))

// Finds out nothing of its own: its subject is the layer of an agent of core
it.effect("an agent with a layer is durable with its tables, its sub-agent and their approvals [P1306]", () =>
  Effect.gen(function* () {
    const { asked, exit, log } = yield* play(undefined)
    assert.deepStrictEqual(exit.toJSON(), success)
    assert.deepStrictEqual(worked(log), ["look at front", "sign at back"])
    assert.deepStrictEqual(asked(), [3, 2])
    assert.isTrue(isClosed(log))
  })
)

for (const when of ["before", "after"] as const) {
  // Finds out nothing of its own: its subject is the layer of an agent of core, after a death at each step
  it.effect.each([1, 2, 3, 4, 5, 6, 7])(
    `after the death of its process ${when} step %s the next one opens the layers anew [P1306 P1504]`,
    (at) =>
      Effect.gen(function* () {
        const { asked, exit, hasDied, log } = yield* play({ at, when })
        assert.isTrue(hasDied)
        assert.deepStrictEqual(exit.toJSON(), success)
        const [outer = 0, inner = 0] = asked()
        const repeated = outer + inner - 5 + (worked(log).length - 2)
        assert.isAtMost(repeated, when === "before" ? 0 : 1)
        assert.isTrue(isClosed(log))
        // at the first step, no agent has begun
        assert.isAtLeast(log.filter((line) => line === "front opens").length, at === 1 ? 1 : 2)
      })
  )
}
