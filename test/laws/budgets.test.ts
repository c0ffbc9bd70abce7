import { assert } from "@effect/vitest"
import { Agent, Budget, type Ledger, type Message, Model, RunError, Skill, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Schema, Stream } from "effect"
import fc from "fast-check"
import { toParts } from "../../packages/core/src/testing/ScriptedModel.ts"
import { lawOfRuns } from "./_support/runs.ts"
import { law } from "../_support/laws.ts"

const usage: fc.Arbitrary<Usage.Usage> = fc.record({
  inputTokens: fc.nat(1_000_000),
  outputTokens: fc.nat(1_000_000),
  cachedInputTokens: fc.nat(1_000_000),
  cacheWriteTokens: fc.nat(1_000_000),
  reasoningTokens: fc.nat(1_000_000)
})

law("usage is a commutative monoid under addition [P703]", fc.tuple(usage, usage, usage), ([a, b, c]) =>
  Effect.sync(() => {
    assert.deepStrictEqual(Usage.add(a, Usage.add(b, c)), Usage.add(Usage.add(a, b), c))
    assert.deepStrictEqual(Usage.add(a, b), Usage.add(b, a))
    assert.deepStrictEqual(Usage.add(a, Usage.empty), a)
    assert.strictEqual(Usage.total(Usage.add(a, b)), Usage.total(a) + Usage.total(b))
  })
)

law(
  "the cost of what was cached is part of the cost of the input, and costs add up [P703]",
  fc.record({ a: usage, input: fc.nat(100), output: fc.nat(100) }),
  ({ a, input, output }) =>
    Effect.sync(() => {
      const price = { usdPerMillionTokens: { input, output } }
      const plain = { ...a, cachedInputTokens: 0, cacheWriteTokens: 0 }
      const expected = (a.inputTokens * input + a.outputTokens * output) / 1e6
      assert.approximately(Budget.costOf(price, plain), expected, 1e-9)
      const cached = { ...plain, cachedInputTokens: a.inputTokens }
      assert.approximately(Budget.costOf(price, cached), expected, 1e-9)
      assert.approximately(
        Budget.costOf({ usdPerMillionTokens: { input, output, cachedInput: 0 } }, cached),
        (a.outputTokens * output) / 1e6,
        1e-9
      )
    })
)

/** A model that makes these calls for so many turns of each run, then answers. */
const working = (counter: { asked: number }, turns: number, calls: ReadonlyArray<Message.ToolCall>) => {
  const generate = ({ messages }: Model.Request) =>
    Effect.sync(() => {
      counter.asked++
      const isOver = messages.filter(({ role }) => role === "assistant").length >= turns
      return ScriptedModel.reply({ content: isOver ? [{ type: "text", text: "done" }] : calls })
    })
  return Layer.succeed(Model.Model, {
    name: "scripted",
    provider: "test",
    generate,
    stream: (request) => Stream.unwrap(Effect.map(generate(request), (reply) => Stream.fromIterable(toParts(reply))))
  })
}

const ask = (agent: (input: string) => Effect.Effect<string, unknown>) =>
  Tool.make("ask", {
    description: "Asks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => agent("go")
  })

lawOfRuns(
  "concurrent descendants, at any depth, never spend more together than their ancestor may [L307 L306]",
  fc.record({
    children: fc.integer({ min: 1, max: 6 }),
    between: fc.nat(2),
    turns: fc.integer({ min: 1, max: 5 }),
    maxTurns: fc.integer({ min: 1, max: 20 }),
    maxToolCalls: fc.integer({ min: 1, max: 20 }),
    maxTokens: fc.integer({ min: 15, max: 400 })
  }),
  Effect.fnUntraced(function* ({ between, children, maxTokens, maxToolCalls, maxTurns, turns }, run) {
    const counter = { asked: 0 }
    let worked = 0
    const work = Tool.make("work", {
      description: "Works.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => `worked ${++worked}`)
        )
    })
    const budget = { maxTurns: 100, maxToolCalls: 100 }
    let descendant: (input: string) => Effect.Effect<string, unknown> = Agent.make("child", {
      budget,
      model: working(counter, turns, [ScriptedModel.call("work", {}, "c")]),
      skills: [Skill.make("work", { description: "Works.", tools: [work] })]
    })
    for (let level = 0; level < between; level++) {
      descendant = Agent.make("between", {
        budget,
        model: working(counter, 1, [ScriptedModel.call("ask", {}, "b")]),
        skills: [Skill.make("ask", { description: "Asks.", tools: [ask(descendant)] })]
      })
    }
    const calls = Array.from({ length: children }, (_, index) => ScriptedModel.call("ask", {}, `c${index}`))
    const entries: Array<Ledger.Entry> = []
    const parent = Agent.make("parent", {
      model: working(counter, 1, calls),
      budget: { maxTurns, maxToolCalls, maxTokens },
      skills: [Skill.make("ask", { description: "Asks.", tools: [ask(descendant)] })]
    }).pipe(
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if ("ledger" in event && event.parent === undefined) entries.push(...event.ledger)
        })
      )
    )
    const exit = yield* Effect.exit(run(parent, "go"))
    assert.isAtMost(counter.asked, maxTurns)
    // what is in flight in each of the runs may go beyond it
    assert.isAtMost(15 * counter.asked, maxTokens + 15 * (children + 1))
    assert.isAtMost(worked, maxToolCalls)
    assert.strictEqual(entries.length, counter.asked)
    const neededTurns = 2 + children * (turns + 1 + 2 * between)
    const neededCalls = children * (1 + between + turns)
    const isEnough = maxTurns >= neededTurns && maxToolCalls >= neededCalls && maxTokens >= 15 * neededTurns
    // the limits are those of all, so what is too little for all of them ends the run
    assert.strictEqual(Exit.isSuccess(exit), isEnough)
    if (Exit.isSuccess(exit)) return
    const error = Cause.squash(exit.cause)
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.agent, "parent")
    assert.strictEqual(error.usage.inputTokens, 10 * counter.asked)
  })
)
