/** Deferred calls of a run that answers at its limit. */
import { assert, it as effectIt } from "@effect/vitest"
import { Agent, Budget, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber } from "effect"
import { deferring } from "../tool/_support/deferring.ts"
import { it } from "../../_support/run.ts"
import { calm, settlements } from "../../_support/dialogue.ts"
import { outcomeOf } from "../../_support/suspension.ts"

const { call, calls, make, text } = ScriptedModel

/** A deferred call, beside a sub-agent whose reply passes the limit of the run. */
const limited = () =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring()
    const helper = Agent.make("helper", { skills: [Skill.make("help", { description: "Helps.", tools: [] })] })
    const ask = Agent.asTool(helper, { description: "Helps." })
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day", maxTokens: 20 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool, ask] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    const model = yield* make(
      calls(call("order", {}, "c1"), call("helper", { input: "go" }, "c2")),
      text("too much"),
      text("half of it")
    )
    return { agent, cancelled, model, tokenOf }
  })

const isOver = (token: string) =>
  Effect.map(Tool.settle(token, Exit.succeed({ at: 1 })), (receipt) => assert.strictEqual(receipt._tag, "NotCounted"))

it.run("the wait of a deferred call ends before the last turn, and its work is cancelled [P1526 P1594]", (run) =>
  Effect.gen(function* () {
    const { agent, cancelled, model, tokenOf } = yield* limited()
    const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("half of it"))
    assert.match(settlements(model.requests.at(-1)?.messages ?? [])[0] ?? "", /^interrupted: /)
    yield* isOver(tokenOf())
  })
)

effectIt.effect("so it is where the run would have been suspended with the call [P1526 P1594]", () =>
  Effect.gen(function* () {
    const { agent, cancelled, model, tokenOf } = yield* limited()
    const outcome = yield* outcomeOf(agent, "go", model)
    assert(outcome._tag === "Completed")
    assert.strictEqual(outcome.output, "half of it")
    assert.deepStrictEqual(cancelled, [1])
    yield* isOver(tokenOf())
  })
)
