/** Two models in an order, behind a guard; a conversation that is too long for them is shortened. */
import * as Agent from "@kintsugi/core/Agent"
import * as Compaction from "@kintsugi/core/Compaction"
import * as Model from "@kintsugi/core/Model"
import * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import * as Anthropic from "@kintsugi/providers/Anthropic"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Resilience from "@kintsugi/providers/Resilience"
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

const agent = Agent.make("adder", { tools: [add] }).pipe(
  Agent.onLlmError({
    ContextTooLongError: Recovery.compact(Compaction.dropOldest({ keepLast: 4 })),
    orElse: Recovery.retry({ maxAttempts: 3 })
  })
)

const models = Model.fallback(
  Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch),
  Layer.provide(Anthropic.layer({ model: "n", apiKey: Redacted.make("key") }), Transport.layerFetch)
)

export const main = (input: string): Promise<string> =>
  Effect.gen(function* () {
    const guard = yield* Resilience.make({
      breaker: { failures: 2, openFor: "30 seconds" },
      limits: [{ requests: 100, per: "1 minute" }],
      concurrency: 8
    })
    return yield* Effect.provide(agent(input), guard(models))
  }).pipe(Effect.scoped, Effect.runPromise)
