/**
 * The spans and metrics of runs in the official SDK of OpenTelemetry, for a program that has its exporters already. `@effect/opentelemetry`
 * joins the two. A program without that SDK needs none of these packages: see the page Telemetry.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/opentelemetry
 *   OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/opentelemetry/telemetry.ts http://localhost:4318
 */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { Agent, Recovery, Telemetry, Tool } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics"
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer, Schema } from "effect"

class Locked extends Schema.TaggedError<Locked>()("Locked", { message: Schema.String }) {}

const stock = Tool.make("stock", {
  description: "Counts what is in stock.",
  parameters: Schema.Struct({ item: Schema.String }),
  success: Schema.Finite,
  sideEffects: "none",
  run: (_, { attempt }) =>
    attempt === 1 ? Effect.fail(new Locked({ message: "a customer is in there" })) : Effect.succeed(12)
}).pipe(Tool.onError({ Locked: Recovery.retry({ retries: 2 }) }))

const clerk = Agent.make("clerk", { prompt: "Say how much of something there is.", tools: [stock] })

/** For a whole program, once. What is not sent yet is sent when the layer is closed. */
export const observed = (collector: string) =>
  Layer.merge(
    Telemetry.layer,
    NodeSdk.layer(() => ({
      resource: { serviceName: "shop" },
      spanProcessor: new BatchSpanProcessor(new OTLPTraceExporter({ url: `${collector}/v1/traces` })),
      metricReader: new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${collector}/v1/metrics` })
      })
    }))
  )

/** The run is part of the request that it was begun for. */
export const program = clerk("How many screws are there?").pipe(Effect.withSpan("GET /stock"))

if (import.meta.main) {
  const [collector = "http://localhost:4318"] = process.argv.slice(2)
  const answer = program.pipe(Effect.provide(OpenAi.model("gpt-5.6-sol")), Effect.provide(observed(collector)))
  const said = await Effect.runPromise(answer).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
  console.log(said)
}
