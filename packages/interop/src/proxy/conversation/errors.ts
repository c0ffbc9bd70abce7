/** What a request to a conversation can fail with, beside the failures of any request and of runs. */
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as Schema from "effect/Schema"

/**
 * There is no such conversation, or it has no such message; for an edit or a withdrawal, no such message waits. Whether another subject has
 * the conversation, the error does not say.
 */
export class ConversationNotFoundError extends HttpApiError.Problem<ConversationNotFoundError>()(
  "ConversationNotFoundError",
  {
    type: "urn:kintsugi:error:conversation-not-found",
    status: 404,
    title: "There is no such conversation, or it has no such message"
  },
  {
    conversation: Schema.String,
    /** The id of the message, if the request named one. */
    id: Schema.optionalKey(Schema.String)
  }
) {}

/** The conversation or the message is in another state. `reason` says which. */
export class ConversationConflictError extends HttpApiError.Problem<ConversationConflictError>()(
  "ConversationConflictError",
  {
    type: "urn:kintsugi:error:conversation-conflict",
    status: 409,
    title: "The conversation is in another state"
  },
  {
    conversation: Schema.String,
    /** The id of the message, if the request named one. */
    id: Schema.optionalKey(Schema.String),
    /**
     * `full`: the conversation has as many messages as its store admits. The others say why the message has no answer. `stopped`: its run was
     * interrupted. `withdrawn`: it never had a run. `steered`: the run of another message has read it. `refused`: the store does not take it
     * any more. `deleted`: the rows of its run are gone. `unserved`: this server does not have the version of the agent that has answered it.
     */
    reason: Schema.Literals(["full", "stopped", "withdrawn", "steered", "refused", "deleted", "unserved"])
  }
) {}
