/** Parts of checkpoints and events that other processes read: other words and missing fields are refused. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { ForSettlement } from "../../../packages/core/src/event/Checkpoint.ts"
import { schemas } from "../../../packages/core/src/event/Codec.ts"
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

it("an event names the run above it, and its call [P1540]", () => {
  const begun = { type: "turn-start", runId: "r", agent: "a", turn: 1, at: 5 }
  const is = isRead(schemas["turn-start"])
  for (const parent of [{ runId: "r0" }, { runId: "r0", callId: "c0" }]) assert.isTrue(is({ ...begun, parent }))
  for (const parent of [{}, { callId: "c0" }, { runId: 5 }, { runId: "r0", callId: 5 }])
    assert.isFalse(is({ ...begun, parent }), JSON.stringify(parent))
})
