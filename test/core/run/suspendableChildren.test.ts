/** Agents of all kinds as tools of a run that is suspended. */
import { assert, it } from "@effect/vitest"
import { Agent, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { agentWith, done, read, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

it.effect(
  "of the agents that are tools the one with a loop waits with the run; functions and compositions end [P902]",
  () =>
    Effect.gen(function* () {
      const description = "Does it."
      const pay = scripted("pay", Effect.succeed("paid"))
      const said: Array<string> = []
      const speaking = (name: string) =>
        Agent.deterministic(name, (input: string) => Effect.sync(() => `${name} ${said.push(input)}`))
      const tools = [
        Agent.asTool(agentWith(pay.tool.pipe(Tool.requireApproval())), { name: "loop", description }),
        Agent.asTool(speaking("one"), { description }),
        Agent.asTool(
          Agent.map(speaking("two"), (answer) => `${answer}!`),
          { name: "two", description }
        )
      ] as const
      const boss = Agent.make("boss", { skills: [Skill.make("b", { description: "B.", tools })] })
      const childCalls = ["loop", "one", "two"].map((name) => call(name, { input: `go, ${name}` }, name))
      const model = yield* make(calls(...childCalls), calls(call("pay", {}, "p")), text("paid for"), done)
      const from = yield* snapshotOf(yield* outcomeOf(boss, "go", model))
      assert.deepStrictEqual(
        Snapshot.requestsOf(from).map(({ agent, tool }) => [agent, tool]),
        [["worker", "pay"]]
      )
      assert.deepInclude(yield* outcomeOf(Agent.resume(boss), deciding(from), model), { _tag: "Completed" })
      assert.deepStrictEqual(read(model), ["result: paid for", "result: one 1", "result: two 2!"])
      assert.deepStrictEqual(said, ["go, one", "go, two"])
      assert.strictEqual(pay.runs.length, 1)
    })
)
