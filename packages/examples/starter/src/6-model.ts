import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Ollama, OpenAi } from "@kintsugi/providers"
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

const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] }).pipe(
  Agent.resilient()
)

// the key is read from OPENAI_API_KEY; a model of Ollama needs none
const model = process.argv[2] === "ollama" ? Ollama.model("qwen3") : OpenAi.model("gpt-5.6-sol")

Effect.runPromise(desk("Where is parcel 7?").pipe(Effect.provide(model))).then(console.log, (error) => {
  console.error(error.message)
  process.exitCode = 1
})
