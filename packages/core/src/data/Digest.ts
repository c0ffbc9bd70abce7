/** Identifies a JSON value by its content: whatever stands in it, in whatever order its fields do. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Approval from "./Approval.ts"

/** As much of Node's `process` as is asked for. Bun and Deno have it too, browsers do not. */
interface Platform {
  readonly process?: {
    readonly getBuiltinModule?: (name: "node:crypto") =>
      | {
          readonly createHash: (algorithm: "sha256") => {
            readonly update: (text: string) => { readonly digest: (encoding: "hex") => string }
          }
        }
      | undefined
  }
}

/**
 * SHA-256 of the canonical JSON, in hexadecimal: made at once where the platform can, so that a virtual clock has nothing to wait
 * for. A browser makes it on another thread.
 */
const sha256 = (value: Schema.Json): Effect.Effect<string> =>
  Effect.suspend(() => {
    const text = canonical(value)
    // what is not there is undefined
    const platform = globalThis as Platform
    const atOnce = platform.process?.getBuiltinModule?.("node:crypto")
    if (atOnce !== undefined) return Effect.succeed(atOnce.createHash("sha256").update(text).digest("hex"))
    return Effect.map(
      Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
      (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
    )
  })

/** How digests are made. Replaced where no real time may go by on any platform. */
export const Digest = Context.Reference("@kintsugi/core/Approval/Digest", { defaultValue: () => sha256 })

/** The digest of a JSON value. */
export const digestOf = (value: Schema.Json): Effect.Effect<string> => Effect.flatMap(Digest, (digest) => digest(value))

type Request = Omit<Approval.Request, "agent" | "reason" | "digest">

/**
 * The digest of a request about a call: whatever it names, what the model wrote, and until when a decision counts. It holds for
 * no other request, not even for the next one about the same call.
 */
export const digestOfRequest = (
  { arguments: args, callId, expiresAt, key, runId, schema = "", tool }: Request,
  written: Schema.Json
): Effect.Effect<string> => digestOf({ runId, key, callId, tool, arguments: args, schema, expiresAt, written })

/** JSON with the fields of each object in the order of their names. */
export const canonical = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!Predicate.isObject(value)) return JSON.stringify(value)
  // an object of JSON holds JSON
  const fields = Object.entries(value as Readonly<Record<string, Schema.Json>>).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`
}
