/**
 * Requests for approval of tool calls, and the decisions of people. A run that waits for a decision is suspended; that is no error.
 * A decision is valid for one request (its run, call, tool, arguments and schema), until the request expires.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { approvalFields, type ApprovalScope } from "./Grants.ts"
import { Signature } from "./Signature.ts"

export { Approvals, approvalsOfProcess, Conversation, Grant } from "./Grants.ts"
export type { ApprovalScope } from "./Grants.ts"
/**
 * What a server has changed: both definitions of its tool. `before` is absent for a new tool, and has only the digest where the definition is
 * not stored.
 *
 * @hidden
 */
export interface DefinitionChange extends Schema.Schema.Type<typeof Change> {}

const Change = Schema.Struct({
  server: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.Json
})

/** A request for approval of one tool call: a person reads it and decides. */
export class ApprovalRequest extends Schema.Class<ApprovalRequest>("ApprovalRequest")({
  runId: Schema.String,
  agent: Schema.String,
  tool: Schema.String,
  callId: Schema.String,
  /** The idempotency key of the call: ids of calls repeat over turns, this key does not. */
  key: Schema.String,
  /** The arguments that the tool would get, after coercion and repair. */
  arguments: Schema.Json,
  /** Why this call needs a decision. */
  reason: Schema.String,
  /** Identifies the schema of the tool. */
  schema: Schema.String,
  /**
   * The digest of the run, the call as the model wrote it, the tool, its arguments and schema, and the expiry. A
   * decision is valid for this digest only.
   */
  digest: Schema.String,
  /** In milliseconds since the epoch. The run makes a new request if the decision comes later. */
  expiresAt: Schema.Finite,
  /** Set if the server of the tool has changed its definition: who approves the call takes the new definition. */
  change: Schema.optionalKey(Change)
}) {}

/** The answer of a person: the tool call may run, perhaps with other arguments, or it is refused. */
export type Decision = typeof Decision.Type

export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.tag("approve"), arguments: Schema.optionalKey(Schema.Json), ...approvalFields }),
  Schema.Struct({ type: Schema.tag("refuse"), reason: Schema.String })
])

/** Approves the call with its own arguments. */
export const approve: Decision = { type: "approve" }

/** Approves the call with these arguments. They pass every gate once more: size, schema, policy. */
export const approveWith = (args: Schema.Json): Decision => ({ type: "approve", arguments: args })

/** What an approval holds for, besides its call. */
interface GrantOptions extends Pick<Extract<Decision, { readonly type: "approve" }>, "deep" | "until" | "who"> {}

/**
 * The call may run, and so may later ones: `"run"` admits equal calls of this run, `{ conversation }` equal calls of a conversation, and
 * `{ rule }` the calls that fit this rule of the tool, see `rules` of `Tool.requireApproval`. The approval becomes a `Grant`.
 */
export const approveFor = (scope: ApprovalScope, { deep, until, who }: GrantOptions = {}): Decision => ({
  type: "approve",
  for: scope,
  ...(deep === undefined ? {} : { deep }),
  ...(until === undefined ? {} : { until }),
  ...(who === undefined ? {} : { who })
})

/** Refuses the call; the model reads the reason. */
export const refuse = (reason: string): Decision => ({ type: "refuse", reason })

/** A decision, with the digest of the request that it answers. */
export interface Decided extends Schema.Schema.Type<typeof Decided> {}

export const Decided = Schema.Struct({
  digest: Schema.String,
  decision: Decision,
  /** Required if the program has signing keys: `Snapshot.signDecision` makes it. */
  signature: Schema.optionalKey(Signature)
})

/** The service that decides about tool calls while their run waits. An agent with tools that need approval has it in `R`. */
export class Approver extends Context.Service<
  Approver,
  {
    /** The decision about one request. The run waits for this effect, until its own `maxDuration` is over. */
    readonly decide: (request: ApprovalRequest) => Effect.Effect<Decision>
  }
>()("@kintsugi/core/Approver") {}

/** Makes an approver of one function. */
export const layer = (decide: Approver["Service"]["decide"]): Layer.Layer<Approver> =>
  Layer.succeed(Approver, { decide })
