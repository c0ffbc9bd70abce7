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
 * What a server has changed: both definitions of its tool. `before` is absent for a new tool, and has only the digest where the definition
 * is not stored.
 *
 * @hidden
 */
export interface DefinitionChange extends Schema.Schema.Type<typeof Change> {}

const Change = Schema.Struct({
  server: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.Json
})

/** A failed call, for the person who decides how it goes on. */
const Failed = Schema.Struct({
  /** The tag of the failure. */
  tag: Schema.String,
  /** The failure in the text that a model reads by default. */
  forModel: Schema.String,
  /** The redacted failure with its causes. */
  full: Schema.String,
  /** How many attempts were made. */
  attempts: Schema.Finite,
  /** How often the tool itself has run. */
  runs: Schema.Finite,
  sideEffects: Schema.Literals(["none", "idempotent", "unsafe", "undeclared"]),
  /** Whether the tool may have taken effect. */
  mayHaveTakenEffect: Schema.Boolean,
  /** The answer of the tool's `verify`, if it ran: no effect, or why the effect is unknown. */
  verified: Schema.optionalKey(Schema.Union([Schema.Literal("no-effect"), Schema.Struct({ unknown: Schema.String })])),
  /** Set if the arguments do not fit: the call runs only with other arguments. */
  needsArguments: Schema.optionalKey(Schema.Literal(true)),
  /** Why the last decision about this failure did not fit, if it did not. */
  unfit: Schema.optionalKey(Schema.String)
})

/** A request for a person's approval of one tool call. */
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
  /** In milliseconds since the epoch. */
  requestedAt: Schema.Finite,
  /** In milliseconds since the epoch. A decision that comes later does not count. */
  expiresAt: Schema.Finite,
  /** Set if the call has failed, and `Recovery.ask` asks how it goes on. */
  failed: Schema.optionalKey(Failed),
  /** Set if the server has changed the definition of the tool. A person who approves the call accepts the new definition. */
  change: Schema.optionalKey(Change),
  /** The rules of the tool, by which `approveFor({ rule })` approves more than this call. Absent for a tool without rules. */
  rules: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

/**
 * What happens if no decision comes in time: the run asks again, the call is refused, or it fails with `ApprovalExpiredError`.
 *
 * @hidden
 */
export type OnExpiry = "ask-again" | "refuse" | "fail"

/**
 * The value of a step that waited for a decision that did not come in time.
 *
 * @internal
 */
export const expired = "expired" as const

/**
 * A person's answer: the tool call may run, or is refused. It may run with other arguments. A failed call may also get its result from the
 * person.
 */
export type Decision = typeof Decision.Type

export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.tag("approve"), arguments: Schema.optionalKey(Schema.Json), ...approvalFields }),
  Schema.Struct({ type: Schema.tag("refuse"), reason: Schema.String }),
  Schema.Struct({ type: Schema.tag("result"), value: Schema.Json })
])

/** Approves the call with its own arguments. */
export const approve: Decision = { type: "approve" }

/** Approves the call with these arguments. They pass every gate once more: size, schema, policy. */
export const approveWith = (args: Schema.Json): Decision => ({ type: "approve", arguments: args })

/** The scope of an approval, besides its call. */
interface GrantOptions extends Pick<Extract<Decision, { readonly type: "approve" }>, "deep" | "until" | "who"> {}

/**
 * Approves this call, and later ones too. `"run"` admits equal calls of this run, `{ conversation }` equal calls of a conversation, and `{
 * rule }` the calls that fit a rule of the tool (`rules` of `Tool.requireApproval`). The approval becomes a `Grant`. For a failed call
 * (`Recovery.ask`) it holds for that call alone. Throws a `RangeError` if `until`, in milliseconds since the epoch, is no finite number.
 */
export const approveFor = (scope: ApprovalScope, { deep, until, who }: GrantOptions = {}): Decision => {
  if (until !== undefined && !Number.isFinite(until)) {
    throw new RangeError(`Approval.approveFor: until must be a finite number, got ${String(until)}`)
  }
  return {
    type: "approve",
    for: scope,
    ...(deep === undefined ? {} : { deep }),
    ...(until === undefined ? {} : { until }),
    ...(who === undefined ? {} : { who })
  }
}

/** Refuses the call; the model reads the reason. */
export const refuse = (reason: string): Decision => ({ type: "refuse", reason })

/** Gives the failed call this result. The result has to fit the `success` schema of the tool. A call that has not failed is refused. */
export const result = (value: Schema.Json): Decision => ({ type: "result", value })

/** A decision, with the digest of the request that it answers. */
export interface Decided extends Schema.Schema.Type<typeof Decided> {}

export const Decided = Schema.Struct({
  digest: Schema.String,
  decision: Decision,
  /** Required if the program has signing keys: `Snapshot.signDecision` makes it. */
  signature: Schema.optionalKey(Signature)
})

/** Why a decision does not count. */
const NotCountedReason = Schema.Literals([
  // the decision came after the request had expired
  "late",
  // the run has made another request about this call since
  "other-digest",
  "already-decided",
  "unknown-request",
  // the call no longer waits: its run has ended, or another call of its reply ended the run
  "withdrawn",
  "run-over",
  // the approval has no arguments, but those of the call do not fit
  "nothing-to-run"
])

/** What becomes of one decision: it counts, or it does not and why. The first decision about a request counts. */
export type DecisionReceipt = typeof DecisionReceipt.Type

/** The schema of a `DecisionReceipt`, for a wire. */
export const DecisionReceipt = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Counted"), digest: Schema.String }),
  Schema.Struct({ _tag: Schema.tag("NotCounted"), digest: Schema.String, reason: NotCountedReason })
])

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
