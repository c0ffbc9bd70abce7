import { assert, it } from "@effect/vitest"
import {
  AgentEvent,
  Approval,
  KintsugiError,
  type Ledger,
  Message,
  type Snapshot,
  ToolError,
  Usage
} from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Duration, Effect, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import type { CallProgress } from "../../../packages/core/src/event/Checkpoint.ts"
import { cause, check, instances, shape, shapeOf as shapeOfError } from "../../_support/errors.ts"
import type { OfCall } from "../../../packages/core/src/event/Happening.ts"
const text = Schema.fromJsonString(AgentEvent.AgentEvent)
const write = Schema.encodeSync(text)
const read = Schema.decodeUnknownSync(text)

type Full<Type extends AgentEvent.AgentEvent["type"]> = Required<
  Extract<AgentEvent.AgentEvent, { readonly type: Type }>
> &
  (Type extends "verdict" ? OfCall : unknown)

const origin = { runId: "r", agent: "a", turn: 1, at: 5 }
const around = { ...origin, parent: { runId: "r0", callId: "c0" }, cursor: "r0.e.7" }
const ofChange = { tool: "t", server: "shop", action: "accept", before: "d1", after: "d2" } as const
const adaptation = { family: "f", changes: [{ option: "reasoning", asked: { maxTokens: 0 }, sent: "low" }] }
const ofCall = { callId: "c", tool: "t" }
const usage = Usage.make({ inputTokens: 3 })
const call: Message.ToolCall = { type: "tool-call", id: "c", name: "t", arguments: { n: 1 } }
const facts = { model: "m1", responseId: "resp_1", requestId: "req_1", rawFinish: "tool_use", serviceTier: "flex" }
const ended = { finish: "tool-calls", usage, isEstimated: true, resent: usage, cost: 0.5, ...facts } as const
const reply: Required<Message.Reply> = { content: [Message.text("well"), call], ...ended }
const settlement: Message.Settlement = {
  kind: "told",
  text: "no",
  parts: [
    Message.text("no"),
    Message.image("image/png", { data: "AA==" }),
    { type: "file", mediaType: "a/b", bytes: 4 }
  ],
  unsupported: "follow"
}
const message = Message.settle(reply, [settlement])
const transcript = [Message.system("Work."), Message.user("go"), message]
const entry: Required<Ledger.Entry> = {
  runId: "r",
  agent: "a",
  turn: 1,
  attempt: 2,
  model: "m",
  provider: "p",
  purpose: "agent",
  outcome: "used",
  usage,
  isEstimated: true,
  resent: usage,
  cost: 0.5
}
const use: Required<AgentEvent.OfType<"tool-end">["use"]> = {
  arguments: { n: 1 },
  params: { n: 1 },
  settlement,
  recoveredBy: "tell",
  attempts: 2
}
const said: Required<Message.SaidMessage> = { id: "m1", message: Message.user("and this"), supersede: true }
const asked = { model: "m", attempt: 2, entry }
const spent = { usage, ledger: [entry], unread: [said] }
const error = ToolError.InvalidArgs.make({ tool: "t", callId: "c", rawArgs: "{", parseError: "no JSON" })
const endedBy = { reason: "maxTurns", limit: 5 } as const
const limit = { reason: "maxTurns", spent: 4, limit: 5 } as const

const request = new Approval.ApprovalRequest({
  runId: "r",
  agent: "a",
  tool: "t",
  callId: "c",
  key: "r/1/0",
  arguments: { n: 1 },
  reason: "why",
  schema: "s",
  digest: "d",
  requestedAt: 1,
  expiresAt: 9
})
const progress: CallProgress = {
  position: {
    version: 2,
    attempts: 2,
    repairs: 1,
    startedAt: 3,
    wakeAt: 9,
    slots: [
      {
        row: "agent.Busy",
        rungs: [0],
        kind: "retry",
        count: 0,
        steps: [{ at: 4, seen: { _tag: "Busy", message: "busy", retryAfter: Duration.seconds(1) } }]
      }
    ]
  },
  executions: 2,
  isUncertain: true,
  failures: [{ _tag: "Busy", message: "busy", isRetryable: true, suggestedDelay: Duration.seconds(2), maxAttempts: 3 }],
  trail: [
    { tag: "Busy", message: "busy", verdict: "retry", gaveUp: false, rung: 0, attempt: 1, delay: Duration.seconds(1) }
  ]
}
const prepared = {
  model: "m",
  tools: ["t"],
  toolChoice: { tool: "t" },
  prompt: "Be.",
  options: { seed: 1 },
  contextWindow: 1000
}
const snapshot: Required<Snapshot.Snapshot> = {
  version: 6,
  id: "s1",
  runId: "r",
  seed: "k-0\nagent",
  agent: "a",
  skill: "s",
  warned: ["maxTurns"],
  transcript,
  compacted: { head: transcript, from: 1 },
  late: [
    {
      callId: "c",
      callKey: "r/1/0",
      key: "k",
      arguments: { n: 1 },
      tool: "t",
      token: "t.d.e.f",
      handle: { job: 1 },
      expiresAt: 9,
      result: { kind: "result", text: "fine" }
    }
  ],
  compactionTurn: 2,
  putAside: [{ handle: "k-0", text: "long" }, { handle: "k-1" }],
  inputIndex: 0,
  unfinished: {
    reply,
    keys: ["k-0"],
    calls: [{ type: "decision", request, progress }],
    admitted: 1,
    admittedInARow: 1,
    toolsWereOff: false
  },
  limits: { maxTurns: 8, maxToolCalls: 32, maxTokens: Infinity, maxCost: Infinity, maxDuration: 300_000 },
  inbox: [said],
  withdrawn: ["0"],
  decided: ["1"],
  turn: 1,
  prepared,
  spent: { turns: 1, toolCalls: 1, millis: 5 },
  ledger: [entry],
  cappedCalls: { t: 1 },
  cappedTools: [{ tool: "t", agents: [["a"], ["b", "a"]], calls: 1 }],
  grants: [
    {
      id: "g",
      agent: "a",
      tool: "t",
      definition: "d",
      admits: { rule: "small" },
      at: 1,
      until: 2,
      deep: true,
      who: "w"
    }
  ],
  failures: { failingBatches: 1, isToolsOff: false, withheld: ["t"], streaks: [] },
  callsWithToolsOff: 0,
  outputsRejected: 0,
  sameTool: { tool: "t", calls: 1 },
  made: [{ digest: "k", times: 1 }],
  pins: { "shop/sell": "d1" },
  guards: { unchecked: [0], withheld: 1 }
}

/** Every event, with all that it may hold: one that is new, or holds more, does not compile without it. */
const approved = { type: "approve", arguments: 1 } as const
const named = { foreignName: "a.b", calledAs: "A_B", sideEffects: "unsafe", definedAt: "a.ts:1:2" } as const
const marks = { by: "g", mayRunTwice: true } as const
const converted = { step: "convert-number", path: [], before: "a", after: 1 } as const

const full: { readonly [Type in AgentEvent.AgentEvent["type"]]: Full<Type> } = {
  "run-start": { ...around, type: "run-start", input: "go", transcript, startedIn: { runId: "ended", callId: "c" } },
  "skill-chosen": { ...around, type: "skill-chosen", skill: "s", by: "model", confidence: 0.5, prompt: "Be." },
  "turn-start": { ...around, type: "turn-start", answerTurn: true, message: Message.user("now") },
  "turn-prepared": { ...around, type: "turn-prepared", ...prepared },
  "model-start": { ...around, type: "model-start", model: "m", provider: "p", attempt: 2 },
  "model-end": { ...around, type: "model-end", reply, ...asked },
  "model-failed": { ...around, type: "model-failed", error, ...asked },
  "model-interrupted": { ...around, type: "model-interrupted", ...asked },
  "text-delta": { ...around, type: "text-delta", text: "we" },
  "reasoning-delta": { ...around, type: "reasoning-delta", text: "hm" },
  "attempt-discarded": { ...around, type: "attempt-discarded", attempt: 1, text: "we", discardedRunId: "r2" },
  "attempt-continued": {
    ...around,
    type: "attempt-continued",
    attempt: 1,
    kept: "we",
    dropped: [{ callId: "c1", tool: "t" }]
  },
  compacted: {
    ...around,
    type: "compacted",
    compaction: "dropOldest",
    before: { messages: 9, characters: 900 },
    after: { messages: 3, characters: 300 },
    transcript,
    ahead: { tokens: 900, window: 1000 }
  },
  "not-compacted": { ...around, type: "not-compacted", compaction: "summarise", why: "failed", error },
  "tool-start": { ...around, ...ofCall, ...named, type: "tool-start", arguments: "{}" },
  "arguments-coerced": {
    ...around,
    ...ofCall,
    type: "arguments-coerced",
    change: { step: "convert-number", path: ["n", 0], before: "1", after: 1 }
  },
  "tool-progress": { ...around, ...ofCall, type: "tool-progress", data: { done: 0.5 } },
  "tool-changed": { ...around, ...ofChange, type: "tool-changed" },
  "request-adapted": { ...around, type: "request-adapted", model: "m", provider: "p", ...adaptation },
  "parts-described": {
    ...around,
    ...ofCall,
    type: "parts-described",
    model: "m",
    parts: [{ type: "image", mediaType: "image/png" }]
  },
  "tool-denied": { ...around, ...ofCall, type: "tool-denied", settlement },
  "tool-skipped": { ...around, ...ofCall, type: "tool-skipped", settlement },
  "tool-compensated": { ...around, ...ofCall, type: "tool-compensated", key: "run-1/1/0", error },
  "tool-failed": { ...around, ...ofCall, type: "tool-failed", attempt: 2, error },
  "fix-start": { ...around, ...ofCall, type: "fix-start", repair: 1, input: "{" },
  "fix-end": { ...around, ...ofCall, type: "fix-end", repair: 1, answer: "{}" },
  "fix-failed": { ...around, ...ofCall, type: "fix-failed", repair: 1, error },
  "tool-end": { ...around, ...ofCall, type: "tool-end", use },
  verdict: {
    ...around,
    ...ofCall,
    type: "verdict",
    layer: "tool",
    tag: "InvalidArgs",
    verdict: "retry",
    gaveUp: false,
    why: "no-approver",
    rung: 1,
    attempt: 2,
    delay: Duration.millis(12.5),
    hint: Duration.infinity,
    hintFrom: "RateLimitError",
    left: { turns: Infinity, toolCalls: 2 },
    error
  },
  "turn-end": { ...around, type: "turn-end", message },
  "events-lost": { ...around, type: "events-lost", transcript, text: "so f" },
  guardrail: {
    ...around,
    type: "guardrail",
    guard: "pii",
    side: "input",
    verdict: "replace",
    reason: "a name",
    index: 0,
    message: Message.user("masked")
  },
  "message-queued": { ...around, type: "message-queued", id: said.id, message: said.message },
  "message-read": { ...around, type: "message-read", id: said.id, message: said.message },
  "message-returned": { ...around, type: "message-returned", id: said.id, message: said.message },
  "budget-warning": { ...around, type: "budget-warning", ...limit },
  "budget-exceeded": { ...around, type: "budget-exceeded", ...limit, action: "stop", wanted: "answer" },
  "run-completed": {
    ...around,
    type: "run-completed",
    output: { keys: 3 },
    finish: "length",
    endedBy,
    open: [{ type: "deferred", runId: "r", agent: "a", callId: "c", tool: "order", handle: { job: 1 }, expiresAt: 9 }],
    ...spent
  },
  "run-failed": { ...around, type: "run-failed", error, isDefect: false, reasons: [error], transcript, ...spent },
  "output-coerced": { ...around, type: "output-coerced", change: converted },
  "output-rejected": {
    isCut: true,
    ...around,
    type: "output-rejected",
    text: "no",
    issues: [{ path: ["n"], expected: "Expected number", actual: "nothing" }],
    message: Message.user("again")
  },
  "tool-result": {
    ...around,
    ...ofCall,
    type: "tool-result",
    handle: { job: 1 },
    settlement: { kind: "result", text: "fine" },
    message: said.message
  },
  "tool-waiting": {
    ...around,
    ...ofCall,
    type: "tool-waiting",
    handle: { job: 1 },
    expiresAt: 9,
    replaces: { job: 0 }
  },
  "result-put-aside": {
    ...around,
    ...ofCall,
    type: "result-put-aside",
    handle: "k-0",
    characters: 9,
    bytes: 10
  },
  "result-cut": { ...around, ...ofCall, type: "result-cut", characters: 9, error },
  "approval-requested": { ...around, ...ofCall, type: "approval-requested", request },
  "approval-expired": { ...around, ...ofCall, type: "approval-expired", request },
  "approval-decided": { ...around, ...ofCall, type: "approval-decided", decision: approved, ...marks },
  "run-suspended": { ...around, type: "run-suspended", snapshot, message, ...spent },
  "run-interrupted": { ...around, type: "run-interrupted", transcript, ...spent }
}

it("every event is written with all that it holds [A1203]", () => {
  for (const [type, event] of Object.entries(full)) assert.deepStrictEqual(read(write(event)), event, type)
  const { callId: _c, tool: _t, ...outside } = full.verdict
  assert.deepStrictEqual(read(write(outside)), outside)
  assert.deepInclude(Schema.encodeSync(AgentEvent.AgentEvent)(full.verdict), { delay: 12.5, hint: "Infinity" })
})

const errors = Arbitrary.flatMap(Arbitrary.schema(Schema.Literals(["foreign", "tool", "budget"])), (kind) => {
  if (kind === "foreign") return cause
  return Arbitrary.map(
    instances(kind === "tool" ? "ToolExecutionError" : "BudgetExceededError"),
    (error): unknown => error
  )
})

const json = Arbitrary.schema(Schema.Json)

/** An event with an error, and values that are JSON, where the schema says no more than that there is something. */
const events = Arbitrary.map(
  Arbitrary.all({ event: Arbitrary.schema(AgentEvent.AgentEvent), error: errors, value: json }),
  ({ error, event, value }): AgentEvent.AgentEvent => {
    switch (event.type) {
      case "run-start":
        return { ...event, input: value }
      case "run-completed":
        return { ...event, output: value }
      case "tool-progress":
        return { ...event, data: value }
      case "arguments-coerced":
        return { ...event, change: { ...event.change, before: value, after: undefined } }
      case "tool-end":
        return { ...event, use: { ...event.use, ...("params" in event.use ? { params: value } : {}) } }
      case "verdict":
      case "model-failed":
      case "tool-failed":
      case "fix-failed":
      case "run-failed":
        return { ...event, error }
      default:
        return event
    }
  }
)

/** All that has to survive: of a foreign error its summary. */
const shapeOf = (event: AgentEvent.AgentEvent): unknown =>
  "error" in event ? [shape({ ...event, error: undefined }), shapeOfFailure(event.error)] : shape(event)

const shapeOfFailure = (error: unknown): unknown =>
  KintsugiError.isKintsugiError(error) ? shapeOfError(error) : ErrorCause.summarise(error)

it.effect("every event decodes from JSON text complete and unchanged, and encodes to the same text [A1203]", () => {
  const seen = new Set<string>()
  return Effect.map(
    check(
      events,
      (event) => {
        seen.add(event.type)
        const written = write(event)
        const back = read(written)
        assert.deepStrictEqual(shapeOf(back), shapeOf(event))
        assert.strictEqual(write(back), written)
      },
      600
    ),
    () => assert.deepStrictEqual([...seen].toSorted(), Object.keys(full).toSorted())
  )
})
