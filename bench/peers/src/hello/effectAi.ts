import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const toolkit = Toolkit.make(
  Tool.make("add", {
    description: "Adds two numbers.",
    parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
    success: Schema.Finite
  })
)

const handlers = toolkit.toLayer({ add: ({ a, b }) => Effect.succeed(a + b) })

/** Without the package of any provider, and without a loop, which is what comes on top. */
export const main = (input: string) => Effect.provide(LanguageModel.generateText({ prompt: input, toolkit }), handlers)
