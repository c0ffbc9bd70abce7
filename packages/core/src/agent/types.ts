/** What the types of tools and tables leave of the failures and needs of an agent's calls. */
import type { Approver } from "../data/Approval.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Model from "../model/Model.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { Wide } from "../run/Routing.ts"
import type { CallTimeout, GivesUp, TableOf } from "../tool/ToolTypes.ts"
import type * as Tool from "../tool/Tool.ts"
import type { DeserializationError, InvalidArgs, ToolExecutionError } from "../errors/ToolError.ts"
import type { ActsOf, EndOf, ServicesOf, ErrorOf, RowsOf, Row, Residue } from "../recovery/TableTypes.ts"

/** The failures that leave the calls of these tools, after their own tables and those of the agent. */
export type CallError<T, ByTool, Defaults> = T extends Tool.AnyTool
  ? Tool.SideEffectsOf<T> extends "builtin"
    ? Tool.ErrorOf<T>
    :
        | Through<
            Tool.ErrorOf<T> | InvalidArgs | DeserializationError,
            TableOf<T>,
            TableFor<ByTool, Tool.NameOf<T>>,
            Defaults
          >
        | (TableOf<T> extends CallTimeout ? ToolExecutionError : never)
        | (TableOf<T> extends GivesUp ? GivenUp<TableOf<T>, TableFor<ByTool, Tool.NameOf<T>>> : never)
        | UnknownNames<Defaults>
  : never

/** The hard failures of agents as tools. Only a row of the tool itself for `ToolExecutionError` handles them. */
type GivenUp<First, Second> = Residual<
  ToolExecutionError,
  Row<First, "ToolExecutionError", Row<Second, "ToolExecutionError", typeof Recovery.rethrow>>,
  never
>

/** The failures that the row for unknown tools leaves. */
type UnknownNames<Defaults> = Defaults extends { readonly UnknownToolError: infer V }
  ? Extract<EndOf<V>, "raise"> extends never
    ? never
    : ToolExecutionError
  : never

/** What the calls of these tools need, the handlers in the agent's tables included. */
export type CallServices<T, ByTool, Defaults> = T extends Tool.AnyTool
  ?
      | Tool.ServicesOf<T>
      | ServicesOf<RowsOf<TableOf<T>>>
      | ServicesOf<RowsOf<TableFor<ByTool, Tool.NameOf<T>>>>
      | ServicesOf<RowsOf<Defaults>>
  : never

/** The service that decides about calls of these tools, where the run waits for a decision. */
export type Deciders<T, ByTool, Defaults> = T extends Tool.AnyTool
  ? TableOf<T> extends Tool.NeedsApproval
    ? Approver
    : Tool.SideEffectsOf<T> extends "builtin"
      ? never
      : Asked<RowsOf<TableOf<T>>> | Asked<RowsOf<TableFor<ByTool, Tool.NameOf<T>>>> | Asked<RowsOf<Defaults>>
  : never

/** The service for rows that ask a person. */
type Asked<V> = "consults" extends ActsOf<V> ? (unknown extends ActsOf<V> ? never : Approver) : never

/** The rows for a tool name. A name of a union type may get the rows of each member, or none. */
type TableFor<ByTool, Name> = ByTool extends unknown
  ? Name extends keyof ByTool
    ? ByTool[Name]
    : Wide<Name> extends never
      ? {}
      : {} | ByTool[Extract<keyof ByTool, Name>]
  : never

/** The first level with a row for an error decides about it; without a row, the error leaves unchanged. */
type Through<E, First, Second, Third> = E extends unknown
  ? Residual<
      E,
      RowFor<E, First, RowFor<E, Second, RowFor<E, Third, Resilient<Third>>>>,
      Backstop<First> | Backstop<Second> | Backstop<Third> | Backstop<ResilientTable<Third>>
    >
  : never

/** Marks, in the defaults of an agent, that `Agent.resilient` applies after all tables. */
export interface Resilience {
  readonly "~resilient": ReturnType<typeof Recovery.presets.resilientTools>
}

type ResilientTable<Defaults> = Defaults extends { readonly "~resilient": infer Table } ? Table : {}

/** The row after all levels. Without it, the failure leaves unchanged. */
type Resilient<Defaults> = Row<ResilientTable<Defaults>, "orElse", typeof Recovery.rethrow>

/** The row of a table that also decides after a nearer row gave up. */
type Backstop<Table> = Table extends { readonly orElse: infer V } ? ("backstop" extends EndOf<V> ? V : never) : never

/** The row for a tag: the exact tag, then its substitute (`InvalidArgs` or `ExecutionError`), then `orElse`. */
type RowFor<E, Table, Else> = Row<
  Table,
  E extends { readonly _tag: infer Tag } ? Tag : StandIn<E>,
  Row<Table, StandIn<E>, Row<Table, "orElse", Else>>
>

type StandIn<E> = E extends InvalidArgs | DeserializationError ? "InvalidArgs" : "ExecutionError"

/** The failures that a verdict leaves. `Behind` is the row that decides after the verdict gives up. */
type Residual<E, V, Behind> =
  | ErrorOf<V>
  | (Extract<EndOf<V>, "raise"> extends never ? never : ToolExecutionError)
  | (Extract<EndOf<V>, "exhausted"> extends never
      ? never
      : [Behind] extends [never]
        ? ToolExecutionError
        : Residual<E, Behind, never>)
  | (Extract<EndOf<V>, "rethrow"> extends never ? never : E)

/** The failures that the table for model calls leaves; none for an agent without a model. */
export type ModelError<Table> = Table extends object
  ? [keyof Table] extends [never]
    ? LlmError // unresolved, so that hovers show its name
    : Whole<Residue<LlmError, Table>>
  : never

/** `LlmError` under its own name if no row handles a member, for short hovers. */
type Whole<E> = [LlmError] extends [E] ? LlmError | Exclude<E, LlmError> : E

/** What the handlers in the table for model calls need. */
export type ModelServices<Table> = Table extends object ? ServicesOf<RowsOf<Table>> : never

/**
 * The tools that tables are for: all but the built-in ones.
 *
 * @hidden
 */
export type GuardedTools<T> = T extends Tool.AnyTool ? (Tool.SideEffectsOf<T> extends "builtin" ? never : T) : never

/**
 * The tools that a name may mean: tools with this name, and tools whose name has the type `string`.
 *
 * @hidden
 */
export type Named<T, Name> = T extends { readonly name: infer Own }
  ? string extends Own
    ? T
    : Name extends Own
      ? T
      : never
  : never

/**
 * Marks, among the tools, that something other than the agent's loop needs a `Model`. This need stays when the loop gets its own model. An
 * agent without a loop cannot get one.
 *
 * @hidden
 */
export type NeedsModel<R, ModelTable> = ModelTable extends object
  ? [Extract<R, Model.Model>] extends [never]
    ? never
    : Tool.Tool<"~model", unknown, never, never, Model.Model, {}, "builtin">
  : never

/**
 * An answer that fits every one of these tools.
 *
 * @hidden
 */
export type CommonAnswer<T> = (T extends Tool.AnyTool ? (answer: Tool.SuccessOf<T>) => void : never) extends (
  answer: infer A
) => void
  ? A
  : never
