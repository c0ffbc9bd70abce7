/** The limits of a run that `Agent.compactAt` meets while it shortens the conversation. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Compaction, LlmError, Message, Recovery, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Ref } from "effect"
import { it } from "../../_support/run.ts"
import { done, eventLog, scripted } from "../../_support/dialogue.ts"
import { spending } from "./_support/spending.ts"

const { call, calls, fails, make, text } = ScriptedModel

const chat = ["one", "two"].flatMap((word) => [
  Message.user(`${word} `.repeat(90)),
  Message.assistant(`${word} `.repeat(90))
])

const look = () => scripted("look", Effect.succeed("page ".repeat(100))).tool

it.run("a compaction takes no turn that the run needs for its own replies: the run goes on without it [P1572]", (run) =>
  Effect.gen(function* () {
    // [turns, turns that the run needs, summaries, turns without a compaction]
    const cases = [
      [1, 1, 0, [1]],
      [2, 2, 0, [1, 2]],
      [3, 2, 1, [2]],
      [4, 2, 1, [2]],
      [5, 2, 2, []]
    ] as const
    for (const [maxTurns, needed, summaries, without] of cases) {
      const asks = Ref.makeUnsafe(0)
      const summing = yield* make(...Array.from({ length: summaries }, () => text("s")))
      const summer = Agent.make("summer", { model: summing.layer })
      const model = yield* make(...(needed === 1 ? [] : [spending(1, 1, "look")]), done)
      const log = eventLog()
      const agent = Agent.make("worker", { tools: [look()], budget: { maxTurns } }).pipe(
        Agent.compactAt({ window: 10, with: Compaction.summarise(summer, { keepLast: 1 }) }),
        Agent.onBudgetExceeded(() =>
          Effect.as(
            Ref.update(asks, (n) => n + 1),
            Budget.stop
          )
        ),
        log.listen
      )
      assert.strictEqual(
        yield* run(Agent.resume(agent), { from: chat, input: "hi" }).pipe(Effect.provide(model.layer)),
        "done"
      )
      assert.lengthOf(summing.requests, summaries)
      const events = log.of("not-compacted")
      assert.deepStrictEqual(
        events.map(({ turn }) => turn),
        [...without],
        `${maxTurns}`
      )
      for (const { error, why } of events) {
        assert.strictEqual(why, "failed")
        assert.instanceOf(error, RunError.BudgetExceededError)
        assert.strictEqual(error.reason, "maxTurns")
      }
      // the limit of the compaction is none of the run
      assert.strictEqual(yield* Ref.get(asks), 0)
    }
  })
)

it.run("tokens, costs and tool calls that are used up by a compaction end the compaction alone [P1572]", (run) =>
  Effect.gen(function* () {
    const cases: ReadonlyArray<{
      readonly budget: Budget.Limits
      readonly script: ReadonlyArray<ScriptedModel.ScriptedStep>
      readonly reason: string
      readonly ends: boolean
    }> = [
      { budget: { maxTokens: 100 }, script: [spending(200, 1)], reason: "maxTokens", ends: true },
      {
        budget: { maxCost: 1, prices: { "*": { usdPerMillionTokens: { input: 1e6, output: 1e6 } } } },
        script: [spending(9, 1)],
        reason: "maxCost",
        ends: true
      },
      { budget: { maxToolCalls: 1 }, script: [spending(1, 1, "look", "look")], reason: "maxToolCalls", ends: false }
    ]
    for (const { budget, ends, reason, script } of cases) {
      const summing = yield* make(...script)
      const summer = Agent.make("summer", { tools: [look()], model: summing.layer })
      const model = yield* make(done)
      const log = eventLog()
      const agent = Agent.make("worker", { budget }).pipe(
        Agent.compactAt({ window: 10, with: Compaction.summarise(summer, { keepLast: 1 }) }),
        log.listen
      )
      const exit = yield* Effect.exit(
        run(Agent.resume(agent), { from: chat, input: "hi" }).pipe(Effect.provide(model.layer))
      )
      const [event, ...others] = log.of("not-compacted")
      assert.deepInclude(event?.error, { _tag: "BudgetExceededError", reason })
      assert.deepStrictEqual(others, [])
      // what was spent is spent: the reply under way is made, and what passes the limit then ends the run
      assert.lengthOf(model.requests, 1)
      assert.strictEqual(exit._tag, ends ? "Failure" : "Success")
    }
  })
)

it.run("what an agent has left for its sub-agents ends a compaction of theirs alone, too [P1572]", (run) =>
  Effect.gen(function* () {
    const summing = yield* make(spending(200, 1))
    const summer = Agent.make("summer", { tools: [look()], model: summing.layer })
    const log = eventLog()
    const read = scripted("look", Effect.succeed("one"), Effect.succeed("two"))
    const child = Agent.make("child", { tools: [read.tool] }).pipe(
      Agent.compactAt({ window: 50, with: Compaction.summarise(summer, { keepLast: 1 }) })
    )
    const helping = Agent.asTool(child, { name: "help", description: "Helps." })
    const boss = Agent.make("boss", { tools: [helping], budget: { maxTokens: 100 } }).pipe(log.listen)
    const helped = calls(call("help", { input: "go" }))
    const model = yield* make(helped, spending(5, 1, "look"), spending(45, 1, "look"), done)
    const error = yield* Effect.flip(run(boss, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { _tag: "BudgetExceededError", agent: "boss", reason: "maxTokens" })
    const [event, ...others] = log.of("not-compacted")
    assert.deepInclude(event?.error, { _tag: "BudgetExceededError", agent: "child", reason: "maxTokens", limit: 85 })
    assert.deepStrictEqual(others, [])
    assert.lengthOf(model.requests, 4)
  })
)

it.run("a wait of the compaction for which the run has no time ends the run, as any of its waits does [P1572]", (run) =>
  Effect.gen(function* () {
    const summing = yield* make(fails(LlmError.ModelOverloadedError.make({ model: "scripted" })))
    const summer = Agent.make("summer", { model: summing.layer }).pipe(
      Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) })
    )
    const model = yield* make()
    const log = eventLog()
    const agent = Agent.make("worker", { budget: { maxDuration: "1 second" } }).pipe(
      Agent.compactAt({ window: 10, with: Compaction.summarise(summer, { keepLast: 1 }) }),
      log.listen
    )
    const error = yield* Effect.flip(
      run(Agent.resume(agent), { from: chat, input: "hi" }).pipe(Effect.provide(model.layer))
    )
    assert.deepInclude(error, { _tag: "BudgetExceededError", reason: "maxDuration" })
    assert.deepStrictEqual(log.of("not-compacted"), [])
  })
)
