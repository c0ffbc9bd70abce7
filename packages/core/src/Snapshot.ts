/**
 * A run that waits, as one JSON document: what was said, what is settled, what it has spent, and what it waits for. It goes on from
 * there, in another process if need be, and no call that is settled runs again.
 */
import * as Schema from "effect/Schema"
import * as Approval from "./Approval.ts"
import * as FailureHistory from "./FailureHistory.ts"
import { shared } from "./internal/budgetMeter.ts"
import { Position, Seen } from "./internal/recoveryPosition.ts"
import * as Ledger from "./Ledger.ts"
import * as Message from "./Message.ts"
import * as Trail from "./Trail.ts"

/** How far a call had come with its ladder when it had to wait for a decision: it goes on with the same counts. */
export interface Standing extends Schema.Schema.Type<typeof Standing> {}

export const Standing = Schema.Struct({
  /** That of its request. */
  key: Schema.String,
  /** Rungs, attempts and waits so far. The attempt that waits for the decision is not among them. */
  position: Position,
  /** How often the tool itself has run. */
  runs: Schema.Finite,
  /** Whether one of these runs may have taken effect. */
  isOpen: Schema.Boolean,
  /** Every error on the way, and what was decided about them. */
  failures: Schema.Array(Seen),
  trail: Trail.Trail
})

/** A reply whose calls are not all settled. */
export const Open = Schema.Struct({
  reply: Message.Reply,
  /** In the order of its calls; `null` for one that is open. */
  settlements: Schema.Array(Schema.NullOr(Message.Settlement)),
  /** What is known of those that are settled. */
  settled: Schema.Array(Schema.NullOr(FailureHistory.Settled)),
  /** How many of its calls the budget admits, and how many come before one tool was called too often in a row. */
  admitted: Schema.Finite,
  inARow: Schema.Finite,
  /** Whether tools were switched off when the model was asked. */
  wasOff: Schema.Boolean,
  /** What has to be decided before the run can go on. */
  requests: Schema.Array(Approval.ApprovalRequest),
  /** Of the calls that wait, those that had failed before; absent in version 1, where such a call counts from the beginning. */
  standings: Schema.optionalKey(Schema.Array(Standing))
})

export interface Snapshot extends Schema.Schema.Type<typeof Snapshot> {}

export const Snapshot = Schema.Struct({
  /** 2 is what is written. 1 has neither `standings` nor `warned`, and is still read. */
  version: Schema.Literals([1, 2]),
  runId: Schema.String,
  agent: Schema.String,
  /** The skill that was chosen, where there was a choice. */
  skill: Schema.optionalKey(Schema.String),
  /** Whole messages, every call settled. */
  transcript: Message.Transcript,
  /**
   * Where the conversation had been too long for the model: it reads `head` and then the transcript `from` that place. Absent
   * where it reads all of it.
   */
  compacted: Schema.optionalKey(Schema.Struct({ head: Message.Transcript, from: Schema.Finite })),
  open: Schema.optionalKey(Open),
  turn: Schema.Finite,
  spent: Schema.Struct({ turns: Schema.Finite, toolCalls: Schema.Finite, millis: Schema.Finite }),
  /** As they are now: `onBudgetExceeded` may have extended them. */
  limits: Schema.Struct({
    maxTurns: Schema.Number,
    maxToolCalls: Schema.Number,
    maxTokens: Schema.Number,
    maxCost: Schema.Number,
    maxDuration: Schema.Number
  }),
  /** The limits that were told of as near; absent in version 1. */
  warned: Schema.optionalKey(Schema.Array(Schema.Literals(shared))),
  ledger: Schema.Array(Ledger.Entry),
  failures: FailureHistory.Failures,
  callsWhileOff: Schema.Finite,
  /** Answers that did not fit, and were asked for again. */
  outputsRejected: Schema.Finite,
  inARow: Schema.Struct({ tool: Schema.String, calls: Schema.Finite })
})

export const isSnapshot: (value: unknown) => value is Snapshot = Schema.is(Snapshot)

/** As it is kept in a file, a queue or a database. */
export const toJson = (self: Snapshot): Schema.Json => encode(self)

/** Fails with the place where a document is none. */
export const fromJson = Schema.decodeUnknownEffect(Schema.toCodecJson(Snapshot), { errors: "all" })

// the JSON codec of any schema encodes to JSON
const encode = Schema.encodeUnknownSync(Schema.toCodecJson(Snapshot)) as (snapshot: Snapshot) => Schema.Json

/** What has to be decided before the run can go on; nothing where it waits for a larger budget. */
export const requestsOf = ({ open }: Snapshot): ReadonlyArray<Approval.ApprovalRequest> => open?.requests ?? []
