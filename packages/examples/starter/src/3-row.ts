import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class CarrierDown extends Schema.TaggedError<CarrierDown>()("CarrierDown", { message: Schema.String }) {}

let asked = 0

const track = Tool.make("track", {
  description: "Where a parcel is.",
  parameters: Schema.Struct({ parcel: Schema.Int }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ parcel }) =>
    ++asked === 1
      ? Effect.fail(new CarrierDown({ message: "the carrier does not answer" }))
      : Effect.succeed(`Parcel ${parcel} is in Graz.`)
}).pipe(Tool.onError({ CarrierDown: Recovery.retry({ retries: 2, initialBackoff: "200 millis" }) }))

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] })

const answer = desk("Where is parcel 7?")
//    ^? Effect<string, LlmError | BudgetExceededError | InvalidArgs | DeserializationError | ToolExecutionError, Model>

const program = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(
    ScriptedModel.calls(ScriptedModel.call("track", { parcel: 7 })),
    ScriptedModel.text("Your parcel is in Graz.")
  )
  return yield* Effect.provide(answer, model.layer)
})

console.log(await Effect.runPromise(Effect.scoped(program)))
console.log(`The carrier was asked ${asked} times.`)
