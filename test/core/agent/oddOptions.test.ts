/** Options that are one of a few texts, given by JavaScript. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Stream } from "effect"

const agent = Agent.make("worker", {})

it("an `onPartial` or a `continueBy` that is none is refused when the agent is made [P1560]", () => {
  const rows = { NetworkError: Recovery.retry({ retries: 1 }) }
  const made = (options: object) => () => Agent.onLlmError(agent, rows, options)
  assert.throws(made({ onPartial: "x" }), "Agent.onLlmError: onPartial must be 'fail', 'restart', 'continue', got 'x'")
  assert.throws(made({ onPartial: null }), "got null")
  assert.throws(made({ onPartial: "continue", continueBy: "user" }), "continueBy must be 'message', got 'user'")
  for (const onPartial of ["fail", "restart", "continue", undefined]) made({ onPartial, continueBy: undefined })()
})

it.effect("an `incomplete` that is none is a defect that names it [P1563]", () =>
  Effect.gen(function* () {
    const from = [Message.user("go"), { ...Message.assistant("half"), incomplete: true as const }]
    const { layer } = yield* ScriptedModel.make()
    const resumption = { from, incomplete: "x" as "keep" }
    const started = Effect.flatMap(Agent.resume(agent).start(resumption), ({ outcome }) => outcome)
    const ways = [Agent.resume(agent)(resumption), Stream.runDrain(Agent.resume(agent).stream(resumption)), started]
    for (const way of ways) {
      const exit = yield* Effect.exit(Effect.provide(way, layer))
      assert(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      const says = "TypeError: Agent.resume: incomplete must be 'keep', 'continue', 'drop', got 'x'"
      assert.strictEqual(String(Cause.squash(exit.cause)), says)
    }
  })
)
