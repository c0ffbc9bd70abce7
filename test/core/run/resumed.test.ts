/** Which words of the user a run that goes on is about. */
import { assert } from "@effect/vitest"
import { Agent, Message, Router, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { done } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make } = ScriptedModel

it.run("words that are said to a conversation that goes on choose its skill [A911]", (run) =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const skills = ["one", "two"].map((name) =>
      Skill.deterministic(name, {
        description: name,
        run: (input: string) => Effect.sync(() => (heard.push(`${name}: ${input}`), input))
      })
    )
    const agent = Agent.make("worker", { skills }).pipe(
      Agent.route(Router.byRule((input: string) => (input === "second" ? "two" : "one")))
    )
    const from = [Message.user("first"), Message.assistant("done")]
    const model = yield* make()
    assert.strictEqual(
      yield* run(Agent.resume(agent), { from, say: "second" }).pipe(Effect.provide(model.layer)),
      "second"
    )
    assert.deepStrictEqual(heard, ["two: second"])
  })
)

it.effect("words that are said while calls wait choose no other skill, and are not the input [A911]", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const skills = [
      Skill.make("work", { description: "Works.", tools: [paying().tool] }),
      Skill.make("talk", { description: "Talks." })
    ]
    const agent = Agent.make("worker", { skills }).pipe(
      Agent.route(Router.byRule((input: string) => (asked.push(input), "work")))
    )
    const model = yield* make(calls(call("pay", { cents: 1 })), calls(call("pay", { cents: 2 })), done)
    const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = { ...deciding(first), say: "quick" }
    const second = yield* snapshotOf(yield* outcomeOf(Agent.resume(agent), resumed, model))
    assert.deepStrictEqual(asked, ["go"])
    assert.deepStrictEqual([second.inputIndex, second.transcript[second.inputIndex ?? 9]], [0, Message.user("go")])
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), deciding(second), model), { output: "done" })
  })
)

it.effect("a limit of calls that is lower than before ends no reply whose calls were all admitted [A911]", () =>
  Effect.gen(function* () {
    const { runs, tool } = paying()
    const agent = Agent.make("worker", { tools: [tool], budget: { maxToolCalls: 5 } })
    const model = yield* make(calls(call("pay", { cents: 1 }, "c1"), call("pay", { cents: 2 }, "c2")), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const resumed = { ...deciding(from), budget: { maxToolCalls: 1 } }
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), resumed, model), { output: "done" })
    assert.deepStrictEqual(runs, [1, 2])
  })
)
