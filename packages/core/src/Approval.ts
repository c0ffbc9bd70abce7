/** A tool call that waits for the word of a person. Waiting is a suspension of the run, never an error. */
import * as Schema from "effect/Schema"

/** What a person is asked. */
export class ApprovalRequest extends Schema.Class<ApprovalRequest>("ApprovalRequest")({
  tool: Schema.String,
  callId: Schema.String,
  /** Why this call needs a decision. */
  reason: Schema.String,
  /** Identifies what is decided on: a decision holds for this digest and for no other. */
  digest: Schema.String
}) {}

export const isApprovalRequest = (value: unknown): value is ApprovalRequest => value instanceof ApprovalRequest
