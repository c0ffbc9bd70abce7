/**
 * A suspended run as one JSON document. It has the transcript, the settlements, the ledger and the requests for approval. The run resumes
 * from the document, in another process too, and no call with a settlement runs again.
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
import { endsAs } from "../coercion/Spelling.ts"
import { madeFrom } from "../coercion/Unwrapped.ts"
import { genuine } from "./Genuine.ts"
import * as Message from "../data/Message.ts"
import { Signature } from "../data/Signature.ts"
import * as Signing from "../data/Signing.ts"
import { refused } from "./Refused.ts"
import * as Token from "../data/Token.ts"
import { Snapshot } from "./Checkpoint.ts"
import type { SnapshotRefusedError } from "../errors/DoorError.ts"

export { Snapshot } from "./Checkpoint.ts"
export { Claims, claimsOfProcess } from "./claims.ts"
export { type Signer, Signing } from "../data/Signing.ts"
export { Waiting } from "./waiting.ts"
export { waitingOf } from "./stored.ts"

/**
 * Whether a value is a `Snapshot`, by its shape.
 *
 * @internal
 */
export const isSnapshot: (value: unknown) => value is Snapshot = Schema.is(Snapshot)

/** The JSON of a snapshot, for a store of the server. A document that leaves the server needs a signature, see `sign`. */
export const toJson = (self: Snapshot): Schema.Json => encode(self)

/** Options of a signature, and of its verification. */
type SignOptions = {
  /** The audience of the document, such as a tenant or a user. A document for one audience is refused for every other. Empty by default. */
  readonly audience?: Signing.Audience
}

/**
 * The signed JSON of a snapshot, by the program's `Signing`. The signature covers the whole document and the audience. Without a signer,
 * this is `toJson`.
 */
export const sign = (self: Snapshot, { audience }: SignOptions = {}): Effect.Effect<Schema.Json> =>
  Effect.suspend(() => {
    const snapshot = encode(self)
    return Effect.map(Signing.signatureOf("snapshot", snapshot, audience), (signature) =>
      signature === undefined ? snapshot : { signature, snapshot }
    )
  })

/** A signed document, without other fields. */
const Signed = Schema.Struct({ signature: Signature, snapshot: Schema.Json })

const decodeSigned = Schema.decodeUnknownEffect(Signed, { onExcessProperty: "error" })

/**
 * Reads a document, signed or not. Fails with a `SchemaError` that names the place where the document is wrong: a run must be able to have
 * its numbers, each request must be about a call that waits, and its digest must be that of the call and the request.
 *
 * If the program has a signer, a `SnapshotRefusedError` refuses a document without a signature (`unsigned`), with another content or
 * audience than the signed one (`bad-signature`), or with an unknown key (`unknown-key`). The signature is verified before any part of the
 * document is decoded.
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
    // a verified document must not change
    freeze(snapshot)
    // requests are instances of a class, which `freeze` leaves alone
    for (const request of requestsOf(snapshot)) {
      freeze({ ...request })
      Object.freeze(request)
    }
    genuine.set(snapshot, audience)
    return snapshot
  })

type Path = ReadonlyArray<PropertyKey>

/**
 * Fails at the place where a document contradicts itself, so that no document removes a bound: its limits are those that a budget admits,
 * each call of the reply has an entry, and each request is the one that was shown about its call.
 */
const whole = (self: Snapshot, path: Path = []): Effect.Effect<void, Schema.SchemaError> =>
  Effect.andThen(bound(self, path), wholeReply(self, path))

/** The token of each deferred call whose result is to come is one of this run. */
const bound = ({ late = [], runId }: Snapshot, path: Path): Effect.Effect<void, Schema.SchemaError> =>
  Effect.forEach(
    late,
    ({ key, token, tool }, index) =>
      Effect.flatMap(Token.isBound(token, { runId, key }), (isBound) =>
        isBound && Token.partsOf(token)?.tool === tool
          ? Effect.void
          : misfit([...path, "late", index, "token"], "Expected the token of this call")
      ),
    { discard: true }
  )

const wholeReply = (self: Snapshot, path: Path): Effect.Effect<void, Schema.SchemaError> => {
  const { limits, unfinished, runId } = self
  const odd = shared.find((name) => !Budget.isLimit(name, limits[name]))
  if (odd !== undefined) return misfit([...path, "limits", odd], "Expected a limit that a budget takes")
  if (unfinished === undefined) return Effect.void
  const calls = Message.callsOf(unfinished.reply)
  if (calls.length === 0) return misfit([...path, "unfinished", "reply"], "Expected a reply with calls")
  if (unfinished.calls.length !== calls.length)
    return misfit([...path, "unfinished", "calls"], `Expected ${calls.length} of them`)
  if (unfinished.keys.length !== calls.length)
    return misfit([...path, "unfinished", "keys"], `Expected ${calls.length} of them`)
  return Effect.gen(function* () {
    for (const [index, call] of calls.entries()) {
      const found = unfinished.calls[index]
      const at = [...path, "unfinished", "calls", index]
      if (found?.type === "agent") yield* whole(found.snapshot, [...at, "snapshot"])
      if (
        found?.type === "deferred" &&
        !(yield* Token.isBound(found.token, { runId, key: unfinished.keys[index] ?? "" }))
      )
        return yield* misfit([...at, "token"], "Expected the token of this call")
      if (found?.type !== "decision") continue
      const of = { runId, key: unfinished.keys[index] ?? "" }
      let isShown = false
      for (const made of madeFrom(call)) isShown ||= yield* isIntact(found.request, { ...of, call: made })
      if (isShown) continue
      return yield* misfit([...at, "request"], "Expected a request as it was shown, about the call as it was made")
    }
  })
}

/** Whether a request is the one that its digest was made of. Its tool has the name that the model wrote, or may have misspelt. */
const isIntact = (
  request: Approval.ApprovalRequest,
  { call, key, runId }: { readonly runId: string; readonly key: string; readonly call: Message.ToolCall }
): Effect.Effect<boolean> =>
  request.runId !== runId || request.key !== key || request.callId !== call.id || !endsAs(call.name, request.tool)
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
 * Signs a decision with the signer of the program. `Agent.resume` then takes only signed decisions. Call it where the program knows which
 * person has decided. Without a signer, the result has no signature.
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

/** Verifies the signature of a decision, and returns the decision. The signer of the program verifies it, as `Agent.resume` does. */
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

/** The requests that wait for a decision. They are those of the run and its sub-agents. Empty if the run waits for a larger budget. */
export const requestsOf = ({ unfinished }: Snapshot): ReadonlyArray<Approval.ApprovalRequest> =>
  (unfinished?.calls ?? []).flatMap((call) =>
    call.type === "decision" ? [call.request] : call.type === "agent" ? requestsOf(call.snapshot) : []
  )
