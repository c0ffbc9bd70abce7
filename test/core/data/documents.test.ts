/** Documents of core that other processes read: each field and each word of them passes through JSON, and others are refused. */
import { assert, it } from "@effect/vitest"
import { Approval, Completion, Message, Usage } from "@kintsugi/core"
import { Schema } from "effect"
import { summary } from "../../../packages/core/src/data/CauseCodec.ts"
import { Assistant, SaidMessage, Settlement, type User } from "../../../packages/core/src/data/parts.ts"
import { TurnChoice } from "../../../packages/core/src/data/TurnChoice.ts"
import { through } from "../_support/json.ts"

const isRead = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownExit(Schema.toCodecJson(schema))
  return (value: unknown): boolean => decode(value)._tag === "Success"
}

const failed = {
  tag: "Busy",
  forModel: "It is busy.",
  full: "Busy: it is busy",
  attempts: 2,
  runs: 1,
  sideEffects: "unsafe",
  mayHaveTakenEffect: true,
  verified: "no-effect",
  needsArguments: true,
  unfit: "it was late"
} as const

const request = {
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
  expiresAt: 9,
  failed,
  change: { server: "s", before: { a: 1 }, after: { a: 2 } },
  rules: ["small"]
} as const

it("a request for approval keeps all that a person reads [P903]", () => {
  const whole = new Approval.ApprovalRequest(request)
  assert.deepStrictEqual(through(Approval.ApprovalRequest, whole), whole)
  assert.deepStrictEqual({ ...whole }, request)
  const is = isRead(Approval.ApprovalRequest)
  for (const sideEffects of ["none", "idempotent", "unsafe", "undeclared"])
    assert.isTrue(is({ ...request, failed: { ...failed, sideEffects } }), sideEffects)
  assert.isTrue(is({ ...request, failed: { ...failed, verified: { unknown: "it does not say" } } }))
  for (const [field, wrong] of [
    ["sideEffects", ""],
    ["verified", {}],
    ["needsArguments", false],
    ["attempts", "2"]
  ] as const)
    assert.isFalse(is({ ...request, failed: { ...failed, [field]: wrong } }), field)
  for (const field of ["runId", "agent", "tool", "callId", "key", "arguments", "reason", "schema", "digest"])
    assert.isFalse(is({ ...request, [field]: undefined }), field)
})

it("a decision keeps its scope, and another word is no decision [P903]", () => {
  const options = { deep: true, until: 9, who: "Ada" }
  const decisions: ReadonlyArray<Approval.Decision> = [
    Approval.approve,
    Approval.approveWith({ n: 2 }),
    Approval.approveFor("call"),
    Approval.approveFor("run", options),
    Approval.approveFor({ conversation: "c" }),
    Approval.approveFor({ conversation: "c", rule: "small" }),
    Approval.approveFor({ rule: "small" }),
    Approval.refuse("no"),
    Approval.result([1])
  ]
  for (const decision of decisions) {
    const decided = { digest: "d", decision, signature: { key: "k", mac: "00" } }
    assert.deepStrictEqual(through(Approval.Decided, decided), decided)
  }
  assert.deepStrictEqual(decisions, [
    { type: "approve" },
    { type: "approve", arguments: { n: 2 } },
    { type: "approve", for: "call" },
    { type: "approve", for: "run", ...options },
    { type: "approve", for: { conversation: "c" } },
    { type: "approve", for: { conversation: "c", rule: "small" } },
    { type: "approve", for: { rule: "small" } },
    { type: "refuse", reason: "no" },
    { type: "result", value: [1] }
  ])
  const is = isRead(Approval.Decided)
  for (const decision of [{ type: "" }, { type: "refuse" }, { type: "result" }, { type: "approve", for: "" }])
    assert.isFalse(is({ digest: "d", decision }), JSON.stringify(decision))
  assert.isFalse(is({ decision: { type: "approve" } }))
})

it("what becomes of a decision is one of few words [P903]", () => {
  const reasons = [
    "late",
    "other-digest",
    "already-decided",
    "unknown-request",
    "withdrawn",
    "run-over",
    "nothing-to-run"
  ] as const
  const receipts: ReadonlyArray<Approval.DecisionReceipt> = [
    { _tag: "Counted", digest: "d" },
    ...reasons.map((reason) => ({ _tag: "NotCounted", digest: "d", reason }) as const)
  ]
  for (const receipt of receipts) assert.deepStrictEqual(through(Approval.DecisionReceipt, receipt), receipt)
  const is = isRead(Approval.DecisionReceipt)
  for (const other of [
    { _tag: "", digest: "d" },
    { _tag: "Counted" },
    { _tag: "NotCounted", digest: "d" },
    { _tag: "NotCounted", digest: "d", reason: "" }
  ])
    assert.isFalse(is(other), JSON.stringify(other))
})

it("a grant keeps what it admits [P1531]", () => {
  const grant: Approval.Grant = {
    id: "g",
    agent: "a",
    ancestors: ["b", "c"],
    tool: "t",
    definition: "d",
    admits: { arguments: "{}" },
    at: 1,
    until: 9,
    deep: true,
    who: "Ada"
  }
  for (const one of [grant, { ...grant, admits: { rule: "small" } }])
    assert.deepStrictEqual(through(Approval.Grant, one), one)
  const is = isRead(Approval.Grant)
  assert.isFalse(is({ ...grant, admits: {} }))
  assert.isFalse(is({ ...grant, deep: false }))
})

it("a completion has a name for schemas, and keeps its fields [T28]", () => {
  const completion = new Completion.Completion({
    summary: "Done",
    isSuccess: true,
    result: { n: 1 },
    metadata: { took: "45s" }
  })
  assert.deepStrictEqual(
    { ...completion },
    { summary: "Done", isSuccess: true, result: { n: 1 }, metadata: { took: "45s" } }
  )
  assert.deepStrictEqual(through(Completion.Completion, completion), completion)
  assert.strictEqual(Completion.Completion.identifier, "Completion")
  const is = isRead(Completion.Completion)
  for (const field of ["summary", "isSuccess", "metadata"])
    assert.isFalse(is({ summary: "Done", isSuccess: true, metadata: {}, [field]: undefined }), field)
})

it("a reply marks its usage as an estimate or not at all [P1397]", () => {
  const reply: Message.Reply = { content: [], finish: "stop", usage: Usage.empty, isEstimated: true }
  assert.deepStrictEqual(through(Message.Reply, reply), reply)
  assert.isFalse(isRead(Message.Reply)({ ...reply, isEstimated: false }))
})

it("the choice for a turn keeps what was chosen, and another word is no choice [P903]", () => {
  const choice: TurnChoice = {
    model: "m",
    contextWindow: 9,
    tools: ["look"],
    toolChoice: { tool: "look" },
    prompt: "",
    options: { seed: 1 }
  }
  for (const one of [{}, choice, ...(["auto", "none", "required"] as const).map((toolChoice) => ({ toolChoice }))])
    assert.deepStrictEqual(through(TurnChoice, one), one)
  const is = isRead(TurnChoice)
  for (const [field, wrong] of [
    ["model", 5],
    ["contextWindow", "9"],
    ["tools", [5]],
    ["toolChoice", ""],
    ["toolChoice", {}],
    ["prompt", 5],
    ["options", 5]
  ] as const)
    assert.isFalse(is({ ...choice, [field]: wrong }), field)
})

it("a signature has a key and a code [P903]", () => {
  const is = isRead(Approval.Decided)
  const decided = { digest: "d", decision: { type: "approve" } }
  assert.isTrue(is({ ...decided, signature: { key: "k", mac: "00" } }))
  for (const signature of [{}, { key: "k" }, { mac: "00" }]) assert.isFalse(is({ ...decided, signature }))
})

it("a message to a run keeps its id, and the marks of messages are true or absent [P402]", () => {
  const user: User = {
    ...Message.user("go"),
    lateResult: { callId: "c", tool: "look", unsupported: "follow" },
    withheld: true
  }
  const said: SaidMessage = { id: "m", message: user, supersede: true }
  assert.deepStrictEqual(through(SaidMessage, said), said)
  const is = isRead(SaidMessage)
  for (const other of [{}, { id: "m" }, { message: user }, { ...said, supersede: false }]) assert.isFalse(is(other))
  for (const unsupported of ["follow", "refuse"])
    assert.isTrue(is({ ...said, message: { ...user, lateResult: { callId: "c", tool: "look", unsupported } } }))
  for (const wrong of [
    { withheld: false },
    { lateResult: {} },
    { lateResult: { callId: "c", tool: "look", unsupported: "" } }
  ])
    assert.isFalse(is({ ...said, message: { ...user, ...wrong } }))
  const reply: Assistant = { role: "assistant", content: [], paused: true, incomplete: true, withheld: true }
  assert.deepStrictEqual(through(Assistant, reply), reply)
  for (const mark of ["paused", "incomplete", "withheld"])
    assert.isFalse(isRead(Assistant)({ ...reply, [mark]: false }), mark)
})

it("a settlement keeps its parts, also those without their bytes [P402]", () => {
  const image = { type: "image", mediaType: "image/png" } as const
  const file = { type: "file", mediaType: "text/csv", name: "a.csv" } as const
  const settlement: Settlement = {
    kind: "result",
    text: "see",
    parts: [
      Message.text("see"),
      { ...image, data: "AA==" },
      { ...image, url: "https://x.org/a" },
      { ...image, bytes: 1 },
      { ...file, data: "AA==" },
      { ...file, url: "https://x.org/b" },
      { ...file, bytes: 2 }
    ],
    unsupported: "refuse"
  }
  assert.deepStrictEqual(through(Settlement, settlement), settlement)
  const is = isRead(Settlement)
  for (const kind of ["result", "told", "denied", "interrupted", "truncated", "unknown", "deferred"])
    assert.isTrue(is({ kind, text: "" }), kind)
  for (const wrong of [
    { kind: "" },
    { unsupported: "" },
    { parts: [{}] },
    { parts: [image] },
    { parts: [file] },
    { parts: [{ ...image, type: "", bytes: 1 }] },
    { parts: [{ type: "image", bytes: 1 }] }
  ])
    assert.isFalse(is({ ...settlement, ...wrong }), JSON.stringify(wrong))
})

it("a foreign cause becomes its name, its message and its code", () => {
  const codec = Schema.toCodecJson(summary)
  const cause = Object.assign(new RangeError("out of it"), { code: "E_RANGE" })
  const wire = { name: "RangeError", message: "out of it", code: "E_RANGE" }
  assert.deepStrictEqual(Schema.encodeUnknownSync(codec)(cause), wire)
  assert.deepInclude(Schema.decodeUnknownSync(codec)(wire), wire)
  const is = isRead(summary)
  assert.isTrue(is({ name: "RangeError", message: "out of it" }))
  for (const other of [{ message: "m" }, { name: "n" }, { ...wire, code: 5 }]) assert.isFalse(is(other))
})
