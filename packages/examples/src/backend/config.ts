/** All that the environment decides. */
import type { Model } from "@kintsugi/core"
import { Anthropic, Gemini, OpenAi, OpenRouter, Resilience } from "@kintsugi/providers"
import { Config, Duration, Effect, Layer, Schema } from "effect"
import * as StandIn from "./standIn.ts"

/** 0 is any that is free. */
const port = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))

/** Where it listens, and how long requests may go on once it is to stop. */
export const listening = Config.all({
  port: Config.withDefault(Config.schema(port, "PORT"), 3000),
  host: Config.withDefault(Config.NonEmptyString("HOST"), "127.0.0.1"),
  gracefulShutdownTimeout: Config.withDefault(Config.Duration("DRAIN"), Duration.seconds(20))
})

/** The first provider whose key is set, with the model that it gets unless `MODEL` names another. */
const providers = [
  ["OPENAI_API_KEY", "gpt-5-mini", OpenAi.model],
  ["ANTHROPIC_API_KEY", "claude-sonnet-4-5", Anthropic.model],
  ["GEMINI_API_KEY", "gemini-2.5-flash", Gemini.model],
  ["OPENROUTER_API_KEY", "openai/gpt-5-mini", OpenRouter.model]
] as const

const text = (name: string) => Config.withDefault(Config.String(name), "")

/** A real model, guarded for all requests together; without any key, one that only stands in. */
export const layerModel: Layer.Layer<Model.Model, Config.ConfigError> = Layer.unwrap(
  Effect.gen(function* () {
    const named = yield* text("MODEL")
    for (const [key, usual, model] of providers) {
      if ((yield* text(key)) === "") continue
      const guard = yield* Resilience.make({ breaker: { failures: 5, openFor: "30 seconds" }, concurrency: 32 })
      return guard(model(named === "" ? usual : named))
    }
    yield* Effect.logWarning("no key of a provider is set: a stand-in answers")
    return StandIn.layer
  })
)
