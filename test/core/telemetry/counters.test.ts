/** Counters event by event, and what a metric says of itself. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, LlmError } from "@kintsugi/core"
import { Clock, Context, Metric } from "effect"
import * as Metrics from "../../../packages/core/src/telemetry/metrics.ts"
import { promiseCounter } from "../../../packages/core/src/telemetry/promises.ts"
import { event } from "./_support/events.ts"
import { linesOf } from "./_support/metrics.ts"

/** A context with metrics of its own, at this instant. */
const contextAt = (now: () => number) =>
  Context.make(Metric.MetricRegistry, new Map()).pipe(
    // only the milliseconds are read
    Context.add(Clock.Clock, { currentTimeMillisUnsafe: now } as unknown as Clock.Clock)
  )

const linesIn = (context: Context.Context<never>) => linesOf(Metric.snapshotUnsafe(context))

/** What is counted of these events, each at its second. */
const counted = (...events: ReadonlyArray<readonly [second: number, event: AgentEvent.AgentEvent]>) => {
  let now = 0
  const context = contextAt(() => now * 1000)
  const hear = promiseCounter(context)
  for (const [second, one] of events) {
    now = second
    hear(one)
  }
  return linesIn(context)
}

const asked = (callId: string, second: number, parts: object = {}) =>
  [
    second,
    event("approval-requested", { callId, tool: "pay", request: { requestedAt: second * 1000 }, ...parts })
  ] as const

const decided = (callId: string, second: number, parts: object = {}) =>
  [second, event("approval-decided", { callId, tool: "pay", decision: { type: "approve" }, ...parts })] as const

const duration = "kintsugi.approval.duration {decision=approve, gen_ai.agent.name=worker, gen_ai.tool.name=pay, unit=s}"

it("the time to a decision is that of its own request, once [P1366]", () => {
  assert.deepStrictEqual(
    counted(asked("c1", 0), asked("c2", 3), asked("c1", 5, { runId: "s" }), decided("c1", 7), decided("c2", 8)),
    [`${duration}: 2 12`]
  )
  assert.deepStrictEqual(counted(asked("c1", 0), decided("c1", 7), decided("c1", 9)), [`${duration}: 1 7`])
  assert.deepStrictEqual(counted(decided("c1", 7)), [])
  // what a grant approves, no person has decided
  assert.deepStrictEqual(counted(asked("c1", 0), decided("c1", 7, { by: "g" })), [])
})

it("a request is over when its call has ended in another way [P1366]", () => {
  for (const type of ["tool-denied", "tool-failed", "tool-end", "tool-skipped"] as const)
    assert.deepStrictEqual(counted(asked("c1", 0), [1, event(type, { callId: "c1" })], decided("c1", 7)), [], type)
  const expired = "kintsugi.approval.expired {gen_ai.agent.name=worker, gen_ai.tool.name=pay}: 1"
  assert.deepStrictEqual(
    counted(asked("c1", 0), [1, event("approval-expired", { callId: "c1", tool: "pay" })], decided("c1", 7)),
    [expired]
  )
})

it("characters of a continued reply are counted anew after it has ended or was discarded [P1366]", () => {
  const goesOn = (kept: string) => [0, event("attempt-continued", { kept })] as const
  const line = "kintsugi.text.continued {gen_ai.agent.name=worker, unit={character}}"
  assert.deepStrictEqual(counted(goesOn("abc"), goesOn("abc"), goesOn("abcde")), [`${line}: 5`])
  assert.deepStrictEqual(counted(goesOn("abc"), [0, event("turn-end")], goesOn("abcde")), [`${line}: 8`])
  assert.deepStrictEqual(
    counted(goesOn("abc"), [0, event("attempt-discarded", { text: "" })], goesOn("ab"))[0],
    `${line}: 5`
  )
})

it("an error is counted once while it passes unchanged from run to run, and anew in a run that goes on [A1203]", () => {
  const error = LlmError.ServerError.make({ model: "m" })
  const child = event("run-failed", { runId: "s", parent: { runId: "r" }, error })
  const parent = event("run-failed", { error })
  const of = (...events: ReadonlyArray<AgentEvent.AgentEvent>) => {
    const context = contextAt(() => 0)
    const hear = Metrics.errorCounter(context)
    for (const one of events) hear(one)
    return linesIn(context)
  }
  const times = (count: number) => [`kintsugi.errors {code=KINTSUGI-SERVER, retryable=true}: ${count}`]
  assert.deepStrictEqual(of(child, parent), times(1))
  assert.deepStrictEqual(of(child, { ...child, runId: "t" }, parent), times(2))
  assert.deepStrictEqual(of(child, parent, parent), times(2))
  assert.deepStrictEqual(of(child, event("run-failed", { error: LlmError.ServerError.make({ model: "m" }) })), times(2))
  for (const type of ["run-completed", "run-suspended", "run-interrupted"] as const)
    assert.deepStrictEqual(of(child, event(type), parent), times(2), type)
})

it("only a reply names the model that has answered, and only an attempt has tokens [A1203]", () => {
  const ended = (last: AgentEvent.AgentEvent | undefined) => {
    const context = contextAt(() => 0)
    const operation = Metrics.watcher.begin(event("model-start", { model: "m", provider: "p" }), context, 0n)
    Metrics.watcher.end(operation, { at: 1_000_000_000n, how: "completed", ...(last && { event: last }) })
    return linesIn(context)
  }
  const ofModel = "gen_ai.operation.name=chat, gen_ai.provider.name=p, gen_ai.request.model=m"
  const took = (labels: string) => `gen_ai.client.operation.duration {${labels}, unit=s}: 1 1`
  const entry = { usage: { inputTokens: 3, outputTokens: 0 } }
  const read = (labels: string) => `gen_ai.client.token.usage {${labels}, gen_ai.token.type=input, unit={token}}: 1 3`
  assert.deepStrictEqual(ended(undefined), [took(ofModel)])
  for (const type of ["model-failed", "model-interrupted"] as const)
    assert.deepStrictEqual(ended(event(type, { entry, reply: { model: "m2" } })), [took(ofModel), read(ofModel)])
  const answered = `${ofModel}, gen_ai.response.model=m2`
  assert.deepStrictEqual(ended(event("model-end", { entry, reply: { model: "m2" } })), [took(answered), read(answered)])
  assert.deepStrictEqual(ended(event("model-end", { entry, reply: {} })), [took(ofModel), read(ofModel)])
})

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const powers = (count: number) => Array.from({ length: count }, (_, index) => 4 ** index)

it("each metric has a description, and its bounds or the way in which it counts [A1203 P1366]", () => {
  const context = contextAt(() => 0)
  const hear = promiseCounter(context)
  for (const [, one] of [asked("c1", 0), decided("c1", 0)]) hear(one)
  for (const type of ["approval-expired", "message-returned"] as const) hear(event(type, { callId: "c1", tool: "pay" }))
  hear(event("result-put-aside", { bytes: 9, tool: "pay" }))
  hear(event("attempt-continued", { kept: "abc" }))
  hear(event("attempt-discarded", { text: "abc" }))
  Metrics.errorCounter(context)(event("run-failed", { error: undefined }))
  const entry = { usage: { inputTokens: 3, outputTokens: 0 }, cost: 1 }
  for (const one of [event("run-start"), event("tool-start"), event("model-start")]) {
    const operation = Metrics.watcher.begin(one, context, 0n)
    Metrics.watcher.within(operation, event("verdict"), 0n)
    Metrics.watcher.within(operation, event("guardrail", { verdict: "block" }), 0n)
    Metrics.watcher.within(operation, event("guardrail", { verdict: "pass" }), 0n)
    Metrics.watcher.end(operation, { at: 0n, how: "completed", event: event("model-failed", { entry }) })
  }
  const shown = Metric.snapshotUnsafe(context).map((metric) => [
    metric.id,
    metric.description,
    metric.attributes?.["unit"],
    metric.type === "Histogram"
      ? metric.state.buckets.map(([bound]) => bound)
      : metric.type === "Counter" && metric.state.incremental
  ])
  const expected: ReadonlyArray<readonly [string, string, string?, ReadonlyArray<number>?]> = [
    ["gen_ai.client.operation.duration", "Duration of attempts of model calls", "s", seconds],
    ["gen_ai.client.token.usage", "Tokens of model calls", "{token}", powers(14)],
    ["gen_ai.execute_tool.duration", "Duration of tool calls, recovery included", "s", seconds],
    [
      "gen_ai.invoke_agent.duration",
      "Duration of runs",
      "s",
      Array.from({ length: 13 }, (_, index) => 0.1 * 2 ** index)
    ],
    ["kintsugi.approval.duration", "Time that people took to decide about a call", "s", powers(11)],
    ["kintsugi.approval.expired", "Requests that expired without a decision"],
    ["kintsugi.cost", "Cost of model calls, where prices are known"],
    ["kintsugi.errors", "Errors that left a run"],
    ["kintsugi.guardrail.blocks", "Texts that guardrails have blocked"],
    ["kintsugi.messages.returned", "Messages that a run did not read"],
    ["kintsugi.results.put_aside", "Bytes of results that were put aside", "By"],
    ["kintsugi.text.continued", "Characters of replies that broke off and went on", "{character}"],
    ["kintsugi.text.discarded", "Characters that were shown and do not count", "{character}"],
    ["kintsugi.verdicts", "Decisions of recovery policies"]
  ]
  assert.deepStrictEqual<unknown>(
    shown.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    expected.map(([id, description, unit, bounds]) => [id, description, unit, bounds ?? true])
  )
})
