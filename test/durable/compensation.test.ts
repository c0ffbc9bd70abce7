import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, type Message, Model, Skill, Tool, ToolError, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { describe } from "vitest"
import type { Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { Gone } from "./_support/scenarios.ts"
import { streaming } from "./_support/readingModel.ts"

/** It books a car, then a room, and then something that fails. */
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "reading",
    provider: "test",
    generate: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length
      const call: Message.ToolCall = {
        type: "tool-call",
        id: "one",
        name: ["car", "room", "fail"][turn] ?? "",
        arguments: {}
      }
      return Effect.succeed({ content: [call], finish: "tool-calls", usage: Usage.empty })
    }
  })
)

const play = (death: Death) =>
  Effect.gen(function* () {
    const undone: Array<string> = []
    const compensated: Array<AgentEvent.OfType<"tool-compensated">> = []
    const about = { parameters: Schema.Struct({}), success: Schema.String, failure: Gone } as const
    const booking = <const Name extends string>(name: Name) =>
      Tool.make(name, { ...about, description: "Books.", run: () => Effect.succeed(`a ${name}`) }).pipe(
        Tool.compensate(({ result }) => Effect.sync(() => void undone.push(result)))
      )
    const fail = Tool.make("fail", {
      ...about,
      description: "Fails.",
      run: () => Effect.fail(new Gone({ message: "gone" }))
    })
    const skill = Skill.make("work", { description: "Works.", tools: [booking("car"), booking("room"), fail] })
    const agent = Agent.make("worker", { model, budget: { maxDuration: "1 day" }, skills: [skill] }).pipe(
      Agent.onEvent((event) => Effect.sync(() => void (event.type === "tool-compensated" && compensated.push(event))))
    )
    const durable = Durable.workflow(agent, {
      name: "saga",
      input: Schema.String,
      output: Schema.String,
      error: Gone
    })
    const outcome = yield* surviving(durable, durable.layer, death)
    return { ...outcome, compensated, undone }
  })

/** Model and tool of three turns, the beginning, and two to undo each of two things. */
const steps = 1 + 3 * 2 + 2 * 2

describe.each(["before", "after"] as const)("a death %s what a step does", (when) => {
  it.effect.each(Array.from({ length: steps }, (_, index) => index + 1))(
    "at step %s: another process undoes the rest, the last thing first, and nothing twice [P1121]",
    (at) =>
      Effect.gen(function* () {
        const { exit, hasDied, compensated, undone } = yield* play({ at, when })
        assert.isTrue(hasDied)
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Gone)
        // a compensation that was announced when its process died: it is unknown whether it took effect, and it does not begin anew
        const uncertain = at === steps - 2 ? "room" : at === steps ? "car" : undefined
        const failed = compensated.filter(({ error }) => error !== undefined)
        assert.deepStrictEqual(
          failed.map(({ tool }) => tool),
          uncertain === undefined ? [] : [uncertain]
        )
        for (const { error } of failed) assert.instanceOf(error, ToolError.OutcomeUnknownError)
        const expected = ["a room", "a car"].filter((what) => when === "after" || what !== `a ${uncertain}`)
        assert.deepStrictEqual(undone, expected)
      })
  )
})
