/** Arguments that do not fit are repaired: by a function first, then by an agent with a model. */
import * as Agent from "@kintsugi/core/Agent"
import * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const commas = Agent.deterministic("commas", (args: string) => Effect.succeed(args.replaceAll(/,\s*([\]}])/g, "$1")))

const mender = Agent.make("mender", { prompt: "Correct the arguments.", budget: { maxTurns: 1 } })

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
}).pipe(Tool.onError({ InvalidArgs: Recovery.ladder(Recovery.fix(commas), Recovery.fix(mender, { retries: 2 })) }))

const agent = Agent.make("adder", { tools: [add] })

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (input: string): Promise<string> => Effect.runPromise(Effect.provide(agent(input), layer))
