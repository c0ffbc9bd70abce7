/** Over real sockets: a model, the exporter of Effect, and a collector. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Telemetry, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Data, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { Otlp } from "effect/observability"
import { it } from "../../_support/run.ts"

const Value = Schema.Struct({
  stringValue: Schema.optionalKey(Schema.String),
  intValue: Schema.optionalKey(Schema.Union([Schema.String, Schema.Number])),
  doubleValue: Schema.optionalKey(Schema.Number),
  boolValue: Schema.optionalKey(Schema.Boolean),
  arrayValue: Schema.optionalKey(Schema.Json)
})

const Attributes = Schema.Array(Schema.Struct({ key: Schema.String, value: Value }))

const Span = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optionalKey(Schema.String),
  name: Schema.String,
  kind: Schema.Number,
  startTimeUnixNano: Schema.String,
  endTimeUnixNano: Schema.String,
  attributes: Attributes,
  events: Schema.Array(Schema.Struct({ name: Schema.String, attributes: Attributes })),
  status: Schema.Struct({ code: Schema.Number, message: Schema.optionalKey(Schema.String) })
})

const Traces = Schema.Struct({
  resourceSpans: Schema.Array(Schema.Struct({ scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) })) }))
})

const Logs = Schema.Struct({
  resourceLogs: Schema.Array(
    Schema.Struct({
      scopeLogs: Schema.Array(
        Schema.Struct({
          logRecords: Schema.Array(
            Schema.Struct({
              body: Value,
              traceId: Schema.optionalKey(Schema.String),
              spanId: Schema.optionalKey(Schema.String)
            })
          )
        })
      )
    })
  )
})

const Metrics = Schema.Struct({
  resourceMetrics: Schema.Array(
    Schema.Struct({
      scopeMetrics: Schema.Array(
        Schema.Struct({
          metrics: Schema.Array(Schema.Struct({ name: Schema.String, unit: Schema.optionalKey(Schema.String) }))
        })
      )
    })
  )
})

type Span = typeof Span.Type

const attribute = (span: Pick<Span, "attributes">, key: string): unknown =>
  span.attributes.flatMap((one) => (one.key === key ? Object.values(one.value) : []))[0]

/** As a tree: deeper spans further in, each with its kind, its status and the type of its error. */
const treeOf = (spans: ReadonlyArray<Span>, parent: string | undefined, indent = ""): ReadonlyArray<string> =>
  spans.flatMap((span) => {
    if (span.parentSpanId !== parent) return []
    const error = attribute(span, "error.type")
    const line = `${indent}${span.name} ${span.kind} ${span.status.code}${error === undefined ? "" : ` ${String(error)}`}`
    return [line, ...treeOf(spans, span.spanId, `${indent}  `)]
  })

class Busy extends Data.TaggedError("Busy")<{ readonly message: string }> {}
class Misread extends Data.TaggedError("Misread")<{ readonly message: string }> {}

const { call } = ScriptedModel

/** What each model replies, in order. The first one is overloaded when it is first asked. */
const scripts: Readonly<Record<string, ReadonlyArray<Effect.Success<ReturnType<AnyWire.Brain>>>>> = {
  lead: [
    {
      content: [
        call("flaky", { n: 1 }, "c1"),
        call("strict", { n: 1 }, "c2"),
        call("research", { input: "where?" }, "c3")
      ]
    },
    { content: [{ type: "text", text: "done" }], usage: Usage.make({ inputTokens: 30, outputTokens: 4 }) }
  ],
  mender: [{ content: [{ type: "text", text: '{"n": 2}' }] }],
  helper: [{ content: [call("look", {}, "c1")] }, { content: [{ type: "text", text: "by the river" }] }]
}

const server = Effect.gen(function* () {
  const asked = new Map<string, number>()
  let isOverloaded = true
  const chat = AnyWire.handler(({ model }) =>
    Effect.suspend(() => {
      const turn = asked.get(model) ?? 0
      asked.set(model, turn + 1)
      const reply = scripts[model]?.[turn]
      return reply === undefined ? Effect.die(new Error(`'${model}' has nothing to say`)) : Effect.succeed(reply)
    })
  )
  return yield* LoopbackServer.make((request) => {
    if (request.path.startsWith("/v1/")) return Effect.succeed({ body: "{}" })
    if (!isOverloaded) return chat(request)
    isOverloaded = false
    return Effect.succeed({ status: 503, body: '{"error":{"message":"The engine is currently overloaded"}}' })
  })
})

/** The agents of the test, with their models at this address. */
const leadAt = (url: string) => {
  const modelOf = (model: string) =>
    OpenAi.layer({ model, apiKey: Redacted.make("key"), baseUrl: `${url}/openai`, transport: { retry: false } }).pipe(
      Layer.provide(Transport.layerFetch)
    )
  const parameters = Schema.Struct({ n: Schema.Int })
  const failing = { description: "Works at times.", parameters, success: Schema.String }
  let runs = 0
  const flaky = Tool.make("flaky", {
    ...failing,
    run: () => Effect.suspend(() => (++runs < 3 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("fine")))
  }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }), InvalidArgs: Recovery.tell() }))
  const mender = Agent.make("mender", { model: modelOf("mender") })
  const strict = Tool.make("strict", {
    ...failing,
    run: ({ n }) => (n === 1 ? Effect.fail(new Misread({ message: "odd" })) : Effect.succeed("even"))
  }).pipe(Tool.onError({ Misread: Recovery.fix(mender, { retries: 1 }), InvalidArgs: Recovery.tell() }))
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.as(Effect.log("I look around"), "a bridge")
  })
  const helper = Agent.make("helper", {
    model: modelOf("helper"),
    skills: [Skill.make("help", { description: "Helps.", tools: [look] })]
  })
  const research = Agent.asTool(helper, { name: "research", description: "Asks a helper." })
  return Agent.make("lead", {
    model: modelOf("lead"),
    budget: { toolConcurrency: 1 },
    skills: [Skill.make("lead", { description: "Leads.", tools: [flaky, strict, research] })]
  }).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }))
}

it.run("a collector reads the tree of a run back, with its requests, its logs and its metrics [A1203 A1204]", (run) =>
  Effect.gen(function* () {
    const { requests, url } = yield* server
    const exporter = Otlp.layerJson({ baseUrl: url, resource: { serviceName: "test" } }).pipe(
      Layer.provide(Transport.layerFetch)
    )
    const said = yield* run(leadAt(url), "Where is the bridge?").pipe(
      Effect.withSpan("request"),
      Effect.provide(Telemetry.layer),
      Effect.provide(exporter)
    )
    assert.strictEqual(said, "done")
    const received = yield* requests
    const bodies = <A, I>(path: string, schema: Schema.Codec<A, I>) =>
      Effect.forEach(
        received.filter((request) => request.path === path),
        (request) => Schema.decodeUnknownEffect(schema)(request.body)
      )
    const spans = (yield* bodies("/v1/traces", Traces)).flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans))
    )
    assert.deepStrictEqual(treeOf(spans, undefined), [
      "request 1 1",
      "  invoke_agent lead 1 1",
      "    chat lead 3 2 KINTSUGI-MODEL-OVERLOADED",
      "      Transport.send 3 2",
      "    chat lead 3 1",
      "      Transport.send 3 1",
      "    execute_tool flaky 1 1",
      "    execute_tool strict 1 1",
      "      invoke_agent mender 1 1",
      "        chat mender 3 1",
      "          Transport.send 3 1",
      "    execute_tool research 1 1",
      "      invoke_agent helper 1 1",
      "        chat helper 3 1",
      "          Transport.send 3 1",
      "        execute_tool look 1 1",
      "        chat helper 3 1",
      "          Transport.send 3 1",
      "    chat lead 3 1",
      "      Transport.send 3 1"
    ])
    assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 1)
    const named = (name: string) => spans.filter((span) => span.name === name)
    const [failed, answered, last] = named("chat lead")
    assert(failed !== undefined && answered !== undefined && last !== undefined)
    assert.strictEqual(failed.status.message, "Model overloaded")
    assert.strictEqual(attribute(failed, "gen_ai.provider.name"), "openai")
    assert.strictEqual(attribute(answered, "gen_ai.request.model"), "lead")
    assert.deepStrictEqual(attribute(answered, "gen_ai.response.finish_reasons"), {
      values: [{ stringValue: "tool_call" }]
    })
    assert.strictEqual(Number(attribute(last, "gen_ai.usage.input_tokens")), 30)
    assert.strictEqual(Number(attribute(last, "gen_ai.usage.output_tokens")), 4)
    const [flaky] = named("execute_tool flaky")
    assert.deepStrictEqual(
      flaky?.events.map((event) => `${event.name} ${String(attribute(event, "kintsugi.verdict") ?? "")}`),
      ["kintsugi.tool-failed ", "kintsugi.verdict retry", "kintsugi.tool-failed ", "kintsugi.verdict retry"]
    )
    const [look] = named("execute_tool look")
    const logs = (yield* bodies("/v1/logs", Logs)).flatMap(({ resourceLogs }) =>
      resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((one) => one.logRecords))
    )
    assert.deepStrictEqual(
      logs.map(({ body, spanId, traceId }) => [body.stringValue, traceId, spanId]),
      [["I look around", look?.traceId, look?.spanId]]
    )
    const metrics = (yield* bodies("/v1/metrics", Metrics)).flatMap(({ resourceMetrics }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics))
    )
    const units = new Map(metrics.map(({ name, unit }) => [name, unit]))
    assert.deepStrictEqual(
      units,
      new Map([
        ["gen_ai.client.operation.duration", "s"],
        ["gen_ai.client.token.usage", "{token}"],
        ["gen_ai.execute_tool.duration", "s"],
        ["gen_ai.invoke_agent.duration", "s"],
        ["kintsugi.verdicts", "1"]
      ])
    )
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)
