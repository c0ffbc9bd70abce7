/**
 * Tokens of deferred calls. A token names one attempt of one call: a settlement with this token is for that attempt, and for no other one of
 * any run.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
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
  /** A random part that differs in each attempt. */
  readonly draw: string
  /** Where its settlement is stored: the id of a durable run. Empty in memory. */
  readonly store: string
}

/** The parts of a token. */
export interface Parts {
  readonly tool: string
  readonly definition: string
  readonly draw: string
  readonly store: string
  readonly digest: string
}

/** 128 bits. */
const length = 32

/** The digest of what identifies a definition: its name, and the schema of its parameters. */
export const definitionOf = (name: string, parameters: Schema.Json): Effect.Effect<string> =>
  Effect.map(digestOf([name, parameters]), (digest) => digest.slice(0, length))

const digestOfBound = ({ definition, draw, key, store, runId, tool }: Bound): Effect.Effect<string> =>
  Effect.map(digestOf({ runId, key, tool, definition, draw, store }), (digest) => digest.slice(0, length))

/** A token, signed if the program has a signer. */
export const make = (bound: Bound): Effect.Effect<string> =>
  Effect.gen(function* () {
    const { definition, draw, store, tool } = bound
    const content = joined([tool, definition, draw, store, yield* digestOfBound(bound)])
    const signature = yield* Signing.signatureOf("token", content)
    return signature === undefined ? content : joined([content, signature.key, signature.mac])
  })

/** Joins the parts of a token. The first part may already be several joined parts. */
// Mutant `"Stryker was here!"` survives: all callers give a first part, which the type does not say
const joined = ([first = "", ...others]: ReadonlyArray<string>): string =>
  [first, ...others.map((part) => encodeURIComponent(part.toWellFormed()).replaceAll(".", "%2E"))].join(".")

const many = 5

type Split = readonly [string, string, string, string, string, ...ReadonlyArray<string>]

/** `undefined` for a text that is no token. */
const split = (token: string): Split | undefined => {
  const parts = token.split(".")
  if (parts.length !== many && parts.length !== many + 2) return undefined
  // there are as many parts
  const read = Result.try(() => parts.map(decodeURIComponent) as unknown as Split)
  return Result.getOrUndefined(read)
}

/** The parts of a token; `undefined` for a text that is none. */
export const partsOf = (token: string): Parts | undefined => {
  const read = split(token)
  if (read === undefined) return undefined
  const [tool, definition, draw, store, digest] = read
  return { tool, definition, draw, store, digest }
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
    // Mutant `["Stryker was here"]` survives: a key without its code is no signature
    const [key, mac] = split(token)?.slice(many) ?? []
    // Mutant `false` for `key === undefined` survives: a token has both or neither
    const signature = key === undefined || mac === undefined ? undefined : { key, mac }
    const content = token.split(".").slice(0, many).join(".")
    return Effect.map(Signing.refusalOf("token", content, signature), (refusal) => refusal === undefined)
  })
