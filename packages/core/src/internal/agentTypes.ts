/** What the types of tools and tables leave of the failures and needs of an agent's calls. */
import type { LlmError } from "../LlmError.ts"
import type * as Recovery from "../Recovery.ts"
import type * as Tool from "../Tool.ts"
import type { DeserializationError, InvalidArgs, ToolExecutionError } from "../ToolError.ts"

/** The failures that still leave the calls of these tools, behind their own tables and those of the agent. */
export type CallError<T, ByTool, Defaults> = T extends Tool.AnyTool
  ? Tool.SideEffectsOf<T> extends "builtin"
    ? Tool.ErrorOf<T>
    : Through<
        Tool.ErrorOf<T> | InvalidArgs | DeserializationError,
        Tool.TableOf<T>,
        TableFor<ByTool, Tool.NameOf<T>>,
        Defaults
      >
  : never

/** What the calls of these tools need, the handlers in the agent's tables included. */
export type CallServices<T, ByTool, Defaults> =
  | (T extends Tool.AnyTool
      ? Tool.ServicesOf<T> | Recovery.ServicesOf<RowsOf<TableFor<ByTool, Tool.NameOf<T>>>>
      : never)
  | ([T] extends [never] ? never : Recovery.ServicesOf<RowsOf<Defaults>>)

type RowsOf<Table> = Table[keyof Table]

type TableFor<ByTool, Name> = Name extends keyof ByTool ? ByTool[Name] : {}

/** The first level that has a row for an error settles it. */
type Through<E, First, Second, Third> = E extends unknown
  ? [RowFor<E, First>] extends [never]
    ? [RowFor<E, Second>] extends [never]
      ? [RowFor<E, Third>] extends [never]
        ? E
        : Settled<E, RowFor<E, Third>>
      : Settled<E, RowFor<E, Second>>
    : Settled<E, RowFor<E, First>>
  : never

/** Exact tag, then what stands for it, then `orElse`. */
type RowFor<E, Table> = E extends { readonly _tag: infer Tag extends keyof Table }
  ? Table[Tag]
  : StandIn<E> extends keyof Table
    ? Table[StandIn<E>]
    : "orElse" extends keyof Table
      ? Table["orElse"]
      : never

type StandIn<E> = E extends InvalidArgs | DeserializationError ? "InvalidArgs" : "ExecutionError"

/** What a verdict of a tool leaves of the failure. */
type Settled<E, V> =
  | Recovery.ErrorOf<V>
  | (Extract<Recovery.EndOf<V>, "exhausted" | "raise"> extends never ? never : ToolExecutionError)
  | (Extract<Recovery.EndOf<V>, "rethrow"> extends never ? never : E)

/** What a table for model calls leaves of an agent's own failures. */
export type ModelResidue<E, Table> = E extends LlmError ? Recovery.Residue<E, Table> : E

/** The answer that fits every one of these tools. */
export type CommonAnswer<T> = (T extends Tool.AnyTool ? (answer: Tool.SuccessOf<T>) => void : never) extends (
  answer: infer A
) => void
  ? A
  : never
