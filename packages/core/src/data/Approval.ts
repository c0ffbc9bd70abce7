/**
 * Requests for approval of tool calls. Waiting for a decision suspends the run; it is never an error. A decision holds for the
 * request that was shown (the same run, call, tool, arguments and schema), until the request expires.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Signature } from "./Signature.ts"

/** What a person is asked. */
export class Request extends Schema.Class<Request>("ApprovalRequest")({
  runId: Schema.String,
  agent: Schema.String,
  tool: Schema.String,
  callId: Schema.String,
  /** The idempotency key of the call: ids of calls repeat over turns, this key does not. */
  key: Schema.String,
  /** The arguments as the tool would get them, after coercion and repair. */
  arguments: Schema.Json,
  /** Why this call needs a decision. */
  reason: Schema.String,
  /** Identifies the schema of the tool. */
  schema: Schema.String,
  /**
   * The digest of the run, the call as the model wrote it, the tool, its arguments and schema, and the expiry. A
   * decision holds for this digest only.
   */
  digest: Schema.String,
  /** Milliseconds since the epoch; a decision that comes later is asked for again. */
  expiresAt: Schema.Finite
}) {}

/** Whether a value is a `Request`. */
export const isRequest = (value: unknown): value is Request => value instanceof Request

/** The answer of a person: the call may run, perhaps with other arguments, or it may not. */
export type Decision = typeof Decision.Type

export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.tag("approve"), arguments: Schema.optionalKey(Schema.Json) }),
  Schema.Struct({ type: Schema.tag("refuse"), reason: Schema.String })
])

/** The call may run with its arguments as they are. */
export const approve: Decision = { type: "approve" }

/** The call may run with these arguments. They pass every gate again: size, schema, policy. */
export const approveWith = (args: Schema.Json): Decision => ({ type: "approve", arguments: args })

/** The call may not run; the model reads the reason. */
export const refuse = (reason: string): Decision => ({ type: "refuse", reason })

/** A decision, and the request that it answers. */
export interface Decided extends Schema.Schema.Type<typeof Decided> {}

export const Decided = Schema.Struct({
  digest: Schema.String,
  decision: Decision,
  /** Required if the program has signing keys: `Snapshot.signDecision` makes it. */
  signature: Schema.optionalKey(Signature)
})

/** Decides about tool calls that need approval, while the run waits: the service that agents with such tools ask for in `R`. */
export class Approver extends Context.Service<
  Approver,
  {
    /** The decision for one request. The run waits as long as this effect does, within its own time. */
    readonly decide: (request: Request) => Effect.Effect<Decision>
  }
>()("@kintsugi/core/Approver") {}

/** An approver that is one function. */
export const layer = (decide: Approver["Service"]["decide"]): Layer.Layer<Approver> =>
  Layer.succeed(Approver, { decide })
