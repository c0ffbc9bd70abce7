/**
 * Signatures of documents that leave the server: of snapshots and decisions. Core defines what a signer does; `SnapshotKeys` of
 * `@kintsugi/durable` is one. Without a signer, documents get no signature and need none.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { canonical } from "./Digest.ts"
import type { Signature } from "./Signature.ts"

/** The audience of a document, such as a tenant or a user. A document for one audience is refused for every other. */
export type Audience = Readonly<Record<string, string>>

/** Why a signature is refused. */
export type Refusal = "unsigned" | "bad-signature" | "unknown-key"

/**
 * Signs texts, and verifies its signatures.
 *
 * @hidden
 */
export interface Signer {
  readonly sign: (text: string) => Effect.Effect<Signature>
  readonly verify: (
    text: string,
    signature: Signature
  ) => Effect.Effect<"valid" | Extract<Refusal, "bad-signature" | "unknown-key">>
  /** Until this time, in milliseconds since the epoch, documents without a signature are read too. By default, they are refused. */
  readonly acceptUnsignedUntil?: number
}

/** The signer of this program; `undefined` by default. */
export const Signing = Context.Reference<Signer | undefined>("@kintsugi/core/Snapshot/Signing", {
  defaultValue: () => undefined
})

/** The kind of a signed document. A signature is valid for one kind only. */
type Subject = "snapshot" | "decision" | "token"

/** The signature of a document; `undefined` without a signer. */
export const signatureOf = (
  subject: Subject,
  document: Schema.Json,
  audience: Audience = {}
): Effect.Effect<Signature | undefined> =>
  Effect.flatMap(Signing, (signing) =>
    signing === undefined ? Effect.undefined : signing.sign(statementOf(subject, document, audience))
  )

/** Why a document is refused; `undefined` if it is accepted. */
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
    // a value that is no JSON may be written as the JSON of another value
    if (!isJson(document)) return "bad-signature"
    const verdict = yield* signing.verify(statementOf(subject, document, audience), signature)
    return verdict === "valid" ? undefined : verdict
  })

const isJson = Schema.is(Schema.Json)

const statementOf = (subject: Subject, document: Schema.Json, audience: Audience): string =>
  canonical({ signed: `@kintsugi/core/${subject}/1`, audience, document })
