/** Types of tables that are written before their agent: in a pipe, and outside of one. */
import type * as Effect from "effect/Effect"
import type * as LlmTable from "../model/LlmTable.ts"
import type * as Tool from "../tool/Tool.ts"
import type { TypeId } from "./definition.ts"
import type { CommonAnswer, GuardedTools, Named } from "./types.ts"
import type { AnswerOf, RowsOf } from "../recovery/TableTypes.ts"
import type { Fits } from "../tool/ToolTypes.ts"

/**
 * The tools of an agent, as a type. A combinator such as `Agent.onToolError` infers from it, in a pipe, which rows its table may have.
 *
 * @hidden
 */
export interface HasTools<out T> {
  readonly [TypeId]: { readonly _T: () => T }
}

/** The compiler's text about a table for a tool that does not exist. */
export type NoTool<N> = `There is no table for '${N & string}': the agent has no tool of that name`

/** Compares a table for all tools with the tools of an agent, if it was written without them. */
export type FitsAll<Expected, Table, T> =
  unknown extends Tool.ErrorOf<Expected>
    ? Fits<unknown, Table, Tool.ErrorOf<GuardedTools<T>>, CommonAnswer<GuardedTools<T>>, "undeclared">
    : unknown

/** Compares tables by name with the tools of an agent, if they were written without them. */
export type FitByName<Expected, Tables, T> =
  unknown extends Tool.ErrorOf<Expected>
    ? [keyof Tables] extends [Tool.NameOf<GuardedTools<T>>]
      ? Both<{ readonly [N in keyof Tables]: FitsOne<Tables[N], Named<T, N>> }>
      : NoTool<Exclude<keyof Tables, Tool.NameOf<GuardedTools<T>>>>
    : unknown

type FitsOne<Table, T> = Fits<unknown, Table, Tool.ErrorOf<T>, Tool.SuccessOf<T>, Tool.SideEffectsOf<T>>

/** The compiler messages among these types; `unknown` if there are none. */
type Both<Each> = [Extract<Each[keyof Each], string>] extends [never] ? unknown : Extract<Each[keyof Each], string>

/**
 * Types the answers of a table for model calls: in a pipe they are inferred from the agent.
 *
 * @hidden
 */
export interface Answers<out O> {
  (input: never): Effect.Effect<O, unknown, unknown>
}

/**
 * Compares the answers of a table for model calls with the output of an agent.
 *
 * @hidden
 */
export type FitsOutput<Given, O> = [AnswerOf<RowsOf<LlmTable.TableOf<Given>>>] extends [O]
  ? unknown
  : "An answer of this table is no output of the agent"
