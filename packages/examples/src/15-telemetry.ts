/**
 * Telemetry: the runs of an agent as traces, metrics and logs, sent to a collector. The agent itself has no code for it. Its
 * tool writes a line into the log, which is in the span of its call.
 */
import { Agent, Recovery, Telemetry, Tool } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { Context, Effect, Layer, Schema } from "effect"
import { Otlp } from "effect/observability"

export class Locked extends Schema.TaggedError<Locked>()("Locked", { message: Schema.String }) {}

export class Warehouse extends Context.Service<
  Warehouse,
  { readonly count: (item: string) => Effect.Effect<number, Locked> }
>()("examples/Warehouse") {}

export const stock = Tool.make("stock", {
  description: "Counts what is in stock.",
  parameters: Schema.Struct({ item: Schema.String }),
  success: Schema.Finite,
  sideEffects: "none",
  run: ({ item }) =>
    Effect.gen(function* () {
      yield* Effect.log("counting")
      return yield* Warehouse.use((warehouse) => warehouse.count(item))
    })
}).pipe(
  // each attempt and the verdict after it are in the span of the call
  Tool.onError({
    Locked: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.tell()),
    InvalidArgs: Recovery.tell()
  })
)

export const clerk = Agent.make("clerk", {
  prompt: "Say how much of something there is.",
  tools: [stock]
})

/** For a whole program, once: it observes all runs in it. */
export const observed = (collector: string) =>
  Layer.merge(
    Telemetry.layer,
    Otlp.layerJson({ baseUrl: collector, resource: { serviceName: "shop" } }).pipe(Layer.provide(Transport.layerFetch))
  )

/** The run is part of the request that it was begun for. */
export const program = clerk("How many screws are there?").pipe(Effect.withSpan("GET /stock"))
//           ^? Effect<string, LlmError | BudgetExceededError, Model | Warehouse>
