/** An agent with one tool, as small as it gets, with this library. */
import * as Agent from "@kintsugi/core/Agent"
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

const layerOf = (baseUrl: string) =>
  Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key"), baseUrl }), Transport.layerFetch)

export const main = (input: string, baseUrl = "https://api.openai.com/v1"): Promise<string> =>
  Effect.runPromise(Effect.provide(agent(input), layerOf(baseUrl)))
