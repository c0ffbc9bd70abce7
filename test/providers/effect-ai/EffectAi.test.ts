/** The names of a model that comes from `effect/ai`. */
import { assert, it } from "@effect/vitest"
import * as Model from "@kintsugi/core/Model"
import * as EffectAi from "@kintsugi/providers/EffectAi"
import { Effect, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import * as Script from "./_support/scriptedLanguageModel.ts"

it.effect("a model has the given names, else those of effect/ai, else names that say that none are known [P1107]", () =>
  Effect.gen(function* () {
    const { layer, service } = yield* Script.make()
    const namesOf = (options: Parameters<typeof EffectAi.model>[0], given: Layer.Layer<LanguageModel.LanguageModel>) =>
      Effect.map(Model.Model, ({ name, provider }) => [name, provider]).pipe(
        Effect.provide(EffectAi.model(options)),
        Effect.provide(given)
      )
    assert.deepStrictEqual(yield* namesOf({}, layer), ["script-1", "scripts"])
    assert.deepStrictEqual(yield* namesOf({ name: "n" }, layer), ["n", "scripts"])
    assert.deepStrictEqual(yield* namesOf({ provider: "p" }, layer), ["script-1", "p"])
    const bare = Layer.succeed(LanguageModel.LanguageModel, service)
    assert.deepStrictEqual(yield* namesOf(undefined, bare), ["unknown", "effect/ai"])
  })
)
