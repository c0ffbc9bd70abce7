/** The options that the tools of all kinds of APIs share. */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import type * as Duration from "effect/Duration"

/** How long results may be, and how long they may take. */
export interface Lengths {
  /**
   * How long a whole answer may take; 60 seconds by default. After that the request is stopped, and the call fails with an `ExecutionError`
   * whose cause is an `ApiError`.
   */
  readonly timeout?: Duration.Input
  /** The longest answer, in bytes; 1 MiB by default. A longer one fails with an `ExecutionError`. */
  readonly maxResponseBytes?: number
  /** The longest text of a result that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** When a long result is put aside, as `Tool.putAside` says. It excludes `maxResultChars`. */
  readonly putAside?: ReturnType<typeof Tool.putAside>
}

/** Passes on the options about the length of a result. If both are given, `Tool.make` refuses one. */
export const lengthOf = ({ maxResultChars, putAside }: Lengths) =>
  // cast: the type of `Tool.make` has only one of these options
  ({
    ...(maxResultChars === undefined ? {} : { maxResultChars }),
    ...(putAside === undefined ? {} : { putAside })
  }) as { readonly maxResultChars?: number }

/** The side effects of a request, by its method as HTTP defines them. */
export type EffectOf<Method> = Method extends "GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE"
  ? "none"
  : Method extends "PUT" | "DELETE"
    ? "idempotent"
    : "unsafe"

/** The side effects of a request by its method: reading has none, `PUT` and `DELETE` may be repeated, all others may not. */
export const effectOf = (method: string): Exclude<Recovery.SideEffects, "undeclared"> =>
  safe.has(method) ? "none" : repeatable.has(method) ? "idempotent" : "unsafe"

const safe: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"])

const repeatable: ReadonlySet<string> = new Set(["PUT", "DELETE"])
