/** Its runs are traces and metrics. */
import * as Agent from "@kintsugi/core/Agent"
import * as Telemetry from "@kintsugi/core/Telemetry"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
})

const agent = Agent.make("adder", { tools: [add] })

const layer = Layer.merge(
  Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch),
  Telemetry.layer
)

export const main = (input: string): Promise<string> => Effect.runPromise(Effect.provide(agent(input), layer))
