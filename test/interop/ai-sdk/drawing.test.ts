/** Events of a run as chunks of a UI message stream, one by one. */
import { assert, describe, it } from "@effect/vitest"
import { type AgentEvent, Message, Usage } from "@kintsugi/core"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, Stream } from "effect"

const origin = { runId: "r", agent: "a", at: 1, turn: 1 }

/** An event with the fields that are read. */
const event = (type: AgentEvent.AgentEvent["type"], fields: object = {}): AgentEvent.AgentEvent =>
  // cast: of the other fields nothing is read
  ({ ...origin, type, ...fields }) as unknown as AgentEvent.AgentEvent

/** The chunks that the last events give, after those before them. */
const after = (before: ReadonlyArray<AgentEvent.AgentEvent>, ...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  UiMessageStream.fromEvents([...before, ...events]).slice(UiMessageStream.fromEvents(before).length)

const start = event("run-start", { transcript: [] })
const text = (delta: string) => event("text-delta", { text: delta })
const thought = (delta: string) => event("reasoning-delta", { text: delta })
const attempt = event("model-start")
const ended = event("turn-end")
const usage = Usage.make({ inputTokens: 1 })
const completed = (fields: object = {}) => event("run-completed", { usage, finish: "stop", ...fields })

/** The reply of a model. */
const reply = (content: Message.Reply["content"], facts: object = {}, turn = 1) =>
  event("model-end", { turn, reply: { content, finish: "stop", usage, ...facts } })

const call = (id: string, args: Message.ToolCall["arguments"] = "{}"): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "look",
  arguments: args
})

const input = (toolCallId: string, given: unknown = {}) => ({
  type: "tool-input-available",
  toolCallId,
  toolName: "look",
  input: given,
  dynamic: true
})

const begun = [start, attempt]

describe("the text of a message", () => {
  it("comes in blocks of one kind, each with its own id, within a step [P1381]", () => {
    const events = [start, attempt, thought("hm"), thought("m"), text(""), text("so"), thought("oh"), ended, attempt]
    assert.deepStrictEqual<unknown>(UiMessageStream.fromEvents([...events, text("end"), completed()]), [
      { type: "start", messageId: "r" },
      { type: "start-step" },
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: "hm" },
      { type: "reasoning-delta", id: "1", delta: "m" },
      { type: "reasoning-end", id: "1" },
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "so" },
      { type: "text-end", id: "2" },
      { type: "reasoning-start", id: "3" },
      { type: "reasoning-delta", id: "3", delta: "oh" },
      { type: "reasoning-end", id: "3" },
      { type: "finish-step" },
      { type: "start-step" },
      { type: "text-start", id: "4" },
      { type: "text-delta", id: "4", delta: "end" },
      { type: "text-end", id: "4" },
      { type: "finish-step" },
      { type: "finish", finishReason: "stop", messageMetadata: { usage, isSuspended: false } }
    ])
  })

  it("is that of a whole reply, unless it was streamed [P1381]", () => {
    const content = [Message.text("a"), { type: "reasoning" as const, text: "b" }, call("c"), Message.text("d")]
    assert.deepStrictEqual<unknown>(after(begun, reply(content)), [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "a" },
      { type: "text-end", id: "1" },
      { type: "reasoning-start", id: "2" },
      { type: "reasoning-delta", id: "2", delta: "b" },
      { type: "reasoning-end", id: "2" },
      input("c"),
      { type: "text-start", id: "3" },
      { type: "text-delta", id: "3", delta: "d" },
      { type: "text-end", id: "3" }
    ])
    for (const streamed of [text("a"), thought("b")]) {
      const kind = streamed.type === "text-delta" ? "text" : "reasoning"
      assert.deepStrictEqual<unknown>(after([...begun, streamed], reply(content)), [
        { type: `${kind}-end`, id: "1" },
        input("c")
      ])
    }
    // the reply of the next attempt was not streamed
    assert.lengthOf(after([...begun, text("a"), reply(content), attempt], reply([Message.text("b")])), 3)
    assert.deepStrictEqual<unknown>(after(begun, reply([Message.text("a"), Message.text("b")])), [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "a" },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "b" },
      { type: "text-end", id: "2" }
    ])
  })

  it("goes on from what was shown before [P1561]", () => {
    const continued = event("attempt-continued", { kept: "all " })
    const deltas = (...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
      after(begun, ...events).flatMap((chunk) => ("delta" in chunk ? [chunk.delta] : []))
    const whole = (said: string) => reply([Message.text(said)])
    assert.deepStrictEqual(deltas(continued, whole("all is well")), ["is well"])
    assert.deepStrictEqual(deltas(continued, whole("is well")), ["is well"])
    assert.deepStrictEqual(deltas(continued, whole("all ")), [])
    assert.deepStrictEqual(deltas(continued, reply([Message.text("all is"), Message.text("all well")])), [
      "is",
      "all well"
    ])
    assert.deepStrictEqual(deltas(continued, reply([{ type: "reasoning", text: "all is" }])), ["all is"])
    // the reply has ended with it, and so has what was discarded
    assert.deepStrictEqual(deltas(continued, reply([call("c")]), attempt, whole("all is")), ["all is"])
    assert.deepStrictEqual(deltas(continued, event("attempt-discarded"), whole("all is")), ["all is"])
    const ofPart = event("attempt-discarded", { discardedRunId: "other" })
    assert.deepStrictEqual(deltas(continued, ofPart, whole("all is")), ["all is"])
  })

  it("is removed if it is discarded, or stays in a step of its own [P502]", () => {
    const before = [...begun, text("wrong")]
    const discarded = event("attempt-discarded")
    assert.deepStrictEqual<unknown>(after(before, discarded, text("right")), [
      { type: "reset-step" },
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "right" }
    ])
    assert.deepStrictEqual<unknown>(after(before, event("attempt-discarded", { discardedRunId: "part" })), [])
    const without = UiMessageStream.fromEvents([...before, discarded, text("right")], { resets: false })
    assert.deepStrictEqual<unknown>(without.slice(4), [
      { type: "text-end", id: "1" },
      { type: "finish-step" },
      { type: "start-step" },
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "right" }
    ])
  })

  it("ends where its model call is interrupted [P1381]", () => {
    const interrupted = event("model-interrupted")
    assert.deepStrictEqual<unknown>(after([...begun, text("so")], interrupted), [{ type: "text-end", id: "1" }])
    assert.deepStrictEqual<unknown>(after(begun, interrupted, interrupted), [])
  })

  it("begins anew after events were lost [P1542]", () => {
    const lost = (said?: string) =>
      event("events-lost", { transcript: [], ...(said === undefined ? {} : { text: said }) })
    const first = [{ type: "start", messageId: "r" }, { type: "start-step" }]
    assert.deepStrictEqual<unknown>(UiMessageStream.fromEvents([lost()]), first)
    assert.deepStrictEqual<unknown>(UiMessageStream.fromEvents([lost("all ")]), [
      ...first,
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "all " }
    ])
    assert.deepStrictEqual<unknown>(after([start], lost()), [{ type: "start-step" }])
    assert.deepStrictEqual<unknown>(after([...begun, text("a")], lost("b")), [
      { type: "reset-step" },
      { type: "text-start", id: "2" },
      { type: "text-delta", id: "2", delta: "b" }
    ])
    // a text that was shown counts as streamed
    assert.lengthOf(after([lost("all ")], reply([Message.text("all is well")])), 1)
    assert.lengthOf(after([lost("")], reply([Message.text("all is well")])), 3)
  })

  it("has its sources behind it [P1407]", () => {
    const item: Message.ProviderItem = {
      type: "provider-item",
      kind: "sources",
      opaque: { provider: "p", data: { citations: ["https://a.test"] } }
    }
    assert.deepStrictEqual<unknown>(after([...begun, text("so")], reply([item, call("c")])).slice(-1), [
      { type: "source-url", sourceId: "https://a.test", url: "https://a.test" }
    ])
  })
})

describe("a call", () => {
  const ofCall = (callId: string, turn = 1) => ({ callId, tool: "look", turn })
  const end = (kind: Message.Settlement["kind"], said: string, id = "c") =>
    event("tool-end", { ...ofCall(id), use: { settlement: { kind, text: said } } })
  const asked = [...begun, reply([call("c")])]

  it("has its arguments as JSON, if they are, and an output, an error, or a refusal [P1381 P1385]", () => {
    const inputs = ['{"n":1}', "{oops", "", { n: 2 }, null, "[1]"]
    const calls = inputs.map((args, at) => call(`c${at}`, args))
    assert.deepStrictEqual<unknown>(
      after(begun, reply(calls)),
      [{ n: 1 }, "{oops", "", { n: 2 }, null, [1]].map((given, at) => input(`c${at}`, given))
    )
    // of a tool on demand, and one that names no tool
    const onDemand = [{ name: "pay", arguments: { n: 5 } }, { arguments: {} }].map((args, at) => ({
      ...call(`c${at}`, args),
      name: "call_tool"
    }))
    assert.deepStrictEqual<unknown>(after(begun, reply(onDemand)), [
      { ...input("c0", { n: 5 }), toolName: "pay" },
      { ...input("c1", { arguments: {} }), toolName: "call_tool" }
    ])
    const output = (value: unknown) => [
      { type: "tool-output-available", toolCallId: "c", output: value, dynamic: true }
    ]
    for (const kind of ["result", "deferred"] as const) {
      assert.deepStrictEqual<unknown>(after(asked, end(kind, '{"a":1}')), output({ a: 1 }))
      assert.deepStrictEqual<unknown>(after(asked, end(kind, "sunny")), output("sunny"))
    }
    for (const kind of ["told", "interrupted", "truncated", "unknown"] as const)
      assert.deepStrictEqual<unknown>(after(asked, end(kind, '{"a":1}')), [
        { type: "tool-output-error", toolCallId: "c", errorText: '{"a":1}', dynamic: true }
      ])
    assert.deepStrictEqual<unknown>(after(asked, end("denied", "no")), [
      { type: "tool-output-denied", toolCallId: "c" }
    ])
    for (const type of ["tool-denied", "tool-skipped"] as const) {
      const settlement = { kind: "truncated", text: "cut" }
      assert.deepStrictEqual<unknown>(after(asked, event(type, { ...ofCall("c"), settlement })), [
        { type: "tool-output-error", toolCallId: "c", errorText: "cut", dynamic: true }
      ])
    }
    assert.deepStrictEqual<unknown>(after(asked, event("tool-progress", { ...ofCall("c"), data: [1] })), [
      { type: "tool-output-available", toolCallId: "c", output: [1], dynamic: true, preliminary: true }
    ])
    for (const silent of ["tool-start", "tool-waiting", "tool-failed", "tool-result"] as const)
      assert.deepStrictEqual<unknown>(after(asked, event(silent, ofCall("c"))), [])
  })

  it("has an id that no other call of the conversation has [P902]", () => {
    const idsOf = (...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
      UiMessageStream.fromEvents(events).flatMap((chunk) => ("toolCallId" in chunk ? [chunk.toolCallId] : []))
    const second = event("turn-start", { turn: 2 })
    assert.deepStrictEqual(
      idsOf(...asked, end("result", "1"), second, reply([call("c"), call("d")], {}, 2), end("result", "2")),
      ["c", "c", "c#2", "d", "c#2"]
    )
    const settlement = { kind: "result" as const, text: "1" }
    const transcript: Message.Transcript = [
      Message.user("go"),
      { role: "assistant", content: [Message.text("so"), { type: "settled-call", call: call("c"), settlement }] }
    ]
    assert.deepStrictEqual(idsOf(event("run-start", { transcript }), attempt, reply([call("c")])), ["c#1"])
    // a call that an earlier stream has shown
    assert.deepStrictEqual(
      idsOf(start, event("tool-end", { ...ofCall("c", 3), use: { settlement } }), end("result", "2")),
      ["c", "c"]
    )
    assert.deepStrictEqual(
      idsOf(event("run-start", { transcript }), event("tool-end", { ...ofCall("c", 3), use: { settlement } })),
      ["c#3"]
    )
  })

  const requested = event("approval-requested", { ...ofCall("c"), request: { digest: "d1", reason: "money" } })
  const decided = (decision: object, more: object = {}) =>
    event("approval-decided", { ...ofCall("c"), decision, ...more })

  it("waits for an approval, and shows the decision [P902]", () => {
    assert.deepStrictEqual<unknown>(after(asked, requested), [
      { type: "tool-approval-request", toolCallId: "c", approvalId: "d1", reason: "money" }
    ])
    const before = [...asked, requested]
    const response = { type: "tool-approval-response", approvalId: "d1" }
    assert.deepStrictEqual<unknown>(after(before, decided({ type: "approve" })), [{ ...response, approved: true }])
    assert.deepStrictEqual<unknown>(after(before, decided({ type: "approve", arguments: { n: 2 } })), [
      input("c", { n: 2 }),
      { ...response, approved: true }
    ])
    assert.deepStrictEqual<unknown>(after(before, decided({ type: "refuse", reason: "no", arguments: { n: 2 } })), [
      { ...response, approved: false, reason: "no" }
    ])
  })

  it("shows no decision that its reader was not asked for [P902]", () => {
    assert.deepStrictEqual<unknown>(after(asked, decided({ type: "approve", arguments: { n: 2 } })), [])
    assert.deepStrictEqual<unknown>(after([...asked, requested], decided({ type: "approve" }, { by: "grant" })), [])
  })
})

describe("the end of a message", () => {
  const lastOf = (...events: ReadonlyArray<AgentEvent.AgentEvent>) => UiMessageStream.fromEvents(events).at(-1)
  const metadata = { usage, isSuspended: false }

  it("has the finish reason of the SDK [P1381]", () => {
    for (const [finish, finishReason] of [
      ["stop", "stop"],
      ["tool-calls", "tool-calls"],
      ["length", "length"],
      ["filtered", "content-filter"],
      ["paused", "other"],
      ["other", "other"]
    ] as const)
      assert.deepStrictEqual<unknown>(after([start], completed({ finish })), [
        { type: "finish", finishReason, messageMetadata: metadata }
      ])
    assert.deepStrictEqual<unknown>(after([start], completed({ endedBy: { reason: "maxTurns", limit: 1 } })), [
      {
        type: "finish",
        finishReason: "stop",
        messageMetadata: { ...metadata, endedBy: { reason: "maxTurns", limit: 1 } }
      }
    ])
  })

  it("has the output as a text, if no reply is the output [A711]", () => {
    const finish = { type: "finish", finishReason: "stop", messageMetadata: metadata }
    for (const [output, delta] of [
      ["so", "so"],
      [{ a: 1 }, '{"a":1}'],
      [5, "5"],
      [null, "null"]
    ] as const)
      assert.deepStrictEqual<unknown>(after([start], completed({ finish: undefined, output })), [
        { type: "start-step" },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta },
        { type: "text-end", id: "1" },
        { type: "finish-step" },
        finish
      ])
    for (const output of ["", undefined])
      assert.deepStrictEqual<unknown>(after([start], completed({ finish: undefined, output })), [
        { type: "start-step" },
        { type: "finish-step" },
        finish
      ])
  })

  it("says that the run waits, has failed or was interrupted [P902]", () => {
    const before = [...begun, text("so")]
    const closed = [{ type: "text-end", id: "1" }, { type: "finish-step" }]
    assert.deepStrictEqual<unknown>(after(before, event("run-suspended", { usage })), [
      ...closed,
      { type: "finish", finishReason: "other", messageMetadata: { usage, isSuspended: true } }
    ])
    assert.deepStrictEqual<unknown>(after(before, event("run-failed", { usage, error: new Error("secret") })), [
      ...closed,
      { type: "error", errorText: "UNKNOWN" },
      { type: "finish", finishReason: "error", messageMetadata: metadata }
    ])
    assert.deepStrictEqual<unknown>(after(before, event("run-interrupted", { usage })), [...closed, { type: "abort" }])
    assert.deepStrictEqual<unknown>(after([start], event("run-interrupted", { usage })), [{ type: "abort" }])
  })

  it("has the facts of the last reply [P1407]", () => {
    const facts = { model: "m", responseId: "i", requestId: "q", rawFinish: "end", serviceTier: "flex" }
    const more = { cost: 1, isEstimated: true }
    assert.deepInclude(lastOf(...begun, reply([], { ...facts, ...more }), completed()), {
      messageMetadata: { ...metadata, reply: facts }
    })
    assert.deepInclude(lastOf(...begun, reply([], facts), attempt, reply([], { model: "n" }), completed()), {
      messageMetadata: { ...metadata, reply: { model: "n" } }
    })
    assert.deepInclude(lastOf(...begun, reply([], facts), attempt, reply([]), completed()), {
      messageMetadata: metadata
    })
  })

  it("is the last chunk, and events of other runs give none [P1381]", () => {
    for (const end of [completed(), event("run-suspended", { usage }), event("run-interrupted", { usage })])
      assert.deepStrictEqual<unknown>(after([start, end], attempt, text("late"), completed()), [])
    const other = (one: AgentEvent.AgentEvent): AgentEvent.AgentEvent => ({ ...one, runId: "other" })
    assert.deepStrictEqual<unknown>(after([start], other(start), other(attempt), other(completed())), [])
    // the run of a stream begins once
    assert.deepStrictEqual<unknown>(after([start], start), [])
    for (const silent of ["turn-start", "turn-prepared", "budget-warning", "guardrail", "message-queued"] as const)
      assert.deepStrictEqual<unknown>(after([start], event(silent)), [])
  })
})

it.effect("chunks are server-sent events, with the headers that proxies need [P1381]", () =>
  Effect.gen(function* () {
    const chunks = UiMessageStream.fromStream(Stream.concat(Stream.make(start), Stream.fail("gone")))
    assert.deepStrictEqual(yield* Stream.runCollect(UiMessageStream.toServerSentEvents(chunks)), [
      'data: {"type":"start","messageId":"r"}\n\n',
      "data: [DONE]\n\n"
    ])
    assert.deepStrictEqual(UiMessageStream.headers, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-vercel-ai-ui-message-stream": "v1",
      "x-accel-buffering": "no"
    })
  })
)
