import { rmSync } from "node:fs"
import { Agent, LlmError, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { EventLog } from "@kintsugi/view"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class CarrierDown extends Schema.TaggedError<CarrierDown>()("CarrierDown", { message: Schema.String }) {}

const file = "events.jsonl"
rmSync(file, { force: true })

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

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] }).pipe(
  Agent.resilient()
)

const program = Effect.gen(function* () {
  const model = yield* ScriptedModel.make(
    // the model is overloaded, then it writes a number that is none, then it corrects the call
    ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "stand-in" })),
    ScriptedModel.calls(ScriptedModel.call("track", { parcel: "seven" })),
    ScriptedModel.calls(ScriptedModel.call("track", { parcel: 7 })),
    ScriptedModel.text("Your parcel is in Graz.")
  )
  return yield* desk("Where is parcel 7?").pipe(Effect.provide([model.layer, EventLog.toFile(file)]))
})

console.log(await Effect.runPromise(Effect.scoped(program)))
console.log(`The events of the run are in ${file}.`)
