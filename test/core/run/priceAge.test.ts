/** Old prices: a process warns once. */
import { assert, it } from "@effect/vitest"
import { Agent, type Budget, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Warned, warnOfAge } from "../../../packages/core/src/run/priceAge.ts"
import { done } from "../../_support/dialogue.ts"

const days90 = 90 * 86_400_000
const free = { usdPerMillionTokens: { input: 0, output: 0 } } as const
const priceOf = (asOf: string) => ({ ...free, asOf })

const saidOf = (asOf: string) =>
  `A price of a model is of ${asOf}, more than 90 days ago: update @kintsugi/providers, or give your own in the budget's prices`

/** What is logged by a process that has not warned before. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyArray<unknown>, E, R> =>
  Effect.suspend(() => {
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => void lines.push([logLevel, message]))
    return effect.pipe(
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(Warned, { isSaid: false }),
      Effect.as(lines)
    )
  })

it.effect("a price warns from a millisecond after its 90 days on [P1382]", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(days90)
    assert.deepStrictEqual(yield* logged(warnOfAge([priceOf("1970-01-01")])), [])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(yield* logged(warnOfAge([priceOf("1970-01-01")])), [["Warn", [saidOf("1970-01-01")]]])
    assert.deepStrictEqual(yield* logged(warnOfAge([priceOf("1970-01-02")])), [])
  })
)

it.effect("the first old price is named, once, and a price without a day is never old [P1382]", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(days90 * 9)
    const prices = [undefined, "reported", free, priceOf("1971-01-01"), priceOf("1970-01-01")] as const
    assert.deepStrictEqual(yield* logged(warnOfAge(prices.slice(0, 3))), [])
    const twice = Effect.andThen(warnOfAge(prices), warnOfAge(prices))
    assert.deepStrictEqual(yield* logged(twice), [["Warn", [saidOf("1971-01-01")]]])
  })
)

it.effect("a run warns where it has a limit of cost, and once over several runs [P1382]", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(days90 + 1)
    const scripted = yield* ScriptedModel.make(done, done, done)
    const service = yield* Effect.provide(Effect.service(Model.Model), scripted.layer)
    const model = Layer.succeed(Model.Model, { ...service, price: priceOf("1970-01-01") })
    const runs = (budget: Budget.Limits) => Agent.make("worker", { budget })("go").pipe(Effect.provide(model))
    assert.deepStrictEqual(yield* logged(runs({})), [])
    const both = Effect.andThen(runs({ maxCost: 1e9 }), runs({ maxCost: 1e9 }))
    assert.deepStrictEqual(yield* logged(both), [["Warn", [saidOf("1970-01-01")]]])
  })
)
