/** The errors of a conversation that is served by an entity. Each one names the conversation. */
import * as Schema from "effect/Schema"

/** The argument of `make`: the fields of an error. If `message` is absent, it is composed of the other fields. */
type Made<F extends Schema.Struct.Fields> = Omit<Schema.Struct.Type<F>, "message"> & { readonly message?: string }

const busyFields = {
  message: Schema.String,
  /** The id of the conversation. */
  conversation: Schema.String,
  /** `queue`: as many messages wait as the option `capacity` admits. `runner`: the process that serves the conversation takes no more. */
  reason: Schema.Literals(["queue", "runner"]),
  /** How long to wait before the next try, in milliseconds. */
  retryAfter: Schema.Finite
}

/** The conversation takes no further message just now, and has not taken this one. An HTTP layer answers 429 with `retryAfter`. */
export class ConversationBusyError extends Schema.TaggedError<ConversationBusyError>()(
  "ConversationBusyError",
  busyFields
) {
  readonly code = "KINTSUGI-CONVERSATION-BUSY"
  readonly isRetryable = true
  static override make(fields: Made<typeof busyFields>): ConversationBusyError {
    const { conversation, reason, retryAfter } = fields
    const what = reason === "queue" ? "its queue is full" : "the process that serves it takes no more"
    const message = `Conversation '${conversation}' takes no message: ${what}. Try again in ${retryAfter} ms`
    return new ConversationBusyError({ message, ...fields })
  }
}

const messageFields = {
  message: Schema.String,
  /** The id of the conversation. */
  conversation: Schema.String,
  /** The id of the message. */
  id: Schema.String
}

/** The conversation has no such message. For `edit` and `withdraw`: no such message waits, because its run has begun or it was withdrawn. */
export class UnknownMessageError extends Schema.TaggedError<UnknownMessageError>()(
  "UnknownMessageError",
  messageFields
) {
  readonly code = "KINTSUGI-UNKNOWN-MESSAGE"
  readonly isRetryable = false
  static override make(fields: Made<typeof messageFields>): UnknownMessageError {
    const { conversation, id } = fields
    const message = `Conversation '${conversation}' has no such message '${id}'. Has its run begun already?`
    return new UnknownMessageError({ message, ...fields })
  }
}

const unansweredFields = {
  ...messageFields,
  /**
   * `stopped`: its run was interrupted. `withdrawn`: it never had a run. `refused`: the limits of the store became lower before it had one.
   * `deleted`: the rows of its ended run are gone. `unserved`: this program does not have the version of the agent that has answered it.
   */
  reason: Schema.Literals(["stopped", "withdrawn", "refused", "deleted", "unserved"])
}

const reasons = {
  stopped: "its run was stopped",
  withdrawn: "it was withdrawn before its run began",
  refused: "the store does not take it any more",
  deleted: "the rows of its run were deleted",
  unserved: "another version of the agent has answered it. Name that version in the option 'former'"
}

/** The message has no answer, and gets none. */
export class UnansweredError extends Schema.TaggedError<UnansweredError>()("UnansweredError", unansweredFields) {
  readonly code = "KINTSUGI-UNANSWERED"
  readonly isRetryable = false
  static override make(fields: Made<typeof unansweredFields>): UnansweredError {
    const { conversation, id, reason } = fields
    const message = `Message '${id}' of conversation '${conversation}' has no answer: ${reasons[reason]}`
    return new UnansweredError({ message, ...fields })
  }
}
