/** `Agent.compactAt` with a model that counts the tokens of requests. */
import { assert } from "@effect/vitest"
import { Agent, Model, Recovery } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { calm, done, eventLog } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { keepOne, pages, reader, requested } from "../recovery/_support/longConversations.ts"
import { spending } from "./_support/spending.ts"

const { fails, make } = ScriptedModel

type Count = NonNullable<Model.Service["countTokens"]>

/** The models of a layer, with a count, and the requests that were counted. */
const counting = (count: Count, more: Partial<Model.Service> = {}) => {
  const asked: Array<Model.Request> = []
  const countTokens: Count = (request) => {
    asked.push({ ...request, messages: [...request.messages] })
    return count(request)
  }
  const over = (layer: Layer.Layer<Model.Model>) =>
    Layer.effect(
      Model.Model,
      Effect.map(Model.Model, (model) => ({ ...model, ...more, countTokens }))
    ).pipe(Layer.provide(layer))
  return { asked, over }
}

/** It forgets all but one message at 800 of 1,000 tokens. */
const at1000 = Agent.compactAt({ window: 1000, with: keepOne })

/** A page of 38 points: 12 tokens by its estimate, and up to 48. */
const reading = () => reader(38)

it.run("the count of the request decides where the estimate may be wrong, and is not asked for below [P1570]", (run) =>
  Effect.gen(function* () {
    const cases = [
      // 751 and four times 12 are less than 800
      { spent: 751, count: 9000, asked: 0, shortens: false },
      { spent: 752, count: 800, asked: 1, shortens: true },
      { spent: 752, count: 799, asked: 1, shortens: false },
      // the estimate alone would have shortened it
      { spent: 788, count: 799, asked: 1, shortens: false },
      { spent: 900, count: 0, asked: 1, shortens: false },
      { spent: 900, count: 850, asked: 1, shortens: true }
    ]
    for (const { asked, count, shortens, spent } of cases) {
      const model = yield* make(spending(1, 1, "look"), spending(spent - 10, 10, "look"), done)
      const counted = counting(() => Effect.succeed(count))
      const log = eventLog()
      yield* run(reading().pipe(at1000, log.listen), "go").pipe(Effect.provide(counted.over(model.layer)))
      assert.lengthOf(counted.asked, asked, `${spent}`)
      assert.lengthOf(log.of("compacted"), shortens ? 1 : 0, `${spent} ${count}`)
      if (shortens) assert.deepInclude(log.of("compacted")[0], { ahead: { tokens: count, window: 1000 } })
      for (const request of counted.asked) {
        assert.deepInclude(request, { toolChoice: "auto" })
        assert.deepStrictEqual(
          request.tools.map(({ name }) => name),
          ["look"]
        )
        assert.lengthOf(request.messages, 4)
      }
      // it is no attempt, and no entry of the ledger
      assert.lengthOf(log.of("model-start"), 3)
    }
  })
)

it.run("without a count the estimate decides, and the run asks for no other [P1570]", (run) =>
  Effect.gen(function* () {
    const counts: ReadonlyArray<Count> = [
      () => Effect.fail(Factories.serverError("scripted", 1)),
      () => Effect.succeed(Number.NaN),
      () => Effect.succeed(-1),
      () => Effect.die(new Error("oh")),
      () => {
        throw new Error("oh")
      },
      // what an untyped program may give
      (() => 7) as never
    ]
    for (const count of counts) {
      const script = [spending(760, 10, "look"), spending(760, 10, "look"), spending(790, 10, "look"), done]
      const model = yield* make(...script)
      const counted = counting(count)
      const log = eventLog()
      yield* run(reading().pipe(at1000, log.listen), "go").pipe(Effect.provide(counted.over(model.layer)))
      assert.lengthOf(counted.asked, 1)
      assert.deepStrictEqual(
        log.of("compacted").map(({ turn, ahead }) => [turn, ahead?.tokens]),
        [[4, 812]]
      )
    }
  })
)

it.run("a count has 10 seconds [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(spending(1, 1, "look"), spending(790, 10, "look"), done)
    const counted = counting(() => Effect.never)
    const log = eventLog()
    const agent = reading().pipe(at1000, log.listen)
    const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(counted.over(model.layer))))
    yield* calm
    yield* TestClock.adjust("9999 millis")
    yield* calm
    assert.lengthOf(requested(model), 2)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    assert.lengthOf(log.of("compacted"), 1)
  })
)

it.run("the end of the time of the run ends a count [P1570]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(spending(1, 1, "look"), spending(790, 10, "look"))
    const counted = counting(() => Effect.never)
    const log = eventLog()
    const hurried = Agent.make("reader", { tools: [pages(38)], budget: { maxDuration: "2 seconds" } }).pipe(
      at1000,
      log.listen
    )
    const fiber = yield* Effect.forkChild(
      Effect.flip(run(hurried, "go").pipe(Effect.provide(counted.over(model.layer))))
    )
    yield* calm
    yield* TestClock.adjust("2 seconds")
    const error = yield* Fiber.join(fiber)
    assert.strictEqual(error._tag, "BudgetExceededError")
    assert.lengthOf(log.of("compacted"), 0)
  })
)

it.run("of a composed model, the one that has answered last counts [P1570]", (run) =>
  Effect.gen(function* () {
    const busy = Factories.modelOverloaded("scripted")
    const first = yield* make(spending(1, 1, "look"), fails(busy), done)
    const second = yield* make(spending(790, 10, "look"))
    const one = counting(() => Effect.succeed(1), { name: "one" })
    const other = counting(() => Effect.succeed(900), { name: "other" })
    const log = eventLog()
    const layer = Model.fallback(one.over(first.layer), other.over(second.layer))
    yield* run(reading().pipe(at1000, log.listen), "go").pipe(Effect.provide(layer))
    assert.deepStrictEqual([one.asked.length, other.asked.length], [0, 1])
    assert.lengthOf(log.of("compacted"), 1)
  })
)

it.run("functions around a model leave its count as it is [P1570]", (run) =>
  Effect.gen(function* () {
    const wrap: ReadonlyArray<(layer: Layer.Layer<Model.Model>) => Layer.Layer<Model.Model>> = [
      Model.around((attempt) => attempt),
      Model.around({ generate: (reply) => reply, stream: (parts) => parts }),
      Model.onError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) })
    ]
    for (const around of wrap) {
      const model = yield* make(spending(1, 1, "look"), spending(790, 10, "look"), done)
      const counted = counting(() => Effect.succeed(1))
      const layer = around(counted.over(model.layer))
      yield* run(reading().pipe(at1000), "go").pipe(Effect.provide(layer))
      assert.lengthOf(counted.asked, 1)
    }
  })
)
