/** The contract of conversations: its schemas, its endpoints and procedures, and its failures on the wire. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as ConversationProxy from "@kintsugi/interop/ConversationProxy"
import { Schema } from "effect"
import { Signed } from "../_support/served.ts"

it("messages, answers and failures are texts and none, unless the contract says otherwise [P1853]", () => {
  const plain = ConversationProxy.make("desk")
  const Failure = Schema.Struct({ why: Schema.String })
  const other = ConversationProxy.make("shop", { said: Message.UserContent, output: Schema.Finite, error: Failure })
  assert.deepStrictEqual([plain.name, other.name], ["desk", "shop"])
  const content = [Message.text("hi")]
  const is = (schema: Schema.Codec<never, unknown>, ...values: ReadonlyArray<unknown>) =>
    values.map((value) => Schema.is(schema as Schema.Codec<unknown, unknown>)(value))
  assert.deepStrictEqual(is(plain.said as never, "hi", " ", content), [true, false, false])
  assert.deepStrictEqual(is(other.said as never, "hi", content), [false, true])
  assert.deepStrictEqual(is(plain.output as never, "hi", 7), [true, false])
  assert.deepStrictEqual(is(other.output as never, "hi", 7), [false, true])
  assert.deepStrictEqual(is(plain.error as never, { why: "x" }, undefined), [false, false])
  assert.deepStrictEqual(is(other.error as never, { why: "x" }, undefined), [true, false])
})

const desk = ConversationProxy.make("desk")

/** The method and the path of each endpoint of a group. */
const routesOf = (endpoints: object) =>
  Object.values(endpoints as Record<string, { identifier: string; method: string; path: string }>).map(
    ({ identifier, method, path }) => `${identifier}: ${method} ${path}`
  )

it("a group has all endpoints under the name of the contract, or some under another name [P1853]", () => {
  const whole = ConversationProxy.toHttpApiGroup(desk, Signed)
  assert.deepStrictEqual(routesOf(whole.endpoints), [
    "send: POST /desk/:conversation/messages",
    "say: POST /desk/:conversation/words",
    "state: GET /desk/:conversation/messages/:id",
    "edit: PUT /desk/:conversation/messages/:id",
    "withdraw: DELETE /desk/:conversation/messages/:id",
    "answer: GET /desk/:conversation/messages/:id/answer",
    "events: GET /desk/:conversation/messages/:id/events",
    "decide: POST /desk/:conversation/messages/:id/decisions",
    "queued: GET /desk/:conversation/queue",
    "interrupt: POST /desk/:conversation/interrupt",
    "history: GET /desk/:conversation"
  ])
  const part = ConversationProxy.toHttpApiGroup(desk, Signed, { id: "people", only: ["decide", "history"] })
  assert.deepStrictEqual(
    [whole.identifier, part.identifier, routesOf(part.endpoints)],
    [
      "desk",
      "people",
      ["decide: POST /people/:conversation/messages/:id/decisions", "history: GET /people/:conversation"]
    ]
  )
})

it("failures are problems with a type and a title [P1853]", () => {
  const missing = new ConversationProxy.ConversationNotFoundError({ conversation: "c-1", id: "m-1" })
  assert.deepStrictEqual(
    JSON.parse(JSON.stringify(Schema.encodeSync(ConversationProxy.ConversationNotFoundError)(missing))),
    {
      type: "urn:kintsugi:error:conversation-not-found",
      title: "There is no such conversation, or it has no such message",
      status: 404,
      conversation: "c-1",
      id: "m-1"
    }
  )
  for (const reason of ["full", "stopped", "withdrawn", "steered", "refused", "deleted", "unserved"] as const) {
    const conflict = new ConversationProxy.ConversationConflictError({ conversation: "c-1", reason })
    assert.deepStrictEqual(
      JSON.parse(JSON.stringify(Schema.encodeSync(ConversationProxy.ConversationConflictError)(conflict))),
      {
        type: "urn:kintsugi:error:conversation-conflict",
        title: "The conversation is in another state",
        status: 409,
        conversation: "c-1",
        reason
      }
    )
  }
})
