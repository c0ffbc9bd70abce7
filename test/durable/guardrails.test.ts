/** Guardrails of a durable run: their verdicts are steps, which no replay and no other process asks for once more. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Schema } from "effect"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"

/** A run with a check of the input and one of the answer, and how often each was asked. */
const play = (death?: { readonly at: number; readonly when: "before" | "after" }) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const model = reading("outer", (turn) => (turn === 0 ? [call("look")] : [Message.text("all done")]))
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "none",
      run: () => Effect.succeed("seen")
    })
    const check = ({ side, text }: Agent.Checked) =>
      Effect.sync(() => {
        asked.push(`${side}: ${text}`)
        return Agent.guard.pass
      })
    const agent = Agent.make("worker", { model: model.layer, tools: [look], budget: { maxDuration: "2 days" } }).pipe(
      Agent.guardInput(check),
      Agent.guardInput(check, { mode: "before" }),
      Agent.guardOutput(check)
    )
    const durable = Durable.workflow(agent, { name: "guarded", input: Schema.String, output: Schema.String })
    const { exit } = yield* surviving(durable, durable.layer, death)
    return { asked, exit }
  })

it.effect("whenever the process dies, a verdict that was recorded is asked for once [P1599]", () =>
  Effect.gen(function* () {
    const whole = ["input: go", "input: go", "output: all done"]
    assert.deepStrictEqual((yield* play()).asked, whole)
    for (let at = 1; at <= 6; at++) {
      for (const when of ["before", "after"] as const) {
        const { asked, exit } = yield* play({ at, when })
        assert.deepStrictEqual(exit, Exit.succeed("all done"))
        // the one that was under way is asked once more
        assert.isAtMost(asked.length, whole.length + 1, `${at} ${when}`)
        assert.includeMembers(asked, whole)
      }
    }
  })
)
