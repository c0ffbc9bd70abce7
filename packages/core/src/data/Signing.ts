/**
 * Signatures of documents that leave the server, snapshots and decisions: which key made them, and for whom. Core states what a signer
 * does; `SnapshotKeys` of `@kintsugi/durable` is one. Without a signer nothing is signed, and nothing is refused for that.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { canonical } from "./Digest.ts"
import type { Signature } from "./Signature.ts"

/** For whom a document is: a tenant, a user. A document that was signed for one audience is refused for every other. */
export type Audience = Readonly<Record<string, string>>

/** What is wrong with a signature. */
export type Refusal = "unsigned" | "bad-signature" | "unknown-key"

/** Signs texts, and verifies what it has signed. */
export interface Signer {
  readonly sign: (text: string) => Effect.Effect<Signature>
  readonly verify: (
    text: string,
    signature: Signature
  ) => Effect.Effect<"valid" | Extract<Refusal, "bad-signature" | "unknown-key">>
  /** Until then a document without a signature is read too, in milliseconds since the epoch; by default none is. */
  readonly acceptUnsignedUntil?: number
}

/** The signer of this program; none by default. */
export const Signing = Context.Reference<Signer | undefined>("@kintsugi/core/Snapshot/Signing", {
  defaultValue: () => undefined
})

/** What is signed. The signature of one kind of document counts for no other. */
type Subject = "snapshot" | "decision"

/** The signature of a document; nothing without a signer. */
export const signatureOf = (
  subject: Subject,
  document: Schema.Json,
  audience: Audience = {}
): Effect.Effect<Signature | undefined> =>
  Effect.flatMap(Signing, (signing) =>
    signing === undefined ? Effect.undefined : signing.sign(statementOf(subject, document, audience))
  )

/** Why a document is not taken; nothing where it may be. */
export const refusalOf = (
  subject: Subject,
  document: unknown,
  signature: Signature | undefined,
  audience: Audience = {}
): Effect.Effect<Refusal | undefined> =>
  Effect.gen(function* () {
    const signing = yield* Signing
    if (signature === undefined) {
      if (signing === undefined) return undefined
      return (yield* Clock.currentTimeMillis) < (signing.acceptUnsignedUntil ?? -Infinity) ? undefined : "unsigned"
    }
    if (signing === undefined) return "unknown-key"
    // what is no JSON may look like other JSON once it is written down
    if (!isJson(document)) return "bad-signature"
    const verdict = yield* signing.verify(statementOf(subject, document, audience), signature)
    return verdict === "valid" ? undefined : verdict
  })

const isJson = Schema.is(Schema.Json)

const statementOf = (subject: Subject, document: Schema.Json, audience: Audience): string =>
  canonical({ signed: `@kintsugi/core/${subject}/1`, audience, document })
