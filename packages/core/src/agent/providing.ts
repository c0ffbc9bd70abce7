/** Removes the services of a layer from the types of an agent, its tools, its tables and its choice of skills. */
import type { Approver } from "../data/Approval.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type * as Tool from "../tool/Tool.ts"
import type { Agent } from "./definition.ts"
import type { Choosing } from "./skills.ts"
import type { AnyRow, ServicesOf, AnswerOf, ErrorOf, EndOf, ActsOf } from "../recovery/TableTypes.ts"

/** The agent without the needs `L`, plus the failures and needs of the layer that provides them. */
export type Provided<A, L, E2, R2> =
  A extends Agent<
    infer I,
    infer O,
    infer E,
    infer R,
    infer T,
    infer ByTool,
    infer Defaults,
    infer ModelTable,
    infer Choice,
    infer Name
  >
    ? Agent<
        I,
        O,
        E | E2,
        Exclude<R, L> | R2,
        ToolWith<T, L>,
        { readonly [N in keyof ByTool]: TableWith<ByTool[N], L> },
        TableWith<Defaults, L>,
        TableWith<ModelTable, L>,
        ChoiceWith<Choice, L>,
        Name
      >
    : never

/** A tool without the needs `L`. */
export type ToolWith<T extends Tool.AnyTool, L> =
  T extends Tool.Tool<infer Name, infer Params, infer A, infer E, infer R, infer Table, infer S>
    ? Tool.Tool<Name, Params, A, E, Exclude<R, L>, TableWith<Table, L>, S>
    : never

/** A table without the needs `L`. `undefined` and text marks are no tables, so they stay. */
export type TableWith<Table, L> = Table extends object
  ? { readonly [K in keyof Table]: RowWith<K, Table[K], L> }
  : Table

type RowWith<K, V, L> =
  V extends Recovery.Verdict<infer Input, infer A, infer E, infer R, infer End, infer Acts>
    ? [Extract<R | Asks<Acts>, L>] extends [never]
      ? V
      : Recovery.Verdict<Input, A, E, Exclude<R, L>, End, Answered<Acts, L>>
    : V extends AnyRow
      ? [Extract<ServicesOf<V> | Asks<ActsOf<V>>, L>] extends [never]
        ? V
        : Recovery.Verdict<never, AnswerOf<V>, ErrorOf<V>, Exclude<ServicesOf<V>, L>, EndOf<V>, Answered<ActsOf<V>, L>>
      : K extends keyof Tool.NeedsApproval
        ? [Extract<Approver, L>] extends [never]
          ? V
          : false
        : V

/** The service for rows that ask a person: the `Approver`. */
type Asks<Acts> = "consults" extends Acts ? Approver : never

/** The acts of a row, once the layer provides its approver. */
type Answered<Acts, L> = [Extract<Approver, L>] extends [never] ? Acts : Exclude<Acts, "consults">

/** A choice of skills without the needs `L`. */
export type ChoiceWith<Choice, L> =
  Choice extends Choosing<infer Name, infer E, infer R, infer OfModel>
    ? Choosing<Name, E, Exclude<R, L>, Exclude<OfModel, L>>
    : Choice
