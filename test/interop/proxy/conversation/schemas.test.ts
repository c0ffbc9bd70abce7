/** The requests and answers of conversations, as they are sent. */
import { assert, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as Schemas from "../../../../packages/interop/src/proxy/conversation/schemas.ts"

it("a message has each state, and one that waits says how many come before it [P1853]", () => {
  const is = Schema.is(Schemas.MessageProgress)
  for (const state of ["Working", "Ended", "Withdrawn", "Steered", "Refused"])
    assert.isTrue(is({ _tag: state, id: "m" }))
  assert.isTrue(is({ _tag: "Waiting", id: "m", before: 0 }))
  for (const odd of [
    { _tag: "Waiting", id: "m" },
    { _tag: "Working" },
    { _tag: "Working", id: "a b" },
    { _tag: "Other", id: "m" }
  ])
    assert.isFalse(is(odd))
})

it("a page begins at a message and has 1,000 messages at most, in a request and in a URL [P1853]", () => {
  const isPage = Schema.is(Schema.Struct(Schemas.pageFields))
  const decode = Schema.decodeUnknownOption(Schema.Struct(Schemas.pageQuery))
  const inUrl = (page: object) =>
    decode(Object.fromEntries(Object.entries(page).map(([name, value]) => [name, String(value)])))
  for (const page of [{}, { from: 0 }, { from: 7, limit: 1 }, { limit: 1000 }]) {
    assert.isTrue(isPage(page))
    assert.deepStrictEqual(inUrl(page), Option.some(page))
  }
  for (const page of [{ from: -1 }, { from: 0.5 }, { limit: 0 }, { limit: 1001 }, { limit: 1.5 }]) {
    assert.isFalse(isPage(page))
    assert.strictEqual(inUrl(page)._tag, "None")
  }
})

it("a conversation, a message and a queue are named by ids of one form [P1853]", () => {
  const isMessage = Schema.is(Schema.Struct(Schemas.messageFields))
  assert.isTrue(isMessage({ conversation: "c:1", id: "m.1" }))
  for (const odd of [{ conversation: "c 1", id: "m" }, { conversation: "c", id: "" }, { conversation: "c" }])
    assert.isFalse(isMessage(odd))
  const isSent = Schema.is(Schema.Struct(Schemas.sendFields(Schema.String)))
  assert.deepStrictEqual(
    [{ message: "x" }, { message: "x", id: "m" }, { message: "x", id: "a b" }, { id: "m" }].map((sent) => isSent(sent)),
    [true, true, false, false]
  )
  const isQueue = Schema.is(Schemas.queuedOf(Schema.String))
  assert.isTrue(isQueue([{ id: "m", message: "x", isAtWork: false }]))
  for (const odd of [[{ id: "m", message: "x" }], [{ id: "", message: "x", isAtWork: true }], {}])
    assert.isFalse(isQueue(odd))
})

it("a page of what was said has a number of messages, and an interruption says whether a run was at work [P1853]", () => {
  const isHistory = Schema.is(Schemas.HistoryPage)
  for (const page of [
    { version: 0, messages: [] },
    { version: 7, messages: [], next: 5 }
  ])
    assert.isTrue(isHistory(page))
  for (const odd of [{}, { messages: [] }, { version: 0.5, messages: [] }, { version: 1, messages: {} }])
    assert.isFalse(isHistory(odd))
  const isStopped = Schema.is(Schemas.Stopped)
  assert.deepStrictEqual(
    [{ stopped: true }, { stopped: "yes" }, {}].map((said) => isStopped(said)),
    [true, false, false]
  )
  const isStop = Schema.is(Schema.Struct(Schemas.stopFields))
  assert.deepStrictEqual(
    [{ dropQueue: true }, {}, { dropQueue: "yes" }].map((asked) => isStop(asked)),
    [true, true, false]
  )
})
