/** The message that tells the model why its answer was withheld. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Duration, Effect } from "effect"
import { it } from "../../_support/run.ts"

const { make, text } = ScriptedModel

const usual =
  "Your last answer was withheld, and the user has not seen it: it is bad. Give another answer that keeps to this."

const guarded = Agent.make("clerk", {}).pipe(
  Agent.guardOutput(({ text }) => (text === "bad" ? Agent.guard.block("it is bad") : Agent.guard.pass))
)

it.run("a row that tells writes it itself; the usual text comes in the place of one that says nothing [P1598]", (run) =>
  Effect.gen(function* () {
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [" Try this. ", " Try this. "],
      [Effect.succeed("Try that."), "Try that."],
      ["", usual],
      [" \n", usual],
      [Effect.succeed(" "), usual],
      [Effect.succeed(7), usual],
      [Effect.fail("lost"), usual]
    ]
    for (const [said, expected] of cases) {
      // as from JavaScript
      const render = (() => said) as () => string
      const model = yield* make(text("bad"), text("good"))
      const agent = guarded.pipe(Agent.onGuardrail({ output: Recovery.tell(render) }))
      assert.strictEqual(yield* run(agent, "hi").pipe(Effect.provide(model.layer)), "good")
      assert.deepStrictEqual(model.requests[1]?.messages.at(-1), Message.user(expected))
    }
  })
)

it.run("the function that writes it counts the withheld answers, and has no other failures [P1598]", (run) =>
  Effect.gen(function* () {
    const contexts: Array<unknown> = []
    const render = (_: unknown, context: unknown) => {
      contexts.push(context)
      return "Try again."
    }
    const model = yield* make(text("bad"), text("bad"), text("good"))
    const agent = guarded.pipe(Agent.onGuardrail({ output: Recovery.tell(render) }, { retries: 2 }))
    yield* run(agent, "hi").pipe(Effect.provide(model.layer))
    const none = { previous: [], elapsed: Duration.zero, failingBatches: 0, failuresInARow: 0 }
    assert.deepStrictEqual(contexts, [
      { attempt: 1, ...none },
      { attempt: 2, ...none }
    ])
  })
)
