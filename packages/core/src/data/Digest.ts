/** Identifies a JSON value by its content; the order of its fields does not count. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Approval from "./Approval.ts"

interface Hash {
  readonly update: (text: string) => Hash
  readonly digest: (encoding: "hex") => string
}

interface Crypto {
  readonly createHash: (algorithm: "sha256") => Hash
}

/** The part of Node's `process` that this module uses. Bun and Deno have it too, browsers do not. */
interface Platform {
  readonly process?: { readonly getBuiltinModule?: (name: "node:crypto") => Crypto | undefined }
}

/**
 * SHA-256 of the canonical JSON, in hexadecimal. Node, Bun and Deno compute it synchronously, so a test on a virtual clock need not wait. A
 * browser computes it on another thread.
 */
const sha256 = (value: Schema.Json): Effect.Effect<string> =>
  Effect.suspend(() => {
    const text = canonical(value)
    // a missing field is undefined
    const platform = globalThis as Platform
    const atOnce = platform.process?.getBuiltinModule?.("node:crypto")
    if (atOnce !== undefined) return Effect.succeed(atOnce.createHash("sha256").update(text).digest("hex"))
    return Effect.map(
      Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
      (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
    )
  })

/** The digest function. Tests replace it if no real time may pass on any platform. */
export const Digest = Context.Reference("@kintsugi/core/Approval/Digest", { defaultValue: () => sha256 })

/** The digest of a JSON value. The order of keys does not count. */
export const digestOf = (value: Schema.Json): Effect.Effect<string> => Effect.flatMap(Digest, (digest) => digest(value))

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

/** JSON with the fields of each object in the order of their names. Does not recurse: decisions and edits are as deep as their sender likes. */
export const canonical = (value: Schema.Json): string => {
  let text = ""
  /** A stack of texts and values to write; the next one is the last item. */
  const stack: Array<string | { readonly value: unknown }> = [{ value }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (Predicate.isString(next)) text += next
    else if (Predicate.isObjectOrArray(next.value)) {
      const isList = Array.isArray(next.value)
      const fields = Object.entries(next.value)
      if (!isList) fields.sort(([a], [b]) => (a < b ? -1 : 1))
      text += isList ? "[" : "{"
      stack.push(isList ? "]" : "}")
      const { length } = fields
      fields.toReversed().forEach(([key, field], fromLast) => {
        const comma = fromLast < length - 1 ? "," : ""
        stack.push({ value: field }, isList ? comma : `${comma}${JSON.stringify(key)}:`)
      })
    } else text += JSON.stringify(next.value)
  }
  return text
}
