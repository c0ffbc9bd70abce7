/**
 * Tokens of deferred calls. A token names one attempt of one call: a settlement with this token is for that attempt, and for no other one of
 * any run.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { digestOf } from "./Digest.ts"
import * as Signing from "./Signing.ts"

/** What a token is bound to. */
export interface Bound {
  readonly runId: string
  /** The idempotency key of the call. */
  readonly key: string
  readonly tool: string
  /** The digest of the definition of the tool, see `definitionOf`. */
  readonly definition: string
  /** Drawn anew for each attempt. */
  readonly draw: string
}

/** The parts of a token. */
export interface Parts {
  readonly tool: string
  readonly definition: string
  readonly draw: string
  readonly digest: string
}

/** 128 bits. */
const length = 32

/** The digest of what identifies a definition: its name, and the schema of its parameters. */
export const definitionOf = (name: string, parameters: Schema.Json): Effect.Effect<string> =>
  Effect.map(digestOf([name, parameters]), (digest) => digest.slice(0, length))

const digestOfBound = ({ definition, draw, key, runId, tool }: Bound): Effect.Effect<string> =>
  Effect.map(digestOf({ runId, key, tool, definition, draw }), (digest) => digest.slice(0, length))

/** A token, signed if the program has a signer. No part of it has a dot: names of tools have none. */
export const make = (bound: Bound): Effect.Effect<string> =>
  Effect.gen(function* () {
    const { definition, draw, tool } = bound
    const content = [tool, definition, draw, yield* digestOfBound(bound)].join(".")
    const signature = yield* Signing.signatureOf("token", content)
    return signature === undefined ? content : `${content}.${encodeURIComponent(signature.key)}.${signature.mac}`
  })

/** The parts of a token; `undefined` for a text that is none. */
export const partsOf = (token: string): Parts | undefined => {
  const [tool, definition, draw, digest, ...signature] = token.split(".")
  if (tool === undefined || definition === undefined || draw === undefined || digest === undefined) return undefined
  return signature.length === 0 || signature.length === 2 ? { tool, definition, draw, digest } : undefined
}

/** Whether a token is one of this call. */
export const isBound = (token: string, { key, runId }: Pick<Bound, "key" | "runId">): Effect.Effect<boolean> => {
  const parts = partsOf(token)
  if (parts === undefined) return Effect.succeed(false)
  return Effect.map(digestOfBound({ ...parts, key, runId }), (digest) => digest === parts.digest)
}

/** Whether the signer of the program accepts the signature of a token. Without a signer, tokens have none. */
export const isGenuine = (token: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const parts = token.split(".")
    const [key, mac] = parts.slice(4)
    const signature = key === undefined || mac === undefined ? undefined : { key: decoded(key), mac }
    return Effect.map(
      Signing.refusalOf("token", parts.slice(0, 4).join("."), signature),
      (refusal) => refusal === undefined
    )
  })

/** A key that was not encoded is no key of a signer. */
const decoded = (key: string): string => {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
