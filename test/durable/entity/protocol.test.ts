/** What an entity of a conversation is asked, and answers, on its way between processes. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Schema } from "effect"
import { Message } from "@kintsugi/core"
import { entityOf } from "../../../packages/durable/src/entity/protocol.ts"

const entity = entityOf("desk")
const rpcs = new Map([...entity.protocol.requests].map(([name, rpc]) => [name, rpc]))

/** A value after its way as JSON. */
const sent = (schema: Schema.Top | undefined, value: unknown) => {
  // no schema of the protocol needs services
  const codec = Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>)
  return Effect.flatMap(Schema.encodeEffect(codec)(value), (json) =>
    Schema.decodeUnknownEffect(codec)(JSON.parse(JSON.stringify(json)))
  )
}

it("the entity has the name of its conversations [P1384]", () => {
  assert.strictEqual(`${entity.type}`, "Conversation/desk")
  assert.deepStrictEqual([...rpcs.keys()].toSorted(), [
    "edit",
    "interrupt",
    "over",
    "queued",
    "say",
    "send",
    "state",
    "withdraw"
  ])
})

const run = { executionId: "run-1", workflow: "clerk@2" }
const states: ReadonlyArray<ConversationEntity.MessageState> = [
  { _tag: "Waiting", before: 2 },
  { _tag: "Working", ...run },
  { _tag: "Unserved", ...run },
  { _tag: "Ended", ...run },
  { _tag: "Withdrawn" },
  { _tag: "Steered", by: "m-2" },
  { _tag: "Refused" }
]

it.effect.each(states)("the state $_tag of a message reaches the other process [P1384]", (state) =>
  Effect.gen(function* () {
    for (const name of ["send", "say", "state"]) {
      assert.deepStrictEqual(yield* sent(rpcs.get(name)?.successSchema, state), state)
    }
  })
)

it.effect("a message that waits, and what is asked, reach the other process whole [P1384]", () =>
  Effect.gen(function* () {
    const content = [Message.text("look"), Message.image("image/png", { data: "iVBO" })]
    for (const message of ["look", content]) {
      const queued = [{ id: "m-1", message, isAtWork: true }]
      assert.deepStrictEqual(yield* sent(rpcs.get("queued")?.successSchema, queued), queued)
      for (const name of ["send", "edit"]) {
        const said = { subject: "ann", id: "m-1", message }
        const { payloadSchema } = rpcs.get(name) ?? assert.fail(name)
        assert.deepStrictEqual<unknown>({ ...((yield* sent(payloadSchema, said)) as object) }, said)
      }
    }
  })
)

it.effect("a question without its message, and an entry of the queue without its state, are refused [P1384]", () =>
  Effect.gen(function* () {
    yield* Effect.flip(sent(rpcs.get("queued")?.successSchema, [{ id: "m-1", message: "look" }]))
    for (const name of ["send", "say", "edit"]) {
      yield* Effect.flip(sent(rpcs.get(name)?.payloadSchema, { subject: "ann", id: "m-1" }))
    }
  })
)

const of = { conversation: "c-1" }
const unknown = Conversations.UnknownConversationError.make(of)
const stored = Conversations.ConversationStoreError.make({
  ...of,
  operation: "append",
  cause: new Error("connect to postgres://kintsugi:hunter2@db:5432 failed")
})
const limit = Conversations.ConversationLimitError.make({ ...of, option: "id", limit: 1 })
const busy = ConversationEntity.ConversationBusyError.make({ ...of, reason: "queue", retryAfter: 5 })
const noMessage = ConversationEntity.UnknownMessageError.make({ ...of, id: "m-1" })

it.effect.each([
  { name: "send", others: [limit, busy] },
  { name: "say", others: [limit, busy] },
  { name: "interrupt", others: [limit] },
  { name: "queued", others: [] },
  { name: "edit", others: [limit, noMessage] },
  { name: "withdraw", others: [limit, noMessage] },
  { name: "state", others: [noMessage] }
])("$name fails in the other process as here, without the passwords of a cause [P1384]", ({ name, others }) =>
  Effect.gen(function* () {
    const errors = [unknown, stored, ...others]
    for (const error of errors) {
      const found = yield* sent(rpcs.get(name)?.errorSchema, error)
      assert.strictEqual(Object.getPrototypeOf(found), Object.getPrototypeOf(error))
      assert.deepInclude(found, { _tag: error._tag, message: error.message, conversation: "c-1" })
      if (error !== stored) continue
      assert.instanceOf(found, Conversations.ConversationStoreError)
      assert.include(String(found.cause), "connect to postgres://")
      assert.notInclude(String(found.cause), "hunter2")
    }
    const never = [limit, busy, noMessage].filter((error) => !errors.some(({ _tag }) => _tag === error._tag))
    for (const error of never) yield* Effect.flip(sent(rpcs.get(name)?.errorSchema, error))
  })
)
