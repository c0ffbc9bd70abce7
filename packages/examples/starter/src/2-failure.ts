import { Agent, Tool } from "@kintsugi/core"
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
})

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] })

const answer = desk("Where is parcel 7?")
//    ^? Effect<string, LlmError | BudgetExceededError | InvalidArgs | DeserializationError | CarrierDown, Model>

const program = Effect.gen(function* () {
  // the run ends at the call: there is no second turn
  const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("track", { parcel: 7 })))
  return yield* Effect.provide(answer, model.layer)
})

const said = program.pipe(Effect.catchTag("CarrierDown", ({ message }) => Effect.succeed(`Failed: ${message}`)))

console.log(await Effect.runPromise(Effect.scoped(said)))
