import { Agent, LlmError, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, type Layer } from "effect"

const writer = Agent.make("writer", { prompt: "Answer in one sentence." })

// in your service: answer(OpenAi.responses("gpt-5.6-sol"), OpenAi.responses("gpt-5.6-terra"))
export const answer = <E, R>(first: Layer.Layer<Model.Model, E, R>, second: Layer.Layer<Model.Model, E, R>) =>
  writer("What is kintsugi?").pipe(Effect.provide(Model.fallback(first, second)))

const played = Effect.gen(function* () {
  const { fails, make, text } = ScriptedModel
  const first = yield* make(fails(LlmError.QuotaExhaustedError.make({ model: "first" })))
  const second = yield* make(text("Repair with gold."))
  return yield* answer(first.layer, second.layer)
})

await Effect.runPromise(Effect.scoped(played)) // => "Repair with gold."
