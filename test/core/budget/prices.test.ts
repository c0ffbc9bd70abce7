/** What models cost: where a price comes from, and what a limit of cost does without one. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Message, Model, Recovery, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { done, eventLog, scripted } from "../../_support/dialogue.ts"

const { call, make, replies, reply, text } = ScriptedModel

const dollar = { usdPerMillionTokens: { input: 1e6, output: 1e6 } } as const

/** A scripted model with a price of its own. */
const priced = Effect.fnUntraced(function* (
  price: Model.Service["price"],
  ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
) {
  const { layer, requests } = yield* make(...steps)
  const service = yield* Effect.provide(Effect.service(Model.Model), layer)
  const model: Model.Service = { ...service, ...(price === undefined ? {} : { price }) }
  return { requests, layer: Layer.succeed(Model.Model, model) }
})

it.run(
  "a limit of cost fails before the first request of a model without a price, and names both [P1382 A904]",
  (run) =>
    Effect.gen(function* () {
      const model = yield* make(text("hi"))
      for (const prices of [undefined, { other: dollar }]) {
        const log = eventLog()
        const budget = { maxCost: 1, ...(prices === undefined ? {} : { prices }) }
        const agent = Agent.make("worker", { budget }).pipe(log.listen)
        const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
        assert.include(error, { _tag: "UnknownPriceError", agent: "worker", model: "scripted", option: "maxCost" })
        assert.include(error.message, "maxCost of agent 'worker' needs the price of model 'scripted'")
        assert.deepInclude(log.end() ?? {}, { type: "run-failed", error, isDefect: false })
      }
      assert.lengthOf(model.requests, 0)
      const any = Agent.make("worker", { budget: { maxCost: 100, prices: { "*": dollar } } })
      assert.strictEqual(yield* run(any, "go").pipe(Effect.provide(model.layer)), "hi")
    })
)

it.run("an unknown price under the limit of a caller ends the caller, past every table [P1382 A113]", (run) =>
  Effect.gen(function* () {
    const first = ScriptedModel.calls(call("ask", { input: "so?" }))
    const model = yield* priced(dollar, first)
    const inner = yield* make()
    const expert = Agent.make("expert", { model: inner.layer })
    const tool = Agent.asTool(expert, { name: "ask", description: "Asks." })
    const agent = Agent.make("worker", { budget: { maxCost: 1000 }, tools: [tool] }).pipe(
      Agent.onToolError({ ask: { orElse: Recovery.tell() } })
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.include(error, { _tag: "UnknownPriceError", agent: "worker", model: "scripted" })
    assert.strictEqual(inner.requests.length, 0)
    // the reply of the caller is in the usage and in the transcript
    assert.strictEqual((error as { usage: { inputTokens: number } }).usage.inputTokens, 10)
  })
)

it.run("a model of one turn needs a price as well [P1382 P1550]", (run) =>
  Effect.gen(function* () {
    const model = yield* priced(dollar)
    const other = yield* make()
    const agent = Agent.make("worker", { budget: { maxCost: 1000 } }).pipe(
      Agent.prepareTurn(() => Effect.succeed({ model: other.layer }))
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.include(error, { _tag: "UnknownPriceError" })
    assert.deepStrictEqual([model.requests.length, other.requests.length], [0, 0])
  })
)

it.run(
  "a price of the budget with the name of the model comes first, then that of its layer, then that of all [P1382]",
  (run) =>
    Effect.gen(function* () {
      const two = { usdPerMillionTokens: { input: 2e6, output: 2e6 } }
      for (const [own, prices, cost] of [
        [dollar, { scripted: two, "*": dollar }, 30],
        [dollar, { "*": two }, 15],
        [undefined, { "*": two }, 30],
        [dollar, undefined, 15]
      ] as const) {
        const model = yield* priced(own, done)
        const log = eventLog()
        const agent = Agent.make("worker", { budget: { maxCost: 1e9, ...(prices === undefined ? {} : { prices }) } })
        yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
        assert.deepInclude(log.end() ?? {}, { type: "run-completed" })
        const [end] = log.of("model-end")
        assert.strictEqual(end?.entry.cost, cost)
      }
    })
)

it.run("the price of a long context is that of all tokens of the request [P1382]", (run) =>
  Effect.gen(function* () {
    const own = { ...dollar, longContext: { overInputTokens: 10, usdPerMillionTokens: { input: 3e6, output: 4e6 } } }
    for (const [inputTokens, cost] of [
      [10, 15],
      [11, 53]
    ] as const) {
      const usage = Usage.make({ inputTokens, outputTokens: 5 })
      const model = yield* priced(own, replies(reply({ content: [Message.text("so")], usage })))
      const log = eventLog()
      yield* run(Agent.make("worker", {}).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      const [end] = log.of("model-end")
      assert.strictEqual(end?.entry.cost, cost)
    }
  })
)

it.run("a provider that reports the cost needs no price, and its cost counts [P1382]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("so"))
    const model = yield* priced("reported", replies(reply({ content: [call("look", {})], cost: 2 })))
    const agent = Agent.make("worker", { budget: { maxCost: 1 }, tools: [tool] })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.include(error, { _tag: "BudgetExceededError", reason: "maxCost", spent: 2 })
    assert.include((error as Error).message, "its limit of 1 US dollars")
  })
)

it.run(
  "a reply without the cost that its provider reports is an unknown price, or has that of all models [P1382]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = scripted("look", Effect.succeed("so"))
      for (const prices of [undefined, { "*": dollar }]) {
        const model = yield* priced(
          "reported",
          ScriptedModel.calls(call("look", {})),
          ...(prices === undefined ? [] : [done])
        )
        const log = eventLog()
        const budget = { maxCost: 1000, ...(prices === undefined ? {} : { prices }) }
        const agent = Agent.make("worker", { budget, tools: [tool] }).pipe(log.listen)
        const exit = yield* Effect.result(run(agent, "go").pipe(Effect.provide(model.layer)))
        if (prices !== undefined) {
          assert.deepInclude(exit, { success: "done" })
          assert.strictEqual(log.of("model-end")[0]?.entry.cost, 15)
          continue
        }
        const error = yield* Effect.flip(Effect.fromResult(exit))
        assert.include(error, { _tag: "UnknownPriceError", agent: "worker", model: "scripted", option: "maxCost" })
        assert.lengthOf(model.requests, 1)
      }
      const free = yield* priced("reported", done)
      assert.strictEqual(yield* run(Agent.make("worker", {}), "go").pipe(Effect.provide(free.layer)), "done")
    })
)

it("what is no price is refused by name [P1382]", () => {
  const untyped = Budget.make as (limits: unknown) => unknown
  for (const [price, says] of [
    [5, "Budget: the price of 'm' must be a price, as in { usdPerMillionTokens: { input: 1, output: 5 } }, got number"],
    [{ input: 1, output: 2 }, "Budget: the price of 'm' must be a price, as in"],
    [{ usdPerMillionTokens: { input: 1 } }, "Budget: the price of 'm': output must be US dollars of at least 0"],
    [{ usdPerMillionTokens: { input: Number.NaN, output: 1 } }, "the price of 'm': input must be US dollars"],
    [{ ...dollar, longContext: { usdPerMillionTokens: { input: -1, output: 1 } } }, "the price of 'm': input must be"],
    [{ ...dollar, longContext: {} }, "Budget: the price of 'm' must be a price"],
    [{ ...dollar, longContext: { ...dollar, overInputTokens: Number.NaN } }, "'m': overInputTokens must be a number"],
    [{ ...dollar, longContext: dollar }, "'m': overInputTokens must be a number of tokens"],
    [{ ...dollar, usdPerItem: { search: -5 } }, "'m': usdPerItem must be US dollars of at least 0 by kinds of items"],
    [{ ...dollar, usdPerItem: { search: Number.NaN } }, "'m': usdPerItem must be US dollars"],
    [{ ...dollar, tiers: { fast: -1 } }, "'m': tiers must be factors of at least 0 by tiers of service"],
    [{ ...dollar, usdPerItem: 5 }, "'m': usdPerItem must be US dollars"],
    [{ ...dollar, asOf: "26.11.2020" }, "'m': asOf must be a day, as in '2026-11-26', got '26.11.2020'"],
    [{ ...dollar, asOf: "2026-99-26" }, "'m': asOf must be a day"],
    // dates, but no days
    [{ ...dollar, asOf: "November 26, 2026" }, "'m': asOf must be a day"],
    [{ ...dollar, asOf: "2026-11-26T10:00" }, "'m': asOf must be a day"],
    [{ ...dollar, asOf: "+002026-11-26" }, "'m': asOf must be a day"],
    [{ usdPerMillionTokens: { input: 1, output: 1, cachedInput: -1 } }, "'m': cachedInput must be US dollars"],
    [{ usdPerMillionTokens: { input: 1, output: 1, cacheWrite: "1" } }, "'m': cacheWrite must be US dollars"],
    [{ ...dollar, asOf: 5 }, "'m': asOf must be a day"]
  ] as const)
    assert.throws(() => untyped({ prices: { m: price } }), says)
  const tokens = { usdPerMillionTokens: { input: 0, output: 1, cachedInput: 0, cacheWrite: 2 } }
  const whole = { ...tokens, usdPerItem: { search: 0 }, tiers: { fast: 0 }, asOf: "2026-11-26" }
  const prices = { m: { ...whole, longContext: { ...tokens, overInputTokens: 0 } } }
  assert.deepStrictEqual(untyped({ prices }), { ...Budget.make(), prices })
})
