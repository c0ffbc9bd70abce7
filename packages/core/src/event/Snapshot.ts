/**
 * A run that waits, as one JSON document: what was said, what is settled, what it has spent, and what it waits for. It goes on from
 * there, in another process if need be, and no call that is settled runs again.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import * as FailureHistory from "../budget/FailureHistory.ts"
import { shared } from "../budget/Meter.ts"
import { isDeep } from "../data/Foreign.ts"
import { freeze } from "../data/Frozen.ts"
import { genuine } from "./Genuine.ts"
import { Signature } from "../data/Signature.ts"
import * as Signing from "../data/Signing.ts"
import { refused } from "./Refused.ts"
import type { SnapshotRefusedError } from "../errors/DoorError.ts"
import { Seen } from "../recovery/Position.ts"
import * as Check from "./snapshotChecks.ts"
import * as Message from "../data/Message.ts"
import * as Trail from "../errors/Trail.ts"

export { type Claim, Claims, claimsOfProcess } from "./claims.ts"
export { Signature } from "../data/Signature.ts"
export { type Audience, type Refusal, type Signer, Signing } from "../data/Signing.ts"

/** How far a call had come with its ladder when it had to wait for a decision: it goes on with the same counts. */
export interface Standing extends Schema.Schema.Type<typeof Standing> {}

export const Standing = Schema.Struct({
  /** That of its request. */
  key: Schema.String,
  /** Rungs, attempts and waits so far. The attempt that waits for the decision is not among them. */
  position: Check.Place,
  /** How often the tool itself has run. */
  runs: Check.Count,
  /** Whether one of these runs may have taken effect. */
  isOpen: Schema.Boolean,
  /** Every error on the way, and what was decided about them. */
  failures: Schema.Array(Seen),
  trail: Trail.Trail
})

const openFields = {
  reply: Message.Reply,
  /** In the order of its calls; `null` for one that is open. */
  settlements: Schema.Array(Schema.NullOr(Message.Settlement)),
  /** What is known of those that are settled. */
  settled: Schema.Array(Schema.NullOr(FailureHistory.Settled)),
  /** How many of its calls the budget admits, and how many come before one tool was called too often in a row. */
  admitted: Check.Count,
  inARow: Check.Count,
  /** Whether tools were switched off when the model was asked. */
  wasOff: Schema.Boolean,
  /** What has to be decided before the run can go on, here or in a sub-agent. */
  requests: Schema.Array(Approval.Request),
  /** Of the calls that wait, those that had failed before; absent in version 1, where such a call counts from the beginning. */
  standings: Schema.optionalKey(Schema.Array(Standing))
}

/** A call whose sub-agent waits: it goes on from there. */
export interface Nested {
  /** That of the call, as in a request. */
  readonly key: string
  /** What the tool was called with. */
  readonly arguments: Schema.Json
  readonly snapshot: Snapshot
}

const nested = Schema.Struct({
  key: Schema.String,
  arguments: Schema.Json,
  snapshot: Schema.suspend((): Schema.Codec<Snapshot, unknown> => Snapshot)
})

/** A reply whose calls are not all settled. */
export interface Open extends Schema.Struct.Type<typeof openFields> {
  readonly nested?: ReadonlyArray<Nested>
}

const open = Schema.Struct({
  ...openFields,
  /** Of the calls that wait, those whose sub-agents do. */
  nested: Schema.optionalKey(Schema.Array(nested))
})

const fields = {
  /** 3 is what is written. 2 has no `id`, 1 has neither `standings` nor `warned` besides; both are still read. */
  version: Schema.Literals([1, 2, 3]),
  /** Which snapshot it is: it is resumed once. Absent in older versions, and in the snapshots of sub-agents. */
  id: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
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
  compacted: Schema.optionalKey(Schema.Struct({ head: Message.Transcript, from: Check.Count })),
  /** The place in the transcript of what the run was asked; absent in older ones, where that is the last user message. */
  asked: Schema.optionalKey(Check.Count),
  turn: Check.Count,
  spent: Schema.Struct({ turns: Check.Count, toolCalls: Check.Count, millis: Check.Amount }),
  /** As they are now: `onBudgetExceeded` may have extended them. */
  limits: Schema.Struct({
    maxTurns: Check.Limit,
    maxToolCalls: Check.Limit,
    maxTokens: Check.Limit,
    maxCost: Check.Limit,
    maxDuration: Check.Limit
  }),
  /** The limits that were told of as near; absent in version 1. */
  warned: Schema.optionalKey(Schema.Array(Schema.Literals(shared))),
  ledger: Schema.Array(Check.Entry),
  failures: Check.Failures,
  callsWhileOff: Check.Count,
  /** Answers that did not fit, and were asked for again. */
  outputsRejected: Check.Count,
  inARow: Schema.Struct({ tool: Schema.String, calls: Check.Count })
}

/** A suspended run, as data. It holds the whole conversation. */
export interface Snapshot extends Schema.Struct.Type<typeof fields> {
  readonly open?: Open
}

export const Snapshot = Schema.Struct({ ...fields, open: Schema.optionalKey(open) })

/** Whether a value is a `Snapshot`, by its shape. */
export const isSnapshot: (value: unknown) => value is Snapshot = Schema.is(Snapshot)

/** As it is kept in a file, a queue or a database of the server. What leaves the server is signed, see `sign`. */
export const toJson = (self: Snapshot): Schema.Json => encode(self)

/** For whom a document is; for no audience in particular by default. */
export interface SignOptions {
  readonly audience?: Signing.Audience
}

/**
 * The same document, signed by the `Signing` of the program. The signature is about all that the document holds and about the
 * audience. Without a signer, this is `toJson`.
 */
export const sign = (self: Snapshot, { audience }: SignOptions = {}): Effect.Effect<Schema.Json> =>
  Effect.suspend(() => {
    const snapshot = encode(self)
    return Effect.map(Signing.signatureOf("snapshot", snapshot, audience), (signature) =>
      signature === undefined ? snapshot : { signature, snapshot }
    )
  })

/** A document that was signed, and nothing besides. */
const Signed = Schema.Struct({ signature: Signature, snapshot: Schema.Json })

const decodeSigned = Schema.decodeUnknownEffect(Signed, { onExcessProperty: "error" })

/**
 * Reads a document, signed or not. Fails with a `SchemaError` that says where a document is none: numbers have to be such that a run
 * could have them, each request has to be about a call that is open, and its digest has to be that of what it says of the call.
 *
 * Where the program has a signer, a `SnapshotRefusedError` refuses a document without a signature (`unsigned`), one whose content
 * or audience is not what was signed (`bad-signature`), and one of an unknown key (`unknown-key`). The signature is verified before
 * anything of the document is decoded.
 */
export const fromJson = (
  document: unknown,
  { audience = {} }: SignOptions = {}
): Effect.Effect<Snapshot, Schema.SchemaError | SnapshotRefusedError> =>
  Effect.gen(function* () {
    if (isDeep(document)) return yield* Check.tooDeep
    const isSigned = Predicate.hasProperty(document, "signature")
    const { signature, snapshot: content } = isSigned
      ? yield* decodeSigned(document)
      : { signature: undefined, snapshot: document }
    const refusal = yield* Signing.refusalOf("snapshot", content, signature, audience)
    if (refusal !== undefined) return yield* refused(refusal, "The document")
    const snapshot = yield* decode(content)
    yield* Check.whole(snapshot)
    if (snapshot.version === 3 && snapshot.id === undefined) return yield* Check.withoutId
    if ((yield* Signing.Signing) === undefined) return snapshot
    // what was verified stays as it is
    freeze(snapshot)
    genuine.set(snapshot, audience)
    return snapshot
  })

const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(Snapshot), { errors: "all" })

// the JSON codec of any schema encodes to JSON
const encode = Schema.encodeUnknownSync(Schema.toCodecJson(Snapshot)) as (snapshot: Snapshot) => Schema.Json

/**
 * A decision with the signature of the program's `Signing`. Where there is a signer, `Agent.resume` takes no other: sign a decision
 * where you know who has decided. Without a signer, the decision is given back.
 */
export const signDecision = (
  { decision, digest }: Approval.Decided,
  { audience }: SignOptions = {}
): Effect.Effect<Approval.Decided> =>
  Effect.suspend(() => {
    const content = encodeDecided({ digest, decision })
    return Effect.map(Signing.signatureOf("decision", content, audience), (signature) =>
      signature === undefined ? content : { ...content, signature }
    )
  })

/** Fails where the signature of a decision is not what the signer of the program demands. `Agent.resume` does the same. */
export const verifyDecision = (
  decided: Approval.Decided,
  { audience }: SignOptions = {}
): Effect.Effect<Approval.Decided, SnapshotRefusedError> => {
  const { signature, ...content } = decided
  return Effect.flatMap(Signing.refusalOf("decision", content, signature, audience), (refusal) =>
    refusal === undefined ? Effect.succeed(decided) : refused(refusal, `The decision about '${decided.digest}'`)
  )
}

// a decision is JSON: its codec leaves out what it does not know
const encodeDecided = Schema.encodeUnknownSync(Schema.toCodecJson(Approval.Decided)) as (
  decided: Approval.Decided
) => Approval.Decided & Schema.JsonObject

/** What has to be decided before the run can go on; nothing where it waits for a larger budget. */
export const requestsOf = ({ open }: Snapshot): ReadonlyArray<Approval.Request> => open?.requests ?? []
