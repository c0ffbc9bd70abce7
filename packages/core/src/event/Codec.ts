/** The codec of each type of event, field by field. */
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import * as Coercion from "../coercion/Coercion.ts"
import * as Issue from "../data/Issue.ts"
import * as Ledger from "../budget/Ledger.ts"
import * as Message from "../data/Message.ts"
import { TurnChoice } from "../data/TurnChoice.ts"
import { BudgetReason } from "../errors/Limit.ts"
import { VerdictKind } from "../errors/Trail.ts"
import * as Usage from "../data/Usage.ts"
import * as Snapshot from "./Snapshot.ts"
import { Failure, OptionalValue, Value } from "./fields.ts"
import { WaitingCall } from "./waiting.ts"
import { FinishReason } from "../data/FinishReason.ts"

/** A run, and the call in it. */
const ofRun = Schema.Struct({ runId: Schema.String, callId: Schema.optionalKey(Schema.String) })

const origin = {
  runId: Schema.String,
  agent: Schema.String,
  turn: Schema.Finite,
  at: Schema.Finite,
  parent: Schema.optionalKey(ofRun),
  cursor: Schema.optionalKey(Schema.String)
}

const event = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ ...origin, type: Schema.Literal(type), ...fields })

const ofCall = { callId: Schema.String, tool: Schema.String }

const ofAttempt = { model: Schema.String, attempt: Schema.Finite, entry: Ledger.Entry }

const ofFix = { ...ofCall, repair: Schema.Finite }

const spent = {
  usage: Usage.Usage,
  ledger: Schema.Array(Ledger.Entry),
  unread: Schema.optionalKey(Schema.Array(Message.SaidMessage))
}

const said = { id: Schema.String, message: Message.User }

const limit = { reason: BudgetReason, spent: Schema.Number, limit: Schema.Number }

const change = Schema.Struct({
  step: Schema.Literals(Coercion.steps),
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  before: Value,
  after: Value
})

const use = Schema.Struct({
  arguments: Schema.Json,
  params: OptionalValue,
  settlement: Message.Settlement,
  recoveredBy: Schema.optionalKey(Schema.String),
  attempts: Schema.Finite
})

const size = Schema.Struct({ messages: Schema.Finite, characters: Schema.Finite })

/** In milliseconds. */
const wait = Schema.DurationFromMillis

const verdict = {
  layer: Schema.Literals(["transport", "model", "tool", "effect"]),
  tag: Schema.String,
  verdict: VerdictKind,
  gaveUp: Schema.Boolean,
  why: Schema.optionalKey(Schema.Literals(["no-approver", "no-continuation"])),
  rung: Schema.Finite,
  attempt: Schema.Finite,
  delay: wait,
  hint: Schema.optionalKey(wait),
  hintFrom: Schema.optionalKey(Schema.String),
  // a plain function without limits has neither limit
  left: Schema.optionalKey(Schema.Struct({ turns: Schema.Number, toolCalls: Schema.Number })),
  error: Failure
}

/** By the type of the event. */
export const schemas = {
  "run-start": event("run-start", {
    input: Value,
    transcript: Message.Transcript,
    startedIn: Schema.optionalKey(ofRun)
  }),
  "skill-chosen": event("skill-chosen", {
    skill: Schema.String,
    by: Schema.Literals(["rule", "model", "table"]),
    confidence: Schema.optionalKey(Schema.Finite),
    prompt: Schema.String
  }),
  "turn-start": event("turn-start", {
    answerTurn: Schema.optionalKey(Schema.Literal(true)),
    message: Schema.optionalKey(Message.User)
  }),
  "turn-prepared": event("turn-prepared", TurnChoice.fields),
  "model-start": event("model-start", { model: Schema.String, provider: Schema.String, attempt: Schema.Finite }),
  "request-adapted": event("request-adapted", {
    model: Schema.String,
    provider: Schema.String,
    family: Schema.String,
    changes: Schema.Array(
      Schema.Struct({
        option: Schema.String,
        asked: Schema.optionalKey(Schema.Json),
        sent: Schema.optionalKey(Schema.Json)
      })
    )
  }),
  "model-end": event("model-end", { ...ofAttempt, reply: Message.Reply }),
  "model-failed": event("model-failed", { ...ofAttempt, error: Failure }),
  "model-interrupted": event("model-interrupted", ofAttempt),
  "text-delta": event("text-delta", { text: Schema.String }),
  "reasoning-delta": event("reasoning-delta", { text: Schema.String }),
  "attempt-discarded": event("attempt-discarded", {
    attempt: Schema.Finite,
    text: Schema.String,
    discardedRunId: Schema.optionalKey(Schema.String)
  }),
  "attempt-continued": event("attempt-continued", {
    attempt: Schema.Finite,
    kept: Schema.String,
    dropped: Schema.optionalKey(Schema.Array(Schema.Struct(ofCall)))
  }),
  compacted: event("compacted", {
    compaction: Schema.String,
    before: size,
    after: size,
    transcript: Message.Transcript,
    ahead: Schema.optionalKey(Schema.Struct({ tokens: Schema.Finite, window: Schema.Finite }))
  }),
  "not-compacted": event("not-compacted", {
    compaction: Schema.String,
    why: Schema.Literals(["failed", "not-shorter", "no-window"]),
    error: Schema.optionalKey(Failure)
  }),
  "tool-start": event("tool-start", {
    ...ofCall,
    foreignName: Schema.optionalKey(Schema.String),
    calledAs: Schema.optionalKey(Schema.String),
    sideEffects: Schema.optionalKey(Schema.Literals(["none", "idempotent", "unsafe"])),
    definedAt: Schema.optionalKey(Schema.String),
    arguments: Schema.Json
  }),
  "arguments-coerced": event("arguments-coerced", { ...ofCall, change }),
  "tool-progress": event("tool-progress", { ...ofCall, data: Value }),
  "tool-changed": event("tool-changed", {
    tool: Schema.String,
    server: Schema.String,
    action: Schema.Literals(["refuse", "ask", "accept"]),
    before: Schema.String,
    after: Schema.optionalKey(Schema.String)
  }),
  "tool-waiting": event("tool-waiting", {
    ...ofCall,
    handle: Schema.Json,
    expiresAt: Schema.Finite,
    replaces: Schema.optionalKey(Schema.Json)
  }),
  "tool-result": event("tool-result", {
    ...ofCall,
    handle: Schema.Json,
    settlement: Message.Settlement,
    message: Message.User
  }),
  "result-put-aside": event("result-put-aside", {
    ...ofCall,
    handle: Schema.String,
    characters: Schema.Finite,
    bytes: Schema.Finite
  }),
  "result-cut": event("result-cut", { ...ofCall, characters: Schema.Finite, error: Failure }),
  "parts-described": event("parts-described", {
    ...ofCall,
    model: Schema.String,
    parts: Schema.Array(Schema.Struct({ type: Schema.Literals(["image", "file"]), mediaType: Schema.String }))
  }),
  "tool-denied": event("tool-denied", { ...ofCall, settlement: Message.Settlement }),
  "tool-skipped": event("tool-skipped", { ...ofCall, settlement: Message.Settlement }),
  "tool-compensated": event("tool-compensated", {
    ...ofCall,
    key: Schema.String,
    error: Schema.optionalKey(Failure)
  }),
  "tool-failed": event("tool-failed", { ...ofCall, attempt: Schema.Finite, error: Failure }),
  "fix-start": event("fix-start", { ...ofFix, input: Schema.String }),
  "fix-end": event("fix-end", { ...ofFix, answer: Schema.String }),
  "fix-failed": event("fix-failed", { ...ofFix, error: Failure }),
  "tool-end": event("tool-end", { ...ofCall, use }),
  "approval-requested": event("approval-requested", { ...ofCall, request: Approval.ApprovalRequest }),
  "approval-expired": event("approval-expired", { ...ofCall, request: Approval.ApprovalRequest }),
  "approval-decided": event("approval-decided", {
    ...ofCall,
    decision: Approval.Decision,
    by: Schema.optionalKey(Schema.String),
    mayRunTwice: Schema.optionalKey(Schema.Literal(true))
  }),
  verdict: Schema.Union([event("verdict", { ...ofCall, ...verdict }), event("verdict", verdict)]),
  "turn-end": event("turn-end", { message: Message.Assistant }),
  "output-coerced": event("output-coerced", { change }),
  "output-rejected": event("output-rejected", {
    text: Schema.String,
    issues: Schema.Array(Issue.Issue),
    isCut: Schema.optionalKey(Schema.Boolean),
    message: Schema.optionalKey(Message.User)
  }),
  "events-lost": event("events-lost", { transcript: Message.Transcript, text: Schema.optionalKey(Schema.String) }),
  guardrail: event("guardrail", {
    guard: Schema.String,
    side: Schema.Literals(["input", "output"]),
    verdict: Schema.Literals(["pass", "block", "replace"]),
    reason: Schema.optionalKey(Schema.String),
    index: Schema.optionalKey(Schema.Finite),
    message: Schema.optionalKey(Message.User)
  }),
  "message-queued": event("message-queued", said),
  "message-read": event("message-read", said),
  "message-returned": event("message-returned", said),
  "budget-warning": event("budget-warning", limit),
  "budget-exceeded": event("budget-exceeded", {
    ...limit,
    action: Schema.Literals(["stop", "extend", "checkpoint", "answer"]),
    wanted: Schema.optionalKey(Schema.Literal("answer"))
  }),
  "run-completed": event("run-completed", {
    ...spent,
    output: Value,
    finish: Schema.optionalKey(FinishReason),
    endedBy: Schema.optionalKey(Schema.Struct({ reason: BudgetReason, limit: Schema.Number })),
    open: Schema.optionalKey(Schema.Array(WaitingCall))
  }),
  "run-suspended": event("run-suspended", {
    ...spent,
    snapshot: Snapshot.Snapshot,
    message: Schema.optionalKey(Message.Assistant)
  }),
  "run-failed": event("run-failed", {
    ...spent,
    error: Failure,
    isDefect: Schema.Boolean,
    reasons: Schema.optionalKey(Schema.Array(Failure)),
    transcript: Message.Transcript
  }),
  "run-interrupted": event("run-interrupted", { ...spent, transcript: Message.Transcript })
}
