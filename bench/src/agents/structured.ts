/** What it answers fits a schema, and a part of that is read while it is written. */
import * as Agent from "@kintsugi/core/Agent"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
})

const Sum = Schema.Struct({ summands: Schema.Array(Schema.Finite), sum: Schema.Finite, says: Schema.String })

const agent = Agent.make("adder", {
  tools: [add],
  output: Sum
}).pipe(Agent.outputRetries(2))

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (input: string): Promise<typeof Sum.Type> => Effect.runPromise(Effect.provide(agent(input), layer))

export const watch = (input: string, show: (text: string) => void): Promise<void> =>
  Agent.partials(agent)(input).pipe(
    Stream.runForEach(({ says = "" }) => Effect.sync(() => show(says))),
    Effect.provide(layer),
    Effect.runPromise
  )
