/** One thing that a run waits for, as data. */
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import * as Message from "../data/Message.ts"

/** The run that waits: the run that was asked about, or a sub-agent. */
const ofRun = { runId: Schema.String, agent: Schema.String }

const ofCall = {
  ...ofRun,
  callId: Schema.String,
  tool: Schema.String,
  /** When the wait ends, in milliseconds since the epoch. */
  expiresAt: Schema.Finite
}

const ofRequest = { ...ofCall, request: Approval.ApprovalRequest }

/** A deferred call that has begun, and that has no result yet. */
export const WaitingCall = Schema.Struct({ type: Schema.tag("deferred"), ...ofCall, handle: Schema.Json })

/**
 * What a suspended run waits for, by its `type`. It is the `approval` of a call, a person's answer about a failed call (`ask`, see
 * `Recovery.ask`), the settlement of a `deferred` call, or the next safe point for a `message` to the run.
 */
export type Waiting = typeof Waiting.Type

export const Waiting = Schema.Union([
  Schema.Struct({ type: Schema.tag("approval"), ...ofRequest }),
  Schema.Struct({ type: Schema.tag("ask"), ...ofRequest }),
  WaitingCall,
  Schema.Struct({
    type: Schema.tag("message"),
    /** Both absent for a message to a durable run as a whole. */
    runId: Schema.optionalKey(Schema.String),
    agent: Schema.optionalKey(Schema.String),
    id: Schema.String,
    message: Message.User
  })
])
