import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const track = Tool.make("track", {
  description: "Where a parcel is.",
  parameters: Schema.Struct({ parcel: Schema.Int }),
  success: Schema.String,
  run: ({ parcel }) => Effect.succeed(`Parcel ${parcel} is in Graz.`)
})

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] })

const program = Effect.gen(function* () {
  // a model that gives these two replies: it needs no key
  const model = yield* ScriptedModel.make(
    ScriptedModel.calls(ScriptedModel.call("track", { parcel: 7 })),
    ScriptedModel.text("Your parcel is in Graz.")
  )
  return yield* Effect.provide(desk("Where is parcel 7?"), model.layer)
})

console.log(await Effect.runPromise(Effect.scoped(program)))
