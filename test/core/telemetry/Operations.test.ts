/** Operations event by event: what is noted of each, when it ends, and how. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, LlmError } from "@kintsugi/core"
import { Clock, Context, Exit, Tracer } from "effect"
import { type Beginning, type Ending, Operations } from "../../../packages/core/src/telemetry/Operations.ts"
import * as Spans from "../../../packages/core/src/telemetry/spans.ts"
import { event } from "./_support/events.ts"
import { recorder } from "./_support/spans.ts"

const failure = LlmError.ServerError.make({ model: "m" })
const begins = event("run-start")
const asks = event("model-start", { model: "m" })
const calls = (callId: string) => event("tool-start", { callId, tool: callId })

const endOfTurn = (...calls: ReadonlyArray<readonly [id: string, kind: string]>) =>
  event("turn-end", {
    message: {
      content: [
        { type: "text", text: "" },
        ...calls.map(([id, kind]) => ({ type: "settled-call", call: { id }, settlement: { kind, text: "" } }))
      ]
    }
  })

const nameOf = (one: Beginning) => (one.type === "tool-start" ? one.tool : one.type === "model-start" ? "model" : "run")

const clockAt = (now: () => bigint) =>
  // only the nanoseconds are read
  Context.make(Clock.Clock, { currentTimeNanosUnsafe: now } as unknown as Clock.Clock)

/** One line for each thing that a watcher of these events hears, the n-th event n nanoseconds after the first. */
const heard = (...events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> => {
  let now = 0n
  const lines: Array<string> = []
  const shown = ({ at, error, event: last, how, isDefect }: Ending) =>
    [how, `at ${at}`, last?.type, error === failure && "failure", isDefect === true && "defect"]
      .filter((word) => word !== undefined && word !== false)
      .join(" ")
  const operations = new Operations<string>(
    {
      begin: nameOf,
      within: (operation, one) => lines.push(`${operation}: ${one.type}`),
      end: (operation, ending) => lines.push(`${operation} ${shown(ending)}`)
    },
    clockAt(() => now)
  )
  for (const one of events) {
    operations.hear(one)
    now++
  }
  return lines
}

it("deltas, adapted requests and verdicts of the transport are notes of the model call, others of the run [A1203]", () => {
  const ofModel = [
    event("text-delta"),
    event("reasoning-delta"),
    event("request-adapted"),
    event("verdict", { layer: "transport" })
  ]
  const ofRun = [event("verdict", { layer: "model" }), event("skill-chosen")]
  const lines = (operation: string, events: ReadonlyArray<AgentEvent.AgentEvent>) =>
    events.map(({ type }) => `${operation}: ${type}`)
  assert.deepStrictEqual(heard(begins, asks, ...ofModel, ...ofRun), [
    ...lines("model", ofModel),
    ...lines("run", ofRun)
  ])
  assert.deepStrictEqual(heard(begins, ...ofModel, ...ofRun), lines("run", [...ofModel, ...ofRun]))
  // before its beginning and after its end a run has no notes
  assert.deepStrictEqual(heard(...ofRun, begins, event("run-completed"), ...ofRun), [
    "run completed at 3 run-completed"
  ])
})

it("a note of a call belongs to the call while it is at work [A1203]", () => {
  const note = event("tool-failed", { callId: "c1", error: failure })
  const end = event("tool-end", { callId: "c1", use: { settlement: { kind: "result", text: "" } } })
  assert.deepStrictEqual(heard(begins, note, calls("c1"), note, end, note), [
    "run: tool-failed",
    "c1: tool-failed",
    "c1 completed at 4 tool-end",
    "run: tool-failed"
  ])
})

it("a call that its message settles was over at its last event, with the error of its last attempt [A1203]", () => {
  const failed = (type: "tool-failed" | "fix-failed") => event(type, { callId: "c1", error: failure })
  const late = event("verdict", { callId: "c1", layer: "tool" })
  for (const type of ["tool-failed", "fix-failed"] as const) {
    for (const kind of ["told", "unknown"])
      assert.deepStrictEqual(
        heard(begins, calls("c1"), failed(type), late, event("turn-start"), endOfTurn(["c1", kind])),
        [`c1: ${type}`, "c1: verdict", "c1 failed at 3 turn-end failure"]
      )
  }
  assert.deepStrictEqual(heard(begins, calls("c1"), late, endOfTurn(["c1", "told"])), [
    "c1: verdict",
    "c1 failed at 2 turn-end"
  ])
  assert.deepStrictEqual(heard(begins, calls("c1"), late, endOfTurn(["c1", "result"])), [
    "c1: verdict",
    "c1 completed at 3 turn-end"
  ])
})

it("a call that was interrupted, or whose outcome is unknown, ends with its run [A1203]", () => {
  for (const kind of ["interrupted", "unknown"])
    assert.deepStrictEqual(heard(begins, calls("c1"), endOfTurn(["c1", kind]), event("run-interrupted")), [
      "c1 interrupted at 3",
      "run interrupted at 3 run-interrupted"
    ])
})

it("the end of a call counts at its own event, with any settlement [A1203]", () => {
  const end = (kind: string) => event("tool-end", { callId: "c1", use: { settlement: { kind, text: "" } } })
  for (const kind of ["told", "interrupted", "unknown"])
    assert.deepStrictEqual(heard(begins, calls("c1"), event("turn-start"), end(kind)), ["c1 failed at 3 tool-end"])
  assert.deepStrictEqual(heard(begins, calls("c1"), event("turn-start"), end("result")), ["c1 completed at 3 tool-end"])
})

it("a message settles the calls that are at work, beside others [A1203]", () => {
  assert.deepStrictEqual(
    heard(begins, calls("c2"), endOfTurn(["c1", "result"], ["c2", "result"]), endOfTurn(["c2", "result"])),
    ["c2 completed at 2 turn-end"]
  )
})

it("a defect is blamed on the only operation that is at work [A1202 A1203]", () => {
  const defect = event("run-failed", { error: failure, isDefect: true })
  const run = "run failed at 2 run-failed failure defect"
  assert.deepStrictEqual(heard(begins, asks, defect), ["model failed at 2 failure defect", run])
  assert.deepStrictEqual(heard(begins, calls("c1"), defect), ["c1 failed at 2 failure defect", run])
  assert.deepStrictEqual(heard(begins, calls("c1"), asks, defect), [
    "c1 interrupted at 3",
    "model interrupted at 3",
    "run failed at 3 run-failed failure defect"
  ])
  assert.deepStrictEqual(heard(begins, asks, event("run-failed", { error: failure, isDefect: false })), [
    "model interrupted at 2",
    "run failed at 2 run-failed failure"
  ])
})

/** A span of a model call, after these notes and this end. */
const spanOf = (notes: ReadonlyArray<readonly [at: bigint, note: AgentEvent.AgentEvent]>, ending: Partial<Ending>) => {
  const { spans, tracer } = recorder()
  const watcher = Spans.watcher(false)
  const operation = watcher.begin(asks, Context.make(Tracer.Tracer, tracer), 1_000_000_000n)
  for (const [at, note] of notes) watcher.within(operation, note, at)
  watcher.end(operation, { at: 9_000_000_000n, how: "completed", ...ending })
  const [span] = spans
  assert(span !== undefined && span.status._tag === "Ended")
  return { attributes: Object.fromEntries(span.attributes), exit: span.status.exit, events: span.events.length }
}

it("the span of a model call has the time to the first delta, in seconds [A1203]", () => {
  for (const type of ["text-delta", "reasoning-delta"] as const) {
    const { attributes, events } = spanOf(
      [
        [3_500_000_000n, event(type)],
        [5_000_000_000n, event("text-delta")],
        [6_000_000_000n, event("reasoning-delta")]
      ],
      {}
    )
    assert.deepInclude(attributes, {
      "gen_ai.request.stream": true,
      "gen_ai.response.time_to_first_chunk": 2.5,
      "kintsugi.outcome": "completed"
    })
    assert.strictEqual(events, 0)
  }
  assert.notProperty(spanOf([], {}).attributes, "gen_ai.request.stream")
})

it("the span of a model call has the options that were adapted, and a note of them [A1203]", () => {
  const adapted = event("request-adapted", { family: "openai", changes: [{ option: "topP" }, { option: "stop" }] })
  const { attributes, events } = spanOf([[2_000_000_000n, adapted]], {})
  assert.deepStrictEqual(attributes["kintsugi.adapted"], ["topP", "stop"])
  assert.strictEqual(events, 1)
})

it("the span of an operation that has failed ends with a failure or a defect, by its title [A1203]", () => {
  const report = { name: "ServerError", message: "Provider failed" }
  const of = (isDefect: boolean) => spanOf([], { how: "failed", error: failure, isDefect }).exit
  assert.deepStrictEqual(of(true), Exit.die(report))
  assert.deepStrictEqual(of(false), Exit.fail(report))
  assert.deepStrictEqual(spanOf([], {}).exit, Exit.void)
  const { attributes } = spanOf([], { how: "interrupted" })
  assert.strictEqual(attributes["kintsugi.outcome"], "interrupted")
})
