/** The types of the table of a tool. */
import type * as Types from "effect/Types"
import type { DeserializationError, ExecutionError, InvalidArgs } from "../errors/ToolError.ts"
import type { RowOf, AnyRowOf } from "../recovery/TableTypes.ts"

/**
 * The keys that a table for a tool with failures `E` may have.
 *
 * @hidden
 */
export type RowKeys<E> =
  | "InvalidArgs"
  | "DeserializationError"
  | "ExecutionError"
  | "orElse"
  | (E extends { readonly _tag: infer Tag extends string } ? Tag : never)

/**
 * All failures of one call before recovery.
 *
 * @hidden
 */
export type CallError<E> = InvalidArgs | DeserializationError | E

/** The error type that the functions of a row get: all failures that can reach the row. */
export type RowInput<E, K> = K extends "orElse"
  ? CallError<E>
  : K extends "ExecutionError"
    ? ExecutionError
    : K extends "InvalidArgs"
      ? InvalidArgs | DeserializationError
      : Types.ExtractTag<CallError<E>, K & string>

/**
 * What a row may do. It may not repeat a failed run of an `unsafe` tool without acknowledgement. Rows for invalid arguments and for a
 * `ToolTimeoutError` may repeat: with the former the tool never ran, with the latter a lookup found that it took no effect.
 */
export type Admits<S, K> =
  | "repairs"
  | "consults"
  | (K extends "InvalidArgs" | "DeserializationError" | "ToolTimeoutError"
      ? "repeats"
      : "unsafe" extends S
        ? never
        : "repeats")

/** Stands for the failures of a tool whose `run` the compiler has not read yet. */
export interface Later {
  readonly Later: never
}

/** How a row of a tool may end. */
export type ToolEnd = "exhausted" | "told" | "rethrow" | "raise" | "backstop"

/** Constrains the rows of a table for a tool that fails with `E` and gives `A`. */
export type AnyRows<E, A> = { readonly [K in RowKeys<E>]?: AnyRowOf<RowInput<E, K>, A> }

/**
 * A table for a tool that fails with `E`, gives `A` and has side effects `S`.
 *
 * @hidden
 */
export type Rows<E, A, S> = {
  readonly [K in RowKeys<E>]?: RowOf<RowInput<E, K>, A, ToolEnd, Admits<S, K>>
}
