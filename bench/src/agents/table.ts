/** A table of recoveries for its tool, one for all tools, one for the model. */
import * as Agent from "@kintsugi/core/Agent"
import * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => (a > 1e6 ? Effect.fail(new Busy({ message: "Try again later" })) : Effect.succeed(a + b))
}).pipe(
  Tool.onError({
    Busy: Recovery.ladder(Recovery.retry({ retries: 2, initialBackoff: "1 second" }), Recovery.tell()),
    InvalidArgs: Recovery.escalate()
  })
)

const agent = Agent.make("adder", { tools: [add] }).pipe(
  Agent.toolDefaults({ DeserializationError: Recovery.tell() }),
  Agent.onLlmError({ orElse: Recovery.retry({ maxAttempts: 3 }) })
)

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

export const main = (input: string): Promise<string> => Effect.runPromise(Effect.provide(agent(input), layer))
