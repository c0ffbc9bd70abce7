import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"

const Parcel = Schema.Struct({ parcel: Schema.Int, town: Schema.String })

const reader = Agent.make("reader", { prompt: "Read what it says of a parcel.", output: Parcel })

// in your service: .pipe(Effect.provide(OpenAi.responses("gpt-5.6-sol")))
export const answer = reader("Parcel 7 has come to Graz.")
//           ^? Effect<{ readonly parcel: number; readonly town: string }, LlmError | BudgetExceededError | InvalidOutputError, Model>

const played = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(
    ScriptedModel.text("It has come."),
    ScriptedModel.text('```json\n{"parcel": "7", "town": "Graz"}\n```')
  )
  return yield* Effect.provide(answer, model.layer)
})

await Effect.runPromise(Effect.scoped(played)) // => { parcel: 7, town: "Graz" }
