/** What the errors of a conversation that an entity serves tell a program, and a person. */
import { assert, it } from "@effect/vitest"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"

const of = { conversation: "c-1", id: "m-1" }

it.each([
  {
    error: ConversationEntity.ConversationBusyError.make({ conversation: "c-1", reason: "queue", retryAfter: 500 }),
    code: "KINTSUGI-CONVERSATION-BUSY",
    isRetryable: true,
    message: "Conversation 'c-1' takes no message: its queue is full. Try again in 500 ms"
  },
  {
    error: ConversationEntity.ConversationBusyError.make({ conversation: "c-1", reason: "runner", retryAfter: 9 }),
    code: "KINTSUGI-CONVERSATION-BUSY",
    isRetryable: true,
    message: "Conversation 'c-1' takes no message: the process that serves it takes no more. Try again in 9 ms"
  },
  {
    error: ConversationEntity.UnknownMessageError.make(of),
    code: "KINTSUGI-UNKNOWN-MESSAGE",
    isRetryable: false,
    message: "Conversation 'c-1' has no such message 'm-1'. Has its run begun already?"
  },
  ...(
    [
      ["stopped", "its run was stopped"],
      ["withdrawn", "it was withdrawn before its run began"],
      ["refused", "the store does not take it any more"],
      ["deleted", "the rows of its run were deleted"],
      ["unserved", "another version of the agent has answered it. Name that version in the option 'former'"]
    ] as const
  ).map(([reason, why]) => ({
    error: ConversationEntity.UnansweredError.make({ ...of, reason }),
    code: "KINTSUGI-UNANSWERED",
    isRetryable: false,
    message: `Message 'm-1' of conversation 'c-1' has no answer: ${why}`
  }))
])("$code says '$message' [P1384]", ({ code, error, isRetryable, message }) => {
  assert.deepInclude<object>(error, { code, isRetryable, message })
})
