/** The errors of the store of conversations. Each one names the conversation. */
import * as LlmError from "@kintsugi/core/LlmError"
import * as Schema from "effect/Schema"

const named = {
  message: Schema.String,
  /** The id of the conversation. */
  conversation: Schema.String
}

/** The argument of `make`: the fields of an error. If `message` is absent, it is composed of the other fields. */
type Made<F extends Schema.Struct.Fields> = Omit<Schema.Struct.Type<F>, "message"> & { readonly message?: string }

const conflictFields = {
  ...named,
  /** The version that the writer has expected. */
  expected: Schema.Finite,
  /** The version that the store has. */
  actual: Schema.Finite
}

/** Another writer was first: the conversation has another version than this writer expected. Nothing was written. */
export class ConflictError extends Schema.TaggedError<ConflictError>()("ConflictError", conflictFields) {
  readonly code = "KINTSUGI-CONFLICT"
  readonly isRetryable = false
  static override make(fields: Made<typeof conflictFields>): ConflictError {
    const { actual, conversation, expected } = fields
    const what = `Conversation '${conversation}' has version ${actual}, and this writer expected ${expected}`
    return new ConflictError({ message: `${what}. Load it again, and decide with its new messages`, ...fields })
  }
}

/** The subject has no conversation with this id. Whether another subject has it, the error does not say. */
export class UnknownConversationError extends Schema.TaggedError<UnknownConversationError>()(
  "UnknownConversationError",
  named
) {
  readonly code = "KINTSUGI-UNKNOWN-CONVERSATION"
  readonly isRetryable = false
  static override make(fields: Made<typeof named>): UnknownConversationError {
    return new UnknownConversationError({ message: `There is no conversation '${fields.conversation}'`, ...fields })
  }
}

const limitFields = {
  ...named,
  /** The option that sets the limit, or a limit that is the same for all: the depth of JSON, and the length of an id. */
  option: Schema.Literals(["maxMessages", "maxBytes", "depth", "id"]),
  /** In messages, bytes, levels or characters. */
  limit: Schema.Finite
}

const units = {
  maxMessages: "messages",
  maxBytes: "bytes of JSON in a message or document",
  depth: "levels of JSON",
  id: "characters in an id, which has at least one and no control character"
}

/** What was to be written exceeds a limit of the store. Nothing was written. */
export class ConversationLimitError extends Schema.TaggedError<ConversationLimitError>()(
  "ConversationLimitError",
  limitFields
) {
  readonly code = "KINTSUGI-CONVERSATION-LIMIT"
  readonly isRetryable = false
  static override make(fields: Made<typeof limitFields>): ConversationLimitError {
    const { conversation, limit, option } = fields
    const message = `Conversation '${conversation}' would exceed ${option}, ${limit} ${units[option]}`
    return new ConversationLimitError({ message, ...fields })
  }
}

const storeFields = {
  ...named,
  /** The function that failed, such as `append`. */
  operation: Schema.String,
  /** What the storage said, or what cannot be read of a row. Encoded, it is a redacted summary, as the cause of an `LlmError` is. */
  cause: LlmError.UnknownLlmError.fields.cause.schema
}

/**
 * The storage has failed, or has a row that cannot be read or decrypted. `conversation` is empty if the operation has none. After a failed
 * `append`, load the conversation: it is not known whether the storage has written.
 */
export class ConversationStoreError extends Schema.TaggedError<ConversationStoreError>()(
  "ConversationStoreError",
  storeFields
) {
  readonly code = "KINTSUGI-CONVERSATION-STORE"
  readonly isRetryable = true
  static override make(fields: Made<typeof storeFields>): ConversationStoreError {
    const of = fields.conversation === "" ? "" : ` of conversation '${fields.conversation}'`
    return new ConversationStoreError({ message: `The storage failed at '${fields.operation}'${of}`, ...fields })
  }
}
