/** The answers, events and defects of a proxy, as they are sent. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Schemas from "../../../packages/interop/src/proxy/schemas.ts"

it("a run at work says so by its name and its id alone [P1851]", () => {
  const is = Schema.is(Schemas.AtWork)
  assert.isTrue(is({ _tag: "AtWork", run: "one" }))
  for (const odd of [{ _tag: "Waiting", run: "one" }, { _tag: "AtWork" }, { _tag: "AtWork", run: "a b" }, {}])
    assert.isFalse(is(odd))
})

it("the event of a run that waits has its parent, by the id of a run [P1851]", () => {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const event = { type: "run-suspended", runId: "r", agent: "desk", turn: 1, at: 0, usage, waiting: [] }
  const decode = Schema.decodeUnknownOption(Schemas.ProxyEvent)
  for (const parent of [{ runId: "p" }, { runId: "p", callId: "c" }])
    assert.deepStrictEqual(Object(decode({ ...event, parent })).value, { ...event, parent })
  for (const parent of [{}, { runId: 7 }, { runId: "p", callId: 7 }])
    assert.strictEqual(decode({ ...event, parent })._tag, "None", JSON.stringify(parent))
})

it("a defect is sent as one sentence, and read as an error with it [P1852]", () => {
  const sent = Schema.encodeSync(Schemas.Defect)(new Error("the password is hunter2"))
  assert.strictEqual(sent, "The server has failed")
  const read = Schema.decodeSync(Schemas.Defect)(sent)
  assert.instanceOf(read, Error)
  assert.strictEqual(Object(read).message, sent)
})
