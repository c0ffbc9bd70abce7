/** Its text stands on a screen while the model writes it. */
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

const agent = Agent.make("adder", { tools: [add] })

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (input: string, show: (text: string) => void): Promise<void> =>
  agent.stream(input).pipe(
    Stream.runForEach((event) => Effect.sync(() => (event.type === "text-delta" ? show(event.text) : undefined))),
    Effect.provide(layer),
    Effect.runPromise
  )
