/**
 * Two models in an order, a conversation that is kept short, and an answer for the worst case. The first model is asked
 * again a few times; then the second is. A conversation that is too long for both is summed up by a smaller model.
 */
import { Agent, Compaction, Model, Recovery, Tool } from "@kintsugi/core"
import { Context, Effect, Layer, Schema } from "effect"

export class Archive extends Context.Service<Archive, { readonly read: (page: number) => Effect.Effect<string> }>()(
  "examples/ReadArchive"
) {}

export const read = Tool.make("read", {
  description: "Reads a page.",
  parameters: Schema.Struct({ page: Schema.Int }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ page }) => Archive.use((archive) => archive.read(page))
}).pipe(Tool.onError({ InvalidArgs: Recovery.escalate() }))

/** The models, as they are provided: a test provides scripted ones. */
export class Models extends Context.Service<
  Models,
  { readonly first: Model.Service; readonly second: Model.Service; readonly small: Model.Service }
>()("examples/Models") {}

const small = Layer.effect(
  Model.Model,
  Models.useSync(({ small }) => small)
)

/** Its own table belongs to the first model alone: the next one is asked when these attempts are used up. */
export const models = Layer.effect(
  Model.Model,
  Models.useSync(({ first, second }) =>
    Model.fallback(
      Model.onError(first, {
        ModelOverloadedError: Recovery.retry({ maxAttempts: 3, initialBackoff: "500 millis" })
      }),
      second
    )
  )
)

export const summariser = Agent.make("summariser", {
  prompt: "Sum up what was read, in three sentences. Keep names and numbers.",
  model: small,
  budget: { maxTurns: 1 }
})

export const reader = Agent.make("reader", {
  prompt: "Read the pages that you need, then answer.",
  tools: [read]
}).pipe(
  Agent.onLlmError({
    ContextTooLongError: Recovery.ladder(
      Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 4000 })),
      Recovery.compact(Compaction.summarise(summariser, { keepLast: 2 }))
    ),
    QuotaExhaustedError: Recovery.respondWith("No model can read for you today.")
  })
)

export const program = Effect.provide(reader("What do the pages say about the bridge?"), models)
