/** When the last turn of a run comes, by what its last reply has spent, and when that reply is the answer. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Message, Model, Recovery, Skill, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { batch, done, eventLog, overADay, scripted } from "../../_support/dialogue.ts"
import { namedModel, overloaded } from "../../_support/namedModels.ts"
import { looking, seen, worker } from "../budget/_support/limitedAgents.ts"
import { spending } from "./_support/spending.ts"

const { call, calls, fails, make, replies, reply, text } = ScriptedModel

const look = () => scripted("look", ...seen(9)).tool

const answering = Agent.onBudgetExceeded(() => Budget.answer)

const reserving = (outputTokens: number) => Agent.onBudgetExceeded(() => Budget.answer, { reserve: { outputTokens } })

it.run("the last turn has the time that is left, whenever the run has begun [P1593]", (run) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("2 days")
    for (const maxDuration of ["1 hour", "Infinity"] as const) {
      const model = yield* make(batch("look"), fails(overloaded()), text("so far"))
      const agent = worker({ maxTurns: 1, maxDuration }, look()).pipe(
        Agent.onLlmError({ orElse: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) }),
        answering
      )
      const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(exit, Exit.succeed("so far"))
    }
  })
)

it.run("a reserve is reckoned by the last reply of the run itself, and not by a sub-agent's [P1591]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(spending(100))
    const child = Agent.make("child", { model: inner.layer })
    const log = eventLog()
    const agent = Agent.make("worker", {
      budget: { maxTokens: 140 },
      skills: [Skill.make("ask", { description: "Asks.", tools: [Agent.asTool(child, { description: "Asks." })] })]
    }).pipe(reserving(5), log.listen)
    // 15 and 105 are spent, and 10 of input and 5 of output would be 135
    const model = yield* make(calls(call("child", { input: "why?" })), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(log.of("budget-exceeded"), [])
  })
)

it.run("what the transport has sent more than once does not count for it [P1591]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const usage = Usage.make({ inputTokens: 100, outputTokens: 5 })
    const resent = Usage.make({ inputTokens: 90 })
    // 105 are spent, and 10 of input and 5 of output would be 120
    const model = yield* make(replies(reply({ content: [call("look", {})], usage, resent })), done)
    const agent = worker({ maxTokens: 130 }, look()).pipe(reserving(5), log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(log.of("budget-exceeded"), [])
  })
)

it.run("of several models it has the price of the one that has replied [P1591]", (run) =>
  Effect.gen(function* () {
    const priced = (service: Model.Service, input: number, output: number): Model.Service => ({
      ...service,
      price: { usdPerMillionTokens: { input, output } }
    })
    const cheap = yield* namedModel("cheap", ...Array.from({ length: 4 }, () => fails(overloaded())))
    const dear = yield* namedModel("dear", ...looking(3), text("so far"))
    const log = eventLog()
    // a reply of the second model costs 20: 60 are spent, and 10 of input and 6 of output would pass 80
    const agent = worker({ maxCost: 80 }, look()).pipe(reserving(6), log.listen)
    const model = Model.fallback(priced(cheap.service, 1, 1), priced(dear.service, 1e6, 2e6))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provideService(Model.Model, model)), "so far")
    assert.deepInclude(log.end(), { endedBy: { reason: "maxCost", limit: 80 } })
  })
)

it.run("a reply at the limit is the answer if it is whole, fits and calls nothing [P1593]", (run) =>
  Effect.gen(function* () {
    const typed = Agent.make("worker", { budget: { maxTokens: 10 }, output: Schema.Struct({ n: Schema.Finite }) })
    const said = (input: Partial<Message.Reply>) => replies(reply(input))
    const one = [Message.text('{"n":1}')]
    for (const [finish, n] of [
      ["stop", 1],
      ["length", 2],
      ["paused", 2]
    ] as const) {
      const model = yield* make(said({ content: one, finish }), ...(n === 1 ? [] : [text('{"n":2}')]))
      assert.deepStrictEqual(yield* run(answering(typed), "go").pipe(Effect.provide(model.layer)), { n })
      assert.lengthOf(model.requests, n)
    }
    const model = yield* make(said({ content: [Message.text("I look"), call("look", {})] }), text("so far"))
    const agent = worker({ maxTokens: 10 }, look()).pipe(answering)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "so far")
  })
)
