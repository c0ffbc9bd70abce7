/** A guard in the model layer of an agent: it guards all runs of the agent. */
import { assert } from "@effect/vitest"
import { Agent, type Model } from "@kintsugi/core"
import { Resilience } from "@kintsugi/providers"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { overload, played } from "../../_support/guard.ts"

const guarded = (options: Resilience.Options, model: Layer.Layer<Model.Model>) =>
  Layer.unwrap(Effect.map(Resilience.make(options), (guard) => guard(model)))

/** As under `Effect.runPromise`, where no runtime is around the run, and in a runtime. */
const surroundings: Readonly<Record<string, <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>>> = {
  "without a runtime": (effect) =>
    // a memo map without layers owns nothing
    Effect.provideService(effect, Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe()),
  "in a runtime": (effect) => effect
}

for (const [where, around] of Object.entries(surroundings)) {
  it.run(`a limit of concurrent calls holds over parallel runs, ${where} [P1353]`, (run) =>
    Effect.gen(function* () {
      let [atOnce, most] = [0, 0]
      const model = played(() =>
        Effect.sync(() => (most = Math.max(most, ++atOnce))).pipe(
          Effect.andThen(Effect.yieldNow),
          Effect.ensuring(Effect.sync(() => atOnce--))
        )
      )
      const own = Agent.make("own", { model: guarded({ concurrency: 1 }, model) })
      yield* around(Effect.forEach([1, 2, 3, 4, 5], () => run(own, "x"), { concurrency: 5 }))
      assert.strictEqual(most, 1)
    })
  )

  it.run(`a breaker opens over runs, ${where} [P1353]`, (run) =>
    Effect.gen(function* () {
      let asked = 0
      const model = played(() => Effect.suspend(() => (asked++, Effect.fail(overload))))
      const own = Agent.make("own", { model: guarded({ breaker: {} }, model) })
      yield* around(Effect.forEach(Array(20).fill(0), () => Effect.exit(run(own, "x"))))
      assert.strictEqual(asked, 5)
    })
  )

  it.run(`what a model reads of its configuration it reads once, ${where} [P1353]`, (run) =>
    Effect.gen(function* () {
      const reads: Array<string> = []
      const config = ConfigProvider.make((path) =>
        Effect.sync(() => {
          reads.push(path.join("."))
          return ConfigProvider.makeValue("a key")
        })
      )
      const configured = Layer.unwrap(Effect.map(Config.String("MODEL_KEY"), () => played(() => Effect.void)))
      const own = Agent.make("own", { model: configured })
      const twice = Effect.gen(function* () {
        yield* run(own, "x")
        yield* run(own, "x")
        assert.deepStrictEqual(reads, ["MODEL_KEY"])
      })
      yield* Effect.provideService(around(twice), ConfigProvider.ConfigProvider, config)
    })
  )
}
