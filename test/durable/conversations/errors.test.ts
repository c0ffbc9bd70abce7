/** What the errors of the store of conversations tell a program, and a person. */
import { assert, it } from "@effect/vitest"
import { Conversations } from "@kintsugi/durable"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"

const conversation = "c-1"
const cause = new Error("disk full")

it.each([
  {
    error: Conversations.ConflictError.make({ conversation, expected: 2, actual: 3 }),
    code: "KINTSUGI-CONFLICT",
    isRetryable: false,
    message:
      "Conversation 'c-1' has version 3, and this writer expected 2. Load it again, and decide with its new messages"
  },
  {
    error: Conversations.UnknownConversationError.make({ conversation }),
    code: "KINTSUGI-UNKNOWN-CONVERSATION",
    isRetryable: false,
    message: "There is no conversation 'c-1'"
  },
  ...(
    [
      ["maxMessages", "messages"],
      ["maxBytes", "bytes of JSON in a message or document"],
      ["depth", "levels of JSON"],
      ["id", "characters in an id, which has at least one and no control character"]
    ] as const
  ).map(([option, units]) => ({
    error: Conversations.ConversationLimitError.make({ conversation, option, limit: 9 }),
    code: "KINTSUGI-CONVERSATION-LIMIT",
    isRetryable: false,
    message: `Conversation 'c-1' would exceed ${option}, 9 ${units}`
  })),
  {
    error: Conversations.ConversationStoreError.make({ conversation, operation: "append", cause }),
    code: "KINTSUGI-CONVERSATION-STORE",
    isRetryable: true,
    message: "The storage failed at 'append' of conversation 'c-1'"
  },
  {
    error: Conversations.ConversationStoreError.make({ conversation: "", operation: "list", cause }),
    code: "KINTSUGI-CONVERSATION-STORE",
    isRetryable: true,
    message: "The storage failed at 'list'"
  }
])("$code says '$message' [P1384]", ({ code, error, isRetryable, message }) => {
  assert.deepInclude<object>(error, { code, isRetryable, message })
  // a message of the caller stays
  assert.strictEqual(Conversations.UnknownConversationError.make({ conversation, message: "gone" }).message, "gone")
})

it.effect("Conversations.layerSql refuses other databases by name [P1383]", () =>
  Effect.gen(function* () {
    const other = {
      withoutTransforms: () => other,
      onDialectOrElse: ({ orElse }: { readonly orElse: () => unknown }) => orElse()
    }
    // a client with only what tells its database
    const client = Layer.succeed(SqlClient, other as unknown as SqlClient)
    const exit = yield* Effect.exit(Layer.build(Layer.provide(Conversations.layerSql(), client)))
    assert(Exit.isFailure(exit))
    const defect = Cause.squash(exit.cause)
    assert.instanceOf(defect, TypeError)
    assert.strictEqual((defect as TypeError).message, "Conversations.layerSql works on PostgreSQL, PGlite and SQLite")
  })
)
