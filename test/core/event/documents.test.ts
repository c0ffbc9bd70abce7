/** Parts of checkpoints and events that other processes read: other words and missing fields are refused. */
import { assert, it } from "@effect/vitest"
import { Message, Usage } from "@kintsugi/core"
import { Schema } from "effect"
import { ForSettlement } from "../../../packages/core/src/event/Checkpoint.ts"
import { schemas } from "../../../packages/core/src/event/Codec.ts"
import { Waiting } from "../../../packages/core/src/event/waiting.ts"
import { through } from "../_support/json.ts"

const isRead = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownExit(Schema.toCodecJson(schema))
  return (value: unknown): boolean => decode(value)._tag === "Success"
}

it("a deferred call keeps how it has ended [P903]", () => {
  const call: ForSettlement = { type: "deferred", arguments: { n: 1 }, token: "t", handle: "h", expiresAt: 9 }
  const ends: ReadonlyArray<NonNullable<ForSettlement["ended"]>> = [
    { _tag: "Success", value: 1 },
    { _tag: "Failure", error: { _tag: "Busy" } }
  ]
  assert.deepStrictEqual(through(ForSettlement, call), call)
  for (const ended of ends) {
    assert.deepStrictEqual(through(ForSettlement, { ...call, ended }), { ...call, ended })
  }
  const is = isRead(ForSettlement)
  for (const ended of [{}, { _tag: "" }, { _tag: "Success" }, { _tag: "Failure" }, { _tag: "", value: 1, error: 1 }])
    assert.isFalse(is({ ...call, ended }), JSON.stringify(ended))
})

it("what a run waits for is read with all of its fields, and under no other word [P1524 P903]", () => {
  const of = { runId: "r", agent: "a" }
  const call = { ...of, callId: "c", tool: "pay", expiresAt: 9 }
  const request = {
    ...call,
    key: "k",
    arguments: { cents: 5 },
    reason: "needs approval",
    schema: "s",
    digest: "d",
    requestedAt: 1
  }
  const { agent, runId, ...ofNone } = { ...of, type: "message", id: "m", message: Message.user("hi") }
  const whole: ReadonlyArray<Record<string, unknown>> = [
    { type: "approval", ...call, request },
    { type: "ask", ...call, request },
    { type: "deferred", ...call, handle: { job: 1 } },
    { ...ofNone, runId, agent },
    ofNone
  ]
  const is = isRead(Waiting)
  for (const one of whole) {
    const type = String(one["type"])
    assert.deepStrictEqual(
      Schema.encodeUnknownSync(Schema.toCodecJson(Waiting))(Schema.decodeUnknownSync(Schema.toCodecJson(Waiting))(one)),
      one as Schema.Json
    )
    for (const word of ["", "other"]) assert.isFalse(is({ ...one, type: word }), type)
    const optional = type === "message" ? ["runId", "agent"] : []
    for (const key of Object.keys(one)) {
      const { [key]: _, ...rest } = one
      assert.strictEqual(is(rest), optional.includes(key), `${type} without ${key}`)
    }
  }
})

it("an event names the run above it, and its call [P1540]", () => {
  const begun = { type: "turn-start", runId: "r", agent: "a", turn: 1, at: 5 }
  const is = isRead(schemas["turn-start"])
  for (const parent of [{ runId: "r0" }, { runId: "r0", callId: "c0" }]) assert.isTrue(is({ ...begun, parent }))
  for (const parent of [{}, { callId: "c0" }, { runId: 5 }, { runId: "r0", callId: 5 }])
    assert.isFalse(is({ ...begun, parent }), JSON.stringify(parent))
})

/** An event without a field, the field with a value that is read, and values that are not. */
type Shape = readonly [
  type: keyof typeof schemas,
  event: object,
  field: string,
  good: object,
  bad: ReadonlyArray<object>
]

it("an event is not read with another word, or without a field of what it names [A1203]", () => {
  const around = { runId: "r", agent: "a", turn: 1, at: 5 }
  const end = { output: 1, usage: Usage.empty, ledger: [] }
  const compacted = { compaction: "c", before: { messages: 2, characters: 9 }, after: { messages: 1, characters: 3 } }
  const verdict = { tag: "Busy", verdict: "tell", gaveUp: false, rung: 0, attempt: 1, delay: 0, error: "busy" }
  const changed = { tool: "t", server: "s", before: "d" }
  const described = { callId: "c", tool: "t", model: "m" }
  const limited = { reason: "maxTurns", spent: 5, limit: 5 }
  const ofGuard = { guard: "g", side: "input", verdict: "pass" }
  const words: ReadonlyArray<readonly [keyof typeof schemas, object, field: string, ReadonlyArray<string>]> = [
    ["verdict", verdict, "layer", ["transport", "model", "tool", "effect"]],
    ["verdict", { ...verdict, layer: "tool" }, "why", ["no-approver", "no-continuation"]],
    ["skill-chosen", { skill: "s", prompt: "p" }, "by", ["rule", "model", "table"]],
    ["not-compacted", { compaction: "c" }, "why", ["failed", "not-shorter", "no-window"]],
    ["tool-start", { callId: "c", tool: "t", arguments: {} }, "sideEffects", ["none", "idempotent", "unsafe"]],
    ["tool-changed", changed, "action", ["refuse", "ask", "accept"]],
    ["guardrail", ofGuard, "side", ["input", "output"]],
    ["guardrail", ofGuard, "verdict", ["pass", "block", "replace"]],
    ["budget-exceeded", limited, "action", ["stop", "extend", "checkpoint", "answer"]],
    ["budget-exceeded", { ...limited, action: "stop" }, "wanted", ["answer"]]
  ]
  for (const [type, event, field, all] of words) {
    const is = isRead(schemas[type])
    const of = (word: unknown) => ({ type, ...around, ...event, [field]: word })
    for (const word of all) assert.isTrue(is(of(word)), `${type} ${word}`)
    for (const word of ["", "other", 5, null]) assert.isFalse(is(of(word)), `${type} ${field} ${word}`)
  }
  const shapes: ReadonlyArray<Shape> = [
    [
      "run-completed",
      end,
      "endedBy",
      { reason: "maxTurns", limit: 5 },
      [{}, { reason: "", limit: 5 }, { reason: "maxTurns" }]
    ],
    [
      "compacted",
      { ...compacted, transcript: [] },
      "ahead",
      { tokens: 9, window: 10 },
      [{}, { tokens: 9 }, { window: 10 }]
    ],
    ["compacted", { ...compacted, transcript: [] }, "before", { messages: 2, characters: 9 }, [{}, { messages: 2 }]],
    [
      "verdict",
      { ...verdict, layer: "tool" },
      "left",
      { turns: 1, toolCalls: 2 },
      [{}, { turns: 1 }, { toolCalls: 2 }]
    ],
    ...["image", "file"].map((kind): Shape => [
      "parts-described",
      described,
      "parts",
      [{ type: kind, mediaType: "a/b" }],
      [[{}], [{ type: kind }], [{ type: "", mediaType: "a/b" }]]
    ]),
    ["attempt-continued", { attempt: 1, kept: "x" }, "dropped", [{ callId: "c", tool: "t" }], [[{}], [{ callId: "c" }]]]
  ]
  for (const [type, event, field, good, bad] of shapes) {
    const is = isRead(schemas[type])
    const of = (value: object) => ({ type, ...around, ...event, [field]: value })
    assert.isTrue(is(of(good)), `${type} ${field}`)
    for (const value of bad) assert.isFalse(is(of(value)), `${type} ${field} ${JSON.stringify(value)}`)
  }
})
