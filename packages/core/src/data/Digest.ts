/** Identifies a JSON value by its content; the order of its fields does not count. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Approval from "./Approval.ts"

interface Crypto {
  readonly hash?: (algorithm: "sha256", text: string, encoding: "hex") => string
}

/** The part of Node's `process` that this module uses. Bun and Deno have it too, browsers do not. */
interface Platform {
  readonly process?: { readonly getBuiltinModule?: (name: "node:crypto") => Crypto | undefined }
}

/**
 * SHA-256 of the canonical JSON, in hexadecimal. Node, Bun and Deno compute it synchronously, so a test on a virtual clock need not wait. A
 * browser computes it on another thread.
 */
const sha256 = (value: Schema.Json): Effect.Effect<string> => {
  const text = canonical(value)
  // a missing field is undefined
  const platform = globalThis as Platform
  const atOnce = platform.process?.getBuiltinModule?.("node:crypto")?.hash
  if (atOnce !== undefined) return Effect.succeed(atOnce("sha256", text, "hex"))
  return Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  )
}

/** The digest function. Tests replace it if no real time may pass on any platform. */
export const Digest = Context.Reference("@kintsugi/core/Approval/Digest", { defaultValue: () => sha256 })

/** The digest of a JSON value. The order of keys does not count. */
export const digestOf = (value: Schema.Json): Effect.Effect<string> => withDigest(value, Effect.succeed)

/** Continues with the digest of a JSON value, at once where the platform computes it at once. */
export const withDigest = <A, E>(
  value: Schema.Json,
  next: (digest: string) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.withFiber((fiber) => Effect.flatMapEager(fiber.getRef(Digest)(value), next))

type Request = Pick<
  Approval.ApprovalRequest,
  "runId" | "key" | "callId" | "tool" | "arguments" | "schema" | "expiresAt" | "failed" | "change"
>

/**
 * The digest of a request for approval: of its fields, the model's call, and its expiry. Every request has another digest, also a second
 * request about the same call.
 */
export const digestOfRequest = (
  { arguments: args, callId, change, expiresAt, failed, key, runId, schema, tool }: Request,
  written: Schema.Json
): Effect.Effect<string> =>
  digestOf({
    runId,
    key,
    callId,
    tool,
    arguments: args,
    schema,
    expiresAt,
    written,
    ...(change === undefined ? {} : { change: { ...change } }),
    ...(failed === undefined ? {} : { failed })
  })

/** A list or an object that is being written. */
interface Level {
  readonly of: Readonly<Record<string | number, unknown>>
  /** The names of an object's fields in their order; `undefined` for a list. */
  readonly names: ReadonlyArray<string> | undefined
  readonly length: number
  written: number
  /** The list or object that holds it. */
  readonly around: Level | undefined
}

/** JSON with the fields of each object in the order of their names. Does not recurse: decisions and edits are as deep as their sender likes. */
export const canonical = (value: Schema.Json): string => {
  let level: Level | undefined
  let text = ""
  const write = (one: unknown): void => {
    if (!Predicate.isObjectOrArray(one)) {
      text += JSON.stringify(one)
      return
    }
    const names = Array.isArray(one) ? undefined : ordered(Object.keys(one))
    text += names === undefined ? "[" : "{"
    const { length } = names ?? (one as ReadonlyArray<unknown>)
    // a list has indices for names
    level = { of: one as Level["of"], names, length, written: 0, around: level }
  }
  write(value)
  while (level !== undefined) {
    const { around, length, names, of, written }: Level = level
    if (written === length) {
      text += names === undefined ? "]" : "}"
      level = around
      continue
    }
    level.written++
    const name = names?.[written] ?? written
    if (written > 0) text += ","
    if (names !== undefined) text += `${JSON.stringify(name)}:`
    write(of[name])
  }
  return text
}

/** Sorts names. Most are in order, and sorting them would allocate more than all else here. */
const ordered = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  // Mutant `undefined` survives: speed only. Names in order are sorted once more
  names.every((name, at) => (names[at - 1] ?? "") <= name) ? names : names.toSorted()
