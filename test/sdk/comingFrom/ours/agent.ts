import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

export const tracked: Array<number> = []

const track = Tool.make("track", {
  description: "Where a parcel is.",
  parameters: Schema.Struct({ parcel: Schema.Int }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ parcel }) =>
    Effect.sync(() => {
      tracked.push(parcel)
      return `Parcel ${parcel} is in Graz.`
    })
})

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] }).pipe(
  Agent.resilient()
)

// in your service: .pipe(Effect.provide(OpenAi.responses("gpt-5.6-sol")))
export const answer = desk("Where is parcel 7?")
//           ^? Effect<string, LlmError | BudgetExceededError, Model>

const played = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(
    ScriptedModel.calls(ScriptedModel.call("track", { parcel: 7 })),
    ScriptedModel.text("It is in Graz.")
  )
  return yield* Effect.provide(answer, model.layer)
})

await Effect.runPromise(Effect.scoped(played)) // => "It is in Graz."
