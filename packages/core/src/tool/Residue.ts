/** What the options of a tool leave in its failures and needs. */
import type * as Schema from "effect/Schema"
import type { OutcomeUnknownError, ToolTimeoutError } from "../errors/ToolError.ts"
import type { NoVerify } from "./definition.ts"

/** What a tool with a time limit may fail with besides its own failures. */
export type TimeoutOf<S, T, VR> = [T] extends [undefined]
  ? never
  : S extends "unsafe"
    ? [NoVerify] extends [VR]
      ? OutcomeUnknownError
      : ToolTimeoutError
    : ToolTimeoutError

/** What looking up needs. */
export type ServicesOfVerify<VR> = [NoVerify] extends [VR] ? never : VR

/** A schema of failures has to know all of them. */
export type Covers<E, F> =
  F extends Schema.Codec<infer Known, unknown>
    ? [E] extends [Known]
      ? unknown
      : { readonly failure: FailuresThatTheSchemaDoesNotKnow<Exclude<E, Known>> }
    : unknown

interface FailuresThatTheSchemaDoesNotKnow<E> {
  readonly unknown: E
}
