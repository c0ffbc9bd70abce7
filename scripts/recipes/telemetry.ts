/** The recipe of OpenTelemetry: the official SDK sends the spans and metrics of a run to a collector on the loopback interface. */
import type { Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, type Layer } from "effect"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "../files.ts"
import type { Report } from "../report.ts"
import { recipe } from "../sdk.ts"

interface Recipe {
  readonly observed: (collector: string) => Layer.Layer<never>
  readonly program: Effect.Effect<string, unknown, Model.Model>
}

/** What is read of a span in OTLP's JSON. */
interface Span {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly events: ReadonlyArray<{ readonly name: string }>
}

/** A line for each span: a `>` for each span above it, its name, and its events. */
const tree = (spans: ReadonlyArray<Span>, parent?: string): ReadonlyArray<string> =>
  spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .flatMap(({ events, name, spanId }) => [
      [name, ...events.map(({ name }) => name)].join(" "),
      ...tree(spans, spanId).map((line) => `>${line}`)
    ])

const wanted = [
  "GET /stock",
  ">invoke_agent clerk",
  ">>chat scripted",
  ">>execute_tool stock kintsugi.tool-failed kintsugi.verdict",
  ">>chat scripted"
]

/** What the collector gets of a run. */
export const tryTelemetry = (report: Report): Promise<void> =>
  Effect.gen(function* () {
    const { observed, program }: Recipe = yield* Effect.promise(
      () => import(pathToFileURL(join(root, recipe("opentelemetry"), "telemetry.ts")).href)
    )
    const collector = yield* LoopbackServer.make(() => Effect.succeed({ body: "{}" }))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("stock", { item: "screws" })),
      ScriptedModel.text("There are 12.")
    )
    const exit = yield* program.pipe(Effect.provide(model.layer), Effect.provide(observed(collector.url)), Effect.exit)
    report.check("opentelemetry: the run answers", exit._tag === "Success" && exit.value === "There are 12.", `${exit}`)
    const sent = yield* collector.requests
    const textOf = (path: string) => sent.filter((one) => one.path === path).map(({ text }) => text)
    const traces = textOf("/v1/traces")
    const spans = traces.flatMap((text) =>
      JSON.parse(text).resourceSpans.flatMap(
        (resource: { scopeSpans: ReadonlyArray<{ spans: ReadonlyArray<Span> }> }) =>
          resource.scopeSpans.flatMap(({ spans }) => spans)
      )
    )
    const lines = tree(spans)
    report.check("opentelemetry: the spans are one tree", `${lines}` === `${wanted}`, lines.join("\n"))
    const named = [...traces, ...textOf("/v1/metrics")]
    const isNamed =
      named.length > 1 && named.every((text) => text.includes('{"key":"service.name","value":{"stringValue":"shop"}}'))
    report.check("opentelemetry: what is sent has the name of the service", isNamed, named.join("\n"))
    for (const name of ["gen_ai.client.token.usage", "gen_ai.invoke_agent.duration", "kintsugi.verdicts"])
      report.check(`opentelemetry: the collector gets ${name}`, `${textOf("/v1/metrics")}`.includes(`"name":"${name}"`))
    report.check(
      "opentelemetry: nothing that was said is sent",
      named.every((text) => !/screws|customer/.test(text))
    )
  }).pipe(Effect.scoped, Effect.runPromise)
