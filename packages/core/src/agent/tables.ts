/** The tables of an agent: for its tools, by name and for all of them, and for its model calls. */
import { dual } from "effect/Function"
import * as Recovery from "../recovery/Recovery.ts"
import type * as Tool from "../tool/Tool.ts"
import type { UnknownToolError } from "../errors/ToolError.ts"
import { continuing } from "../run/Continuing.ts"
import type { OnPartial } from "../run/Run.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import type * as Fitting from "./fitting.ts"
import { oneOf } from "../data/Demand.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import { isAgent } from "./sealing.ts"
import type { Running } from "./skills.ts"
import type { CommonAnswer, GuardedTools, Named } from "./types.ts"
import * as LlmTable from "../model/LlmTable.ts"
import type { Check, IsTable } from "../recovery/TableTypes.ts"
import type {
  AnyRows,
  ToolEnd,
  Admits,
  Table as ToolTable,
  CheckRows,
  TableOfAny,
  CheckAny
} from "../tool/ToolTypes.ts"

/**
 * Recovers from failures of tools by the name of the tool. These rows apply after the tool's own table, and before
 * `Agent.toolDefaults`.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Data, Effect, Schema } from "effect"
 *
 * class Closed extends Data.TaggedError("Closed")<{}> {}
 *
 * const desk = Tool.make("desk", {
 *   description: "Asks the desk.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.String,
 *   run: () => Effect.fail(new Closed())
 * })
 * const guest = Agent.make("guest", { tools: [desk] }).pipe(
 *   Agent.onToolError({ desk: { Closed: Recovery.tell(() => "The desk opens at 8.") } })
 * )
 * const rows = Agent.explain(guest).tools.get("desk")?.rows
 * rows?.map(({ key }) => key) // => ["Closed"]
 * ```
 */
export const onToolError: {
  <T extends Tool.AnyTool, const Table extends TablesFor<T> & object>(
    table: Table & CheckTables<T, Table>
  ): <I, O, E, R, T2 extends Tool.AnyTool, ByTool, Defaults, ModelTable, Choice, Name extends string>(
    self: Agent<I, O, E, R, T2, ByTool, Defaults, ModelTable, Choice, Name> &
      Fitting.HasTools<T> &
      Fitting.FitByName<T, Table, T2>
  ) => Agent<I, O, E, R, T2, MergeTables<ByTool, Table>, Defaults, ModelTable, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name extends string,
    const Table extends TablesFor<T> & object
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    table: Table & CheckTables<T, Table>
  ): Agent<I, O, E, R, T, MergeTables<ByTool, Table>, Defaults, ModelTable, Choice, Name>
} = dual(2, (self: AnyPart, table: { readonly [name: string]: object }) => {
  const definition = definitionOf(self)
  const byTool = new Map(definition.byTool)
  for (const [name, rows] of Object.entries(table)) {
    byTool.set(name, new Map([...(byTool.get(name) ?? []), ...Recovery.rowsOf(rows, "a tool")]))
  }
  return fromDefinition({ ...definition, byTool })
})

/** A table for each tool, with rows that fit the tool. */
type TablesFor<T extends Tool.AnyTool> = {
  readonly [N in GuardedTools<T>["name"]]?: ToolTable<Tool.ErrorOf<Named<T, N>>, Tool.SuccessOf<Named<T, N>>>
}

/** Checks that each table names a tool, and that each row is for a failure of that tool. */
type CheckTables<T extends Tool.AnyTool, Tables> = {
  readonly [N in keyof Tables]-?: N extends GuardedTools<T>["name"]
    ? CheckRows<Tables[N], Tool.ErrorOf<Named<T, N>>, Tool.SideEffectsOf<Named<T, N>>>
    : Fitting.NoTool<N>
}

/** Tables by tool name, merged: the later row wins. */
type MergeTables<First, Second> = Second extends unknown
  ? First extends unknown
    ? {
        readonly [N in keyof First | keyof Second]: N extends keyof Second
          ? N extends keyof First
            ? Recovery.Merge<First[N], Second[N]>
            : Second[N]
          : N extends keyof First
            ? First[N]
            : never
      }
    : never
  : never

/** The row for an unknown tool can tell or raise; any other verdict would need a tool. */
interface UnknownRow {
  readonly UnknownToolError?: Recovery.Verdict<UnknownToolError, never, never, unknown, "told" | "raise" | "backstop">
}

/** Rows for all of these tools, with the row for unknown tools. */
export type DefaultRows<T> = AnyRows<Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>> & UnknownRow

export type CheckDefaults<T, Table> = Check<
  Table,
  Tool.RowKeys<Tool.ErrorOf<GuardedTools<T>>> | keyof UnknownRow,
  ToolEnd,
  Admits<"undeclared", string>
>

/**
 * Recovers from failures of any tool of the agent. These rows apply last, after the tool's own table and `Agent.onToolError`. A row for
 * `UnknownToolError`, the call of a tool that the agent does not have, stands only here.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Data, Effect, Schema } from "effect"
 *
 * class Closed extends Data.TaggedError("Closed")<{}> {}
 *
 * const desk = Tool.make("desk", {
 *   description: "Asks the desk.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.String,
 *   run: () => Effect.fail(new Closed())
 * })
 * const guest = Agent.make("guest", { tools: [desk] }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
 * const asked = guest("Is my room ready?")
 * //    ^? Effect<string, BudgetExceededError | LlmError, Model>
 * ```
 */
export const toolDefaults: ToolDefaults = dual(2, <A>(self: AnyPart, table: object): A => {
  const definition = definitionOf(self)
  return fromDefinition({
    ...definition,
    defaults: new Map([...definition.defaults, ...Recovery.rowsOf(table, "a tool")])
  })
})

interface ToolDefaults {
  <
    T extends Tool.AnyTool,
    const Table extends ToolTable<Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>> & UnknownRow
  >(
    table: Table &
      IsTable<Table> &
      CheckRows<Omit<Table, keyof UnknownRow>, Tool.ErrorOf<GuardedTools<T>>, "undeclared">
  ): <I, O, E, R, T2 extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T2, ByTool, Defaults, ModelTable, Choice, Name> &
      Fitting.HasTools<T> &
      Fitting.FitsAll<T, Omit<Table, keyof UnknownRow>, T2>
  ) => Agent<I, O, E, R, T2, ByTool, Recovery.Merge<Defaults, Table>, ModelTable, Choice, Name>
  /** For an agent that is a type parameter. */
  <
    T extends Tool.AnyTool,
    const Table extends TableOfAny<Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>> & UnknownRow
  >(
    table: Table &
      IsTable<Table> &
      CheckAny<
        Omit<Table, keyof UnknownRow>,
        Tool.ErrorOf<GuardedTools<T>>,
        CommonAnswer<GuardedTools<T>>,
        "undeclared"
      >
  ): <I, O, E, R, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R, T, ByTool, Recovery.Merge<Defaults, Table>, ModelTable, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    const Table extends ToolTable<Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>> & UnknownRow
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    table: Table &
      IsTable<Table> &
      CheckRows<Omit<Table, keyof UnknownRow>, Tool.ErrorOf<GuardedTools<T>>, "undeclared">
  ): Agent<I, O, E, R, T, ByTool, Recovery.Merge<Defaults, Table>, ModelTable, Choice, Name>
  /** For an agent that is a type parameter. */
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    const Table extends TableOfAny<Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>> & UnknownRow
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    table: Table &
      IsTable<Table> &
      CheckAny<
        Omit<Table, keyof UnknownRow>,
        Tool.ErrorOf<GuardedTools<T>>,
        CommonAnswer<GuardedTools<T>>,
        "undeclared"
      >
  ): Agent<I, O, E, R, T, ByTool, Recovery.Merge<Defaults, Table>, ModelTable, Choice, Name>
}

/** Options beside a table of `onLlmError`. */
export interface LlmErrorOptions extends LlmTable.TableOptions {
  /**
   * What happens to a streamed attempt that breaks off after its first text. It fails (`fail`), is discarded and requested again
   * (`restart`), or the next attempt goes on from the text (`continue`). The default is `restart` in a sub-agent, else `fail`.
   */
  readonly onPartial?: OnPartial
  /**
   * Continues a reply of a model without `continuation` by a user message that asks for the rest. Such a model may repeat text. Without
   * this option, the retry gives up. It counts only with `onPartial: "continue"`.
   */
  readonly continueBy?: "message"
}

/**
 * Recovers from failures of model calls, by a table or by a function. It applies to each failed attempt, after the transport has given
 * up. Counts start afresh in every turn. Rows are added to those of earlier tables; a function takes the place of all of them.
 * With `onPartial: "restart"` an attempt may be repeated after its first text was streamed. By default it fails, except in a sub-agent.
 * With `onPartial: "continue"` the next attempt goes on from that text, if the model declares that it can.
 *
 * @example
 * ```ts
 * import { Agent, LlmError, Recovery } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const clerk = Agent.make("clerk", {}).pipe(
 *   Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 2, initialBackoff: "1 millis" }) })
 * )
 * const program = Effect.gen(function* () {
 *   const { fails, make, text } = ScriptedModel
 *   const model = yield* make(fails(LlmError.ModelOverloadedError.make({ model: "gpt-5.6-sol" })), text("Good morning."))
 *   return yield* Effect.provide(clerk("Good morning!"), model.layer)
 * })
 * Effect.runPromise(Effect.scoped(program)) // => "Good morning."
 * ```
 */
export const onLlmError: {
  <O, const Given extends LlmTable.LlmRows<O> | LlmTable.LlmHandler<O>>(
    given: Given & LlmTable.CheckRows<Given>,
    options?: LlmErrorOptions
  ): <I, O2, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends object, Choice, Name extends string>(
    self: Agent<I, O2, E, R, T, ByTool, Defaults, ModelTable, Choice, Name> &
      Fitting.Answers<O> &
      Fitting.FitsOutput<Given, O2>
  ) => Agent<I, O2, E, R, T, ByTool, Defaults, LlmTable.After<ModelTable, Given>, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends object,
    Choice,
    Name extends string,
    const Given extends LlmTable.LlmRows<O> | LlmTable.LlmHandler<O>
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    given: Given & LlmTable.CheckRows<Given>,
    options?: LlmErrorOptions
  ): Agent<I, O, E, R, T, ByTool, Defaults, LlmTable.After<ModelTable, Given>, Choice, Name>
} = dual(
  ([self]) => isAgent(self),
  <A>(
    self: AnyPart,
    given: LlmTable.LlmRows<unknown> | LlmTable.LlmHandler<unknown>,
    options: LlmErrorOptions = {}
  ): A => {
    const definition = definitionOf(self)
    const { continueBy, onPartial = definition.onPartial } = options
    oneOf("Agent.onLlmError: onPartial", options.onPartial, ["fail", "restart", "continue"])
    oneOf("Agent.onLlmError: continueBy", continueBy, ["message"])
    return fromDefinition({
      ...definition,
      onLlmError: LlmTable.rowsAfter(definition.onLlmError, given, options),
      onPartial: onPartial === "continue" ? continuing(continueBy) : onPartial,
      transport: options.transport ?? definition.transport
    })
  }
)
