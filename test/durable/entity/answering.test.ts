/** The names under which messages of a conversation and their runs are stored. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { messageOf, messagesOf, runIdOf, type Runs } from "../../../packages/durable/src/entity/answering.ts"

// runs with only what names their messages
const runs = {
  workflow: { _tag: "clerk@2", successSchema: Schema.String, errorSchema: Schema.Never }
} as unknown as Runs

it.effect("the workflow of messages has the names of the conversations and of the version of the agent [P1384]", () =>
  Effect.gen(function* () {
    const messages = messagesOf("desk", runs)
    assert.strictEqual(messages._tag, "Conversation/desk/clerk@2")
    const [first, same, other] = yield* Effect.all([
      messageOf(messages, "run-1"),
      messageOf(messagesOf("desk", runs), "run-1"),
      messageOf(messages, "run-2")
    ])
    assert.strictEqual(first, same)
    assert.notStrictEqual(first, other)
  })
)

it("the id of a run has the conversation, the message, the subject and when the conversation began [P1384]", () => {
  const sent = { conversation: "c/1", id: "m 1", subject: "ann", since: 5 }
  assert.strictEqual(runIdOf(sent), "c%2F1/m%201/ann/5")
  assert.strictEqual(runIdOf({ ...sent, subject: "\uD800" }), "c%2F1/m%201/%EF%BF%BD/5")
})
