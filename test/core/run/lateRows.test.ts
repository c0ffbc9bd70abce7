/** What the rows of a tool make of a deferred call whose run has gone on: how its failure counts, and how its run ends. */
import { assert, it as effectIt } from "@effect/vitest"
import { Agent, Budget, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { agentWith, Declined, deferring } from "../tool/_support/deferring.ts"
import { batch, calm, done, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { outcomeOf } from "../../_support/suspension.ts"

const { answers, call, make, reply, text } = ScriptedModel

const declined = Exit.fail(new Declined({ why: "no" }))

/** The messages of users after the first one, in the last request. */
const saidIn = (model: ScriptedModel.ScriptedModel) =>
  (model.requests.at(-1)?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? [Message.textOf(message)] : []))
    .slice(1)

const slow = () => scripted("slow", Effect.as(Effect.sleep("1 minute"), "fine")).tool

it.run("a failure counts as one of its tool before the rows see the next one [P1524]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const inARow: Array<number> = []
    const Declined = Recovery.when((_error: unknown, { failuresInARow }) => {
      inARow.push(failuresInARow)
      return Recovery.tell()
    })
    const agent = agentWith(tool.pipe(Tool.onError({ Declined })), slow())
    const model = yield* make(batch("order", "order"), batch("slow"), done)
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    yield* Tool.settle(tokenOf(0), declined)
    yield* Tool.settle(tokenOf(1), declined)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.deepStrictEqual(inARow, [0, 1])
  })
)

effectIt.effect("a run that can be suspended is not suspended for a person, as it has gone on [P1524]", () =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const withPerson = tool.pipe(Tool.onError({ Declined: Recovery.ladder(Recovery.ask(), Recovery.tell()) }))
    const model = yield* make(batch("order"), batch("slow"), done)
    const fiber = yield* Effect.forkChild(outcomeOf(agentWith(withPerson, slow()), "go", model))
    yield* calm
    yield* Tool.settle(tokenOf(), declined)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Completed")
    assert.match(saidIn(model)[0] ?? "", /is over. It has failed: <data>permanent: Declined;/)
  })
)

it.run("a limit that a fixer of such a call reaches ends the run [P1524]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const fixed = tool.pipe(Tool.onError({ Declined: Recovery.fix(Agent.make("fixer", {})) }))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day", maxTokens: 40 },
      skills: [Skill.make("work", { description: "Works.", tools: [fixed] })]
    })
    // each reply has 15 tokens: the one of the fixer passes the limit
    const model = yield* make(batch("order"), text("so far"), text('{ "n": 2 }'))
    const fiber = yield* Effect.forkChild(Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* Tool.settle(tokenOf(), declined)
    const error = yield* Fiber.join(fiber)
    assert.deepInclude(error, { _tag: "BudgetExceededError", agent: "worker", reason: "maxTokens", limit: 40 })
  })
)

it.run("the last turn of a run reads a result that has come during the turn before [P1524 P1594]", (run) =>
  Effect.gen(function* () {
    const { tokenOf, tool } = deferring({ wait: "continue" })
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day", maxTokens: 20 },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    const model = yield* make(
      batch("order"),
      answers(() => Effect.delay(Effect.succeed(reply({ content: [call("order", {}, "c2")] })), "1 minute")),
      text("half of it")
    )
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* calm
    yield* Tool.settle(tokenOf(), Exit.succeed({ at: 7 }))
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* Fiber.join(fiber), "half of it")
    assert.match(saidIn(model)[0] ?? "", /is over. Its result: <data>{"at":7}<\/data>$/)
  })
)
