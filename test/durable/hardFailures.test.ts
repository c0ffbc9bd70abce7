import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Schema } from "effect"
import { describe } from "vitest"
import type { Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** A tool ends the run after 5 seconds, while another waits 2 and 4 seconds for its retries. */
const story = () => {
  const model = reading("outer", () => [call("raise"), call("flaky")])
  const runs: Array<string> = []
  const ends: Array<string> = []
  const tool = <const Name extends string>(name: Name, millis: number) =>
    Tool.make(name, {
      description: `The tool ${name}.`,
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Busy,
      run: (_, { attempt }): Effect.Effect<string, Busy> =>
        Effect.sleep(millis).pipe(
          Effect.flatMap(() => {
            runs.push(`${name} ${attempt}`)
            return Effect.fail(new Busy({ message: name }))
          })
        )
    })
  const tools = [
    tool("raise", 5000).pipe(Tool.onError({ Busy: Recovery.raise })),
    tool("flaky", 0).pipe(
      Tool.onError({
        Busy: Recovery.ladder(
          Recovery.retry({ retries: 5, initialBackoff: "2 seconds" }),
          Recovery.tell(() => "told")
        )
      })
    )
  ] as const
  const agent = Agent.make("worker", {
    model: model.layer,
    budget: { maxDuration: "2 days" },
    skills: [Skill.make("work", { description: "Works.", tools })]
  }).pipe(
    Agent.onEvent((event) =>
      Effect.sync(() => {
        if (event.type !== "run-failed") return
        for (const message of event.transcript) {
          if (message.role !== "assistant") continue
          for (const part of message.content) {
            if (part.type === "settled-call") ends.push(`${part.settlement.kind}: ${part.settlement.text}`)
          }
        }
      })
    )
  )
  return { agent, asked: model.asked, ends, runs }
}

const play = (death: Death | undefined) =>
  Effect.gen(function* () {
    const { agent, ...seen } = story()
    const durable = Durable.workflow(agent, { name: "story", input: Schema.String, output: Schema.String })
    return { ...seen, ...(yield* surviving(durable, durable.layer, death, [])) }
  })

// Finds out nothing of its own: it is the run of the test below, without a death
it.effect("a sibling of a hard failure is not repeated in a durable run, after its wait [P1350]", () =>
  Effect.gen(function* () {
    const { asked, ends, exit, runs } = yield* play(undefined)
    assert.strictEqual(exit._tag, "Failure")
    assert.deepStrictEqual(runs, ["flaky 1", "flaky 2", "raise 1"])
    assert.deepStrictEqual(ends, ["told: ERROR: raise", "told: told"])
    assert.strictEqual(asked(), 1)
  })
)

describe.each(["before", "after"] as const)("a death %s what a step does", (when) => {
  // Finds out nothing of its own: its subject is what core begins after a hard failure, after a death at each step
  it.effect.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "at step %s: what was done before the hard failure is replayed, and nothing is begun after it [P1350]",
    (at) =>
      Effect.gen(function* () {
        const { ends, exit, runs } = yield* play({ at, when })
        assert.strictEqual(exit._tag, "Failure")
        assert.deepStrictEqual(ends.slice(0, 2), ["told: ERROR: raise", "told: told"])
        // what the death has cut off runs once more, if it had begun by the time of the hard failure
        assert.includeMembers(["flaky 2"], runs.slice(runs.lastIndexOf("raise 1") + 1))
      })
  )
})
