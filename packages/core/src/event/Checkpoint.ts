/**
 * The checkpoint of a run that waits, and of each of its calls that waits: the data that they need to resume, as JSON. There is one codec,
 * with a version; a `Snapshot` is its document.
 */
import * as Schema from "effect/Schema"
import * as FailureHistory from "../budget/FailureHistory.ts"
import * as Ledger from "../budget/Ledger.ts"
import { shared } from "../budget/Meter.ts"
import * as Approval from "../data/Approval.ts"
import * as Message from "../data/Message.ts"
import { TurnChoice } from "../data/TurnChoice.ts"
import * as Trail from "../errors/Trail.ts"
import { Position, Seen } from "../recovery/Position.ts"

/** A whole number of at least 0. */
const Count = Schema.Finite.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))

/** A number of at least 0. */
const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** A number above 0, or infinity. `Budget` checks further that it is a valid limit. */
const Limit = Schema.Number.check(Schema.isGreaterThan(0))

/** The progress of a call with its table of recovery: it resumes with the same counts. */
export interface CallProgress extends Schema.Schema.Type<typeof CallProgress> {}

export const CallProgress = Schema.Struct({
  /** The position of the policy: attempts, repairs and waits so far, without the waiting attempt. */
  position: Schema.Struct({
    ...Position.fields,
    attempts: Count,
    repairs: Count,
    slots: Schema.Array(
      Schema.Struct({ ...Position.fields.slots.value.fields, rungs: Schema.Array(Count), count: Count })
    )
  }),
  /** How often the function of the tool was executed. */
  executions: Count,
  /** Whether one of these executions may have taken effect. */
  isUncertain: Schema.Boolean,
  /** Every earlier error, and the decisions about them. */
  failures: Schema.Array(Seen),
  trail: Trail.Trail
})

const waitingFields = {
  /** Set for a call that had failed before it waited. */
  progress: Schema.optionalKey(CallProgress),
  /** How long the call has run, in milliseconds; absent without a `callTimeout`. */
  elapsed: Schema.optionalKey(Amount)
}

/** A call that waits for a decision about it. */
const ForDecision = Schema.Struct({
  type: Schema.tag("decision"),
  request: Approval.ApprovalRequest,
  /** The last failure of a failed call, if its schema is known. */
  error: Schema.optionalKey(Schema.Json),
  ...waitingFields
})

const forAgentFields = {
  type: Schema.tag("agent"),
  /** The arguments of the call. */
  arguments: Schema.Json,
  ...waitingFields
}

/** A call whose sub-agent waits: it resumes from the snapshot of the sub-agent. */
type ForAgent = Schema.Struct.Type<typeof forAgentFields> & { readonly snapshot: Snapshot }

/** How a deferred call has ended, by the schemas of its tool. */
const Ended = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Success"), value: Schema.Json }),
  Schema.Struct({ _tag: Schema.tag("Failure"), error: Schema.Json })
])

export type Ended = typeof Ended.Type

/** A deferred call that has begun: it waits for its settlement. */
export const ForSettlement = Schema.Struct({
  type: Schema.tag("deferred"),
  /** The arguments of the call. */
  arguments: Schema.Json,
  token: Schema.String,
  /** What `start` has returned. */
  handle: Schema.Json,
  /** When the wait ends, in milliseconds since the epoch. */
  expiresAt: Schema.Finite,
  /** Its settlement, where that came before the run was suspended at a limit; absent as long as it waits. */
  ended: Schema.optionalKey(Ended),
  ...waitingFields
})

export interface ForSettlement extends Schema.Schema.Type<typeof ForSettlement> {}

/** A deferred call that is settled as `deferred`: its result comes later. */
export interface LateCheckpoint extends Schema.Schema.Type<typeof LateCheckpoint> {}

export const LateCheckpoint = Schema.Struct({
  callId: Schema.String,
  /** The place of the call in the run. */
  callKey: Schema.String,
  /** Its idempotency key. */
  key: Schema.String,
  /** The arguments of the call. */
  arguments: Schema.Json,
  tool: Schema.String,
  token: Schema.String,
  handle: Schema.Json,
  /** When the wait ends, in milliseconds since the epoch. */
  expiresAt: Schema.Finite,
  /** The position of its policy when the attempt began; absent for a first attempt. */
  progress: Schema.optionalKey(CallProgress),
  /** How it has ended, by the schemas of the tool; absent as long as it waits. */
  ended: Schema.optionalKey(Ended),
  /** The text for the model, if the schemas cannot encode the end synchronously. */
  result: Schema.optionalKey(Message.Settlement)
})

/** A call that waits. */
export type CallCheckpoint = typeof ForDecision.Type | ForAgent | ForSettlement

/** A settled call, with its entry for the failure history. */
const SettlementRecord = Schema.Struct({
  type: Schema.tag("finished"),
  settlement: Message.Settlement,
  record: Schema.optionalKey(FailureHistory.CallOutcome)
})

/** A call that has not begun. */
const NotBegun = Schema.Struct({ type: Schema.tag("not-begun") })

const unfinishedFields = {
  reply: Message.Reply,
  /** The idempotency keys of its calls, in their order. */
  keys: Schema.Array(Schema.String),
  /** How many calls of the reply the budget admits, and how many come before a tool exceeds `maxCallsInARow`. */
  admitted: Count,
  admittedInARow: Count,
  /** Whether tools were switched off when the model was called. */
  toolsWereOff: Schema.Boolean
}

/** A reply with unsettled calls. */
export type UnfinishedReply = NonNullable<Snapshot["unfinished"]>

const fields = {
  version: Schema.Literal(6),
  /** The id of the snapshot, which is resumed once. Absent in the snapshots of sub-agents: they resume with their parent. */
  id: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
  runId: Schema.String,
  /** The seed of the idempotency keys; absent if it is the run id. */
  seed: Schema.optionalKey(Schema.String),
  agent: Schema.String,
  /** The chosen skill; absent if the agent has only one. */
  skill: Schema.optionalKey(Schema.String),
  /** Whole messages; each call has its settlement. */
  transcript: Message.Transcript,
  /**
   * Set if the conversation had been too long for the model: it reads `head`, and then the transcript from the index `from`. Absent
   * if it reads the whole transcript.
   */
  compacted: Schema.optionalKey(Schema.Struct({ head: Message.Transcript, from: Count })),
  /** The last turn before which `Agent.compactAt` has shortened the conversation, or has tried to; absent if there is none. */
  compactionTurn: Schema.optionalKey(Count),
  /** The index of the run's input in the transcript; absent without input. */
  inputIndex: Schema.optionalKey(Count),
  /** The long results that were put aside, the oldest first, by their handles; without its text where there was no room for it. */
  putAside: Schema.optionalKey(
    Schema.Array(Schema.Struct({ handle: Schema.String, text: Schema.optionalKey(Schema.String) }))
  ),
  /** The grants of the run. */
  grants: Schema.optionalKey(Schema.Array(Approval.Grant)),
  /** What was said to the run and is not read yet, in its order; absent if there is nothing. */
  inbox: Schema.optionalKey(Schema.Array(Message.SaidMessage)),
  /** The deferred calls whose results are to come, in the order in which they have begun; absent if there are none. */
  late: Schema.optionalKey(Schema.Array(LateCheckpoint)),
  /** The digests of recently withdrawn requests. A decision about one of them gets the answer that the request was withdrawn. */
  withdrawn: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The digests of recently decided requests. A second decision about one of them gets the answer that the first one counts. */
  decided: Schema.optionalKey(Schema.Array(Schema.String)),
  turn: Count,
  /** What was chosen for this turn; absent if nothing prepares the turns of the agent. */
  prepared: Schema.optionalKey(TurnChoice),
  /** How often tools with `maxCalls` were called, by the name of the tool; absent in a run within another. */
  cappedCalls: Schema.optionalKey(Schema.Record(Schema.String, Count)),
  /**
   * How often each tool with `maxCalls` was called, by tool and agents: two tools may share a name. `agents` lists the calling agent, then
   * its parents.
   */
  cappedTools: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ tool: Schema.String, agents: Schema.Array(Schema.Array(Schema.String)), calls: Count })
    )
  ),
  spent: Schema.Struct({ turns: Count, toolCalls: Count, millis: Amount }),
  /** The present limits: `onBudgetExceeded` may have extended them. */
  limits: Schema.Struct({
    maxTurns: Limit,
    maxToolCalls: Limit,
    maxTokens: Limit,
    maxCost: Limit,
    maxDuration: Limit
  }),
  /** The limits about which the run has emitted a warning. */
  warned: Schema.Array(Schema.Literals(shared)),
  ledger: Schema.Array(
    Schema.Struct({
      ...Ledger.Entry.fields,
      usage: Schema.Struct({
        inputTokens: Amount,
        outputTokens: Amount,
        cachedInputTokens: Amount,
        cacheWriteTokens: Amount,
        reasoningTokens: Amount
      }),
      cost: Schema.optionalKey(Amount)
    })
  ),
  failures: Schema.Struct({
    ...FailureHistory.Failures.fields,
    failingBatches: Count,
    streaks: Schema.Array(
      Schema.Struct({
        tool: Schema.String,
        failures: Count,
        repeats: Count,
        signature: Schema.optionalKey(Schema.String)
      })
    )
  }),
  callsWithToolsOff: Count,
  /** Answers that did not decode, after which the model was called again. */
  outputsRejected: Count,
  sameTool: Schema.Struct({ tool: Schema.String, calls: Count }),
  /** The digests of the definitions of the tools that it has offered and whose servers may change them; absent without such tools. */
  pins: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /**
   * What the guardrails of the run keep: the indexes of the words of the user in the transcript that have not passed yet, and how many
   * answers were withheld that the model was to give once more. Absent without guardrails.
   */
  guards: Schema.optionalKey(Schema.Struct({ unchecked: Schema.Array(Count), withheld: Count })),
  /** How often the run has made each call, by the digest of tool and arguments. The next equal call gets another key. */
  made: Schema.Array(Schema.Struct({ digest: Schema.String, times: Count }))
}

/** A suspended run, as data. It has the whole conversation. */
export interface Snapshot extends Schema.Struct.Type<typeof fields> {
  /** The reply with unsettled calls, with an entry for each call in their order. */
  readonly unfinished?: Schema.Struct.Type<typeof unfinishedFields> & {
    readonly calls: ReadonlyArray<typeof SettlementRecord.Type | typeof NotBegun.Type | CallCheckpoint>
  }
}

const ForAgent = Schema.Struct({
  ...forAgentFields,
  snapshot: Schema.suspend((): Schema.Codec<Snapshot, unknown> => Snapshot)
})

const Call = Schema.Union([SettlementRecord, NotBegun, ForDecision, ForAgent, ForSettlement])

export const Snapshot = Schema.Struct({
  ...fields,
  unfinished: Schema.optionalKey(Schema.Struct({ ...unfinishedFields, calls: Schema.Array(Call) }))
})
