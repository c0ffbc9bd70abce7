/** The attributes of each event: all of them, and nothing else. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, LlmError, Message, Usage } from "@kintsugi/core"
import { Duration } from "effect"
import * as Attributes from "../../../packages/core/src/telemetry/attributes.ts"
import * as Content from "../../../packages/core/src/telemetry/content.ts"
import { event } from "./_support/events.ts"

type Row = readonly [event: AgentEvent.AgentEvent, attributes: object | undefined]

const error = LlmError.ServerError.make({ model: "m" })
const code = "KINTSUGI-SERVER"
const ofCall = { callId: "c1", tool: "look" }
const ofLook = { "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1" }

const usage = Usage.make({ inputTokens: 5, outputTokens: 2 })
const ofUsage = { "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2 }
const entry = { purpose: "agent", outcome: "used", usage, provider: "openai" }
const ofEntry = { ...ofUsage, "kintsugi.purpose": "agent", "kintsugi.ledger.outcome": "used" }

const limit = { reason: "maxTurns", spent: 1, limit: 2 }
const ofLimit = { "kintsugi.limit": "maxTurns", "kintsugi.limit.spent": 1, "kintsugi.limit.value": 2 }

const notes: ReadonlyArray<Row> = [
  [
    event("verdict", {
      attempt: 2,
      delay: Duration.seconds(1),
      error,
      gaveUp: false,
      hint: Duration.seconds(3),
      layer: "tool",
      rung: 1,
      verdict: "retry"
    }),
    {
      "kintsugi.code": code,
      "kintsugi.layer": "tool",
      "kintsugi.verdict": "retry",
      "kintsugi.gave_up": false,
      "kintsugi.rung": 1,
      "kintsugi.attempt": 2,
      "kintsugi.delay_ms": 1000,
      "kintsugi.hint_ms": 3000
    }
  ],
  [event("tool-failed", { attempt: 1, error }), { "kintsugi.code": code, "kintsugi.attempt": 1 }],
  [event("fix-start", { repair: "f" }), { "kintsugi.repair": "f" }],
  [event("fix-end", { repair: "f" }), { "kintsugi.repair": "f" }],
  [event("fix-failed", { error, repair: "f" }), { "kintsugi.code": code, "kintsugi.repair": "f" }],
  [event("attempt-discarded", { attempt: 1, text: "Well" }), { "kintsugi.attempt": 1 }],
  [event("attempt-continued", { attempt: 1, kept: "Well" }), { "kintsugi.attempt": 1, "kintsugi.characters": 4 }],
  [
    event("compacted", { compaction: "summarise", before: { characters: 9 }, after: { characters: 3 } }),
    { "kintsugi.compaction": "summarise", "kintsugi.characters_before": 9, "kintsugi.characters_after": 3 }
  ],
  [
    event("not-compacted", { compaction: "summarise", why: "failed", error }),
    { "kintsugi.compaction": "summarise", "kintsugi.not_compacted": "failed", "kintsugi.code": code }
  ],
  [
    event("not-compacted", { compaction: "summarise", why: "not-shorter" }),
    { "kintsugi.compaction": "summarise", "kintsugi.not_compacted": "not-shorter" }
  ],
  [event("arguments-coerced", { change: { step: "repair" } }), { "kintsugi.coercion": "repair" }],
  [event("output-coerced", { change: { step: "repair" } }), { "kintsugi.coercion": "repair" }],
  [event("output-rejected", { issues: [1, 2] }), { "kintsugi.issues": 2 }],
  [event("approval-requested", ofCall), {}],
  [event("approval-expired", ofCall), ofLook],
  [event("tool-waiting", ofCall), ofLook],
  [event("tool-result", ofCall), ofLook],
  [event("approval-decided", { decision: { type: "approve" } }), { "kintsugi.decision": "approve" }],
  [
    event("approval-decided", { decision: { type: "approve" }, by: "g1" }),
    { "kintsugi.decision": "approve", "kintsugi.grant": "g1" }
  ],
  [event("tool-denied", ofCall), ofLook],
  [
    event("tool-changed", { action: "removed", server: "s", tool: "look" }),
    { "gen_ai.tool.name": "look", "kintsugi.server": "s", "kintsugi.change_action": "removed" }
  ],
  [event("events-lost"), {}],
  [
    event("request-adapted", { family: "openai", changes: [{ option: "topP" }, { option: "stop" }] }),
    { "kintsugi.family": "openai", "kintsugi.adapted": "topP, stop" }
  ],
  [
    event("parts-described", { ...ofCall, model: "m", parts: [1, 2] }),
    { ...ofLook, "gen_ai.request.model": "m", "kintsugi.parts": 2 }
  ],
  [
    event("turn-prepared", { model: "m", tools: ["look", "pay"] }),
    { "gen_ai.request.model": "m", "kintsugi.turn.tools": "look, pay" }
  ],
  [event("turn-prepared"), {}],
  [
    event("guardrail", { guard: "manners", side: "output", verdict: "block" }),
    {
      "kintsugi.guardrail": "manners",
      "kintsugi.guardrail.side": "output",
      "kintsugi.guardrail.verdict": "block"
    }
  ],
  [event("message-queued", { id: "m1" }), { "kintsugi.message": "m1" }],
  [event("message-read", { id: "m1" }), { "kintsugi.message": "m1" }],
  [event("message-returned", { id: "m1" }), { "kintsugi.message": "m1" }],
  [event("budget-warning", limit), ofLimit],
  [event("budget-exceeded", { ...limit, action: "fail" }), { ...ofLimit, "kintsugi.limit.action": "fail" }],
  [event("skill-chosen", { by: "rule", skill: "pay" }), { "kintsugi.skill": "pay", "kintsugi.chosen_by": "rule" }],
  [event("text-delta", { text: "Well" }), undefined]
]

it("a note has the names, counts and codes of its event [A1203]", () => {
  for (const [one, attributes] of notes) assert.deepStrictEqual(Attributes.of(Attributes.ofNote, one), attributes)
})

const finishes: Readonly<Record<Message.FinishReason, string>> = {
  stop: "stop",
  "tool-calls": "tool_call",
  length: "length",
  filtered: "content_filter",
  paused: "pause",
  other: "other"
}

const operations: ReadonlyArray<Row> = [
  [
    event("run-start", { parent: { runId: "p" }, startedIn: { runId: "q" } }),
    {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "worker",
      "kintsugi.run.id": "r",
      "kintsugi.parent.run.id": "p",
      "kintsugi.started_in.run.id": "q"
    }
  ],
  ...Object.entries(finishes).map(([finish, shown]): Row => [
    event("model-end", { entry, reply: { finish, content: [] } }),
    { ...ofEntry, "gen_ai.response.finish_reasons": [shown] }
  ]),
  [
    event("model-end", {
      entry: { ...entry, cost: 2, isEstimated: true },
      reply: {
        finish: "stop",
        model: "m2",
        responseId: "i",
        serviceTier: "flex",
        rawFinish: "end_turn",
        requestId: "q1"
      }
    }),
    {
      ...ofEntry,
      "kintsugi.usage.estimated": true,
      "kintsugi.cost": 2,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.model": "m2",
      "gen_ai.response.id": "i",
      "openai.response.service_tier": "flex",
      "kintsugi.response.raw_finish": "end_turn",
      "kintsugi.request.id": "q1"
    }
  ],
  [
    event("model-end", { entry: { ...entry, provider: "acme" }, reply: { finish: "stop", serviceTier: "flex" } }),
    { ...ofEntry, "gen_ai.response.finish_reasons": ["stop"], "kintsugi.response.service_tier": "flex" }
  ],
  [event("model-failed", { entry }), ofEntry],
  [
    event("tool-end", { use: { attempts: 2, settlement: { kind: "told" }, recoveredBy: "tell" } }),
    { "kintsugi.attempts": 2, "kintsugi.settlement": "told", "kintsugi.recovered_by": "tell" }
  ],
  [
    event("result-put-aside", { bytes: 9, handle: "h", tool: "look" }),
    { "gen_ai.tool.name": "look", "kintsugi.handle": "h", "kintsugi.bytes": 9 }
  ],
  [event("result-cut", { error, tool: "look" }), { "gen_ai.tool.name": "look", "kintsugi.code": code }],
  [event("tool-denied", { settlement: { kind: "denied" } }), { "kintsugi.settlement": "denied" }],
  ...(["run-completed", "run-suspended", "run-failed", "run-interrupted"] as const).map((type): Row => [
    event(type, { usage, ledger: [{ cost: 1 }, {}, { cost: 2 }], turn: 3 }),
    { ...ofUsage, "kintsugi.turns": 3, "kintsugi.cost": 3 }
  ]),
  [
    event("run-completed", { usage, ledger: [{}], endedBy: { reason: "maxTurns", limit: 2 } }),
    { ...ofUsage, "kintsugi.turns": 1, "kintsugi.ended_by": "maxTurns", "kintsugi.ended_by.limit": 2 }
  ],
  [event("turn-start"), undefined]
]

it("an operation has the names, counts and codes of the events that begin and end it [A1203]", () => {
  for (const [one, attributes] of operations)
    assert.deepStrictEqual(Attributes.of(Attributes.ofOperation, one), attributes)
})

const call = { type: "tool-call", id: "c1", name: "look", arguments: { n: 1 } } as const
const ofToolCall = { type: "tool_call", id: "c1", name: "look", arguments: { n: 1 } }

it("texts of an operation are messages by the conventions [A1203]", () => {
  const contentOf = (one: AgentEvent.AgentEvent) => Attributes.of(Content.ofOperation, one)
  const answer: Message.Assistant = {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm" },
      Message.text("well"),
      { type: "provider-item", kind: "search", opaque: { provider: "p", data: "private" } },
      { type: "settled-call", call, settlement: { kind: "result", text: "seen" } }
    ]
  }
  const parts = [{ type: "reasoning", content: "hm" }, { type: "text", content: "well" }, { type: "search" }]
  const transcript = [Message.system("Work."), Message.user("go"), answer]
  assert.deepStrictEqual(contentOf(event("run-start", { transcript })), {
    "gen_ai.input.messages": JSON.stringify([
      { role: "system", parts: [{ type: "text", content: "Work." }] },
      { role: "user", parts: [{ type: "text", content: "go" }] },
      { role: "assistant", parts: [...parts, { ...ofToolCall, response: "seen" }] }
    ])
  })
  const reply = { content: [...answer.content.slice(0, 3), call], finish: "tool-calls" }
  assert.deepStrictEqual(contentOf(event("model-end", { reply })), {
    "gen_ai.output.messages": JSON.stringify([
      { role: "assistant", parts: [...parts, ofToolCall], finish_reason: "tool-calls" }
    ])
  })
  for (const [args, shown] of [
    [{ n: 1 }, '{"n":1}'],
    ['{"n":', '{"n":'],
    [undefined, ""]
  ])
    assert.deepStrictEqual(contentOf(event("tool-start", { arguments: args })), {
      "gen_ai.tool.call.arguments": shown
    })
  assert.deepStrictEqual(contentOf(event("tool-end", { use: { settlement: { kind: "result", text: "seen" } } })), {
    "gen_ai.tool.call.result": "seen"
  })
  assert.isUndefined(contentOf(event("run-completed")))
})

it("an error is reported by its title or its code, never by its message [T8 A1203]", () => {
  const secret = new Error("private")
  const reports = [error, secret, Object.assign(new Error("private"), { _tag: "Busy" })].map((one) => [
    Attributes.reportOf({ at: 0n, how: "failed", error: one }),
    Attributes.ofError({ at: 0n, how: "failed", error: one })
  ])
  assert.deepStrictEqual(reports, [
    [
      { name: "ServerError", message: "Provider failed" },
      { "error.type": code, "kintsugi.retryable": true }
    ],
    [
      { name: "Error", message: "UNKNOWN" },
      { "error.type": "UNKNOWN", "kintsugi.retryable": false }
    ],
    [
      { name: "Busy", message: "Busy" },
      { "error.type": "Busy", "kintsugi.retryable": false }
    ]
  ])
  assert.strictEqual(Attributes.errorType({ at: 0n, how: "failed" }), "_OTHER")
})
