/**
 * A run that waits, as one JSON document: what was said, what is settled, what it has spent, and what it waits for. It goes on from
 * there, in another process if need be, and no call that is settled runs again.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Budget from "../budget/Budget.ts"
import { shared } from "../budget/Meter.ts"
import * as Approval from "../data/Approval.ts"
import { digestOfRequest } from "../data/Digest.ts"
import { freeze, isDeep } from "../data/Foreign.ts"
import { genuine } from "./Genuine.ts"
import * as Message from "../data/Message.ts"
import { Signature } from "../data/Signature.ts"
import * as Signing from "../data/Signing.ts"
import { refused } from "./Refused.ts"
import { keyOf, Snapshot } from "./Checkpoint.ts"
import type { SnapshotRefusedError } from "../errors/DoorError.ts"

export { type CallCheckpoint, type UnfinishedReply as OpenReply, CallProgress, Snapshot } from "./Checkpoint.ts"
export { type Claim, Claims, claimsOfProcess } from "./claims.ts"
export { Signature } from "../data/Signature.ts"
export { type Audience, type Refusal, type Signer, Signing } from "../data/Signing.ts"

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
    if (isDeep(document)) return yield* tooDeep
    const isSigned = Predicate.hasProperty(document, "signature")
    const { signature, snapshot: content } = isSigned
      ? yield* decodeSigned(document)
      : { signature: undefined, snapshot: document }
    const refusal = yield* Signing.refusalOf("snapshot", content, signature, audience)
    if (refusal !== undefined) return yield* refused(refusal, "The document")
    const snapshot = yield* decode(content)
    yield* whole(snapshot)
    if (snapshot.id === undefined) return yield* withoutId
    if ((yield* Signing.Signing) === undefined) return snapshot
    // what was verified stays as it is
    freeze(snapshot)
    genuine.set(snapshot, audience)
    return snapshot
  })

type Path = ReadonlyArray<PropertyKey>

/**
 * Fails where a document does not fit together, so that nothing in it takes a bound away: its limits are such as budgets have, each call
 * has its place, and each request is what was shown about its call.
 */
const whole = (self: Snapshot, path: Path = []): Effect.Effect<void, Schema.SchemaError> => {
  const { limits, unfinished, runId, turn } = self
  const odd = shared.find((name) => !Budget.isLimit(name, limits[name]))
  if (odd !== undefined) return misfit([...path, "limits", odd], "Expected a limit that a budget takes")
  if (unfinished === undefined) return Effect.void
  const calls = Message.callsOf(unfinished.reply)
  if (calls.length === 0) return misfit([...path, "unfinished", "reply"], "Expected a reply with calls")
  if (unfinished.calls.length !== calls.length)
    return misfit([...path, "unfinished", "calls"], `Expected ${calls.length} of them`)
  return Effect.gen(function* () {
    for (const [index, call] of calls.entries()) {
      const found = unfinished.calls[index]
      const at = [...path, "unfinished", "calls", index]
      if (found?.type === "agent") yield* whole(found.snapshot, [...at, "snapshot"])
      if (found?.type !== "decision") continue
      if (yield* isIntact(found.request, { runId, key: keyOf(runId, turn, index), call })) continue
      return yield* misfit([...at, "request"], "Expected a request as it was shown, about the call as it was made")
    }
  })
}

/** Whether a request says of its call what was shown when its digest was made. */
const isIntact = (
  request: Approval.ApprovalRequest,
  { call, key, runId }: { readonly runId: string; readonly key: string; readonly call: Message.ToolCall }
): Effect.Effect<boolean> =>
  request.runId !== runId || request.key !== key || request.callId !== call.id || request.tool !== call.name
    ? Effect.succeed(false)
    : Effect.map(digestOfRequest(request, call.arguments), (digest) => digest === request.digest)

const misfit = (path: Path, message: string): Effect.Effect<never, Schema.SchemaError> =>
  Effect.fail(new Schema.SchemaError(new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message }))))

const tooDeep = misfit([], "Expected a document that is not nested so deeply")

const withoutId = misfit(["id"], "Expected an id")

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
export const requestsOf = ({ unfinished }: Snapshot): ReadonlyArray<Approval.ApprovalRequest> =>
  (unfinished?.calls ?? []).flatMap((call) =>
    call.type === "decision" ? [call.request] : call.type === "agent" ? requestsOf(call.snapshot) : []
  )
