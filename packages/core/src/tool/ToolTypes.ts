/**
 * The types of tools and tables that agents need: what the options of a tool add to its failures and services, and the marks in a table.
 */
import type { OutcomeUnknownError, ToolExecutionError, ToolTimeoutError } from "../errors/ToolError.ts"
import type { NoVerify } from "./define.ts"
import type * as Scope from "effect/Scope"

export type { TableOf } from "./shape.ts"
export type { Limits, NoVerify, OneLength, Stored } from "./define.ts"
export type { Admits, AnyRows, ToolEnd } from "./rows.ts"
export type { CheckAny, CheckRows, Fits, Table, TableOfAny } from "./table.ts"

/** What a tool with a time limit may fail with besides its own failures. */
export type TimeoutOf<S, T, VR> = [T] extends [undefined]
  ? never
  : S extends "unsafe"
    ? [NoVerify] extends [VR]
      ? OutcomeUnknownError
      : ToolTimeoutError
    : ToolTimeoutError

/** The services that `verify` needs; `never` if the tool has no `verify`. */
export type ServicesOfVerify<VR> = [NoVerify] extends [VR] ? never : WithoutScope<VR>

/** The services of a function of a tool. `Scope` is none of them, because each execution has a scope of its own. */
export type WithoutScope<R> = Exclude<R, Scope.Scope>

/** Marks, in the table of a tool, that its calls have a time limit. No row handles the failure of a call that reaches it. */
export interface CallTimeout {
  readonly "~callTimeout": true
}

/** The mark of a tool with a `callTimeout`. */
export type CallLimit<C> = [C] extends [undefined] ? {} : CallTimeout

/**
 * Marks, in the table of a tool, that its agent may give up for good, with `ToolExecutionError`. Only a row for that tag handles this
 * error, and only in a table of this tool.
 *
 * @hidden
 */
export interface GivesUp {
  readonly "~givesUp": true
}

/** The mark of a tool that is an agent, if the agent may give up for good. */
export type MayGiveUp<E> = [Extract<E, ToolExecutionError>] extends [never] ? {} : GivesUp

/** Marks, in the table of a tool, that its own failures can be stored. */
export interface StoredFailures {
  readonly "~storedFailures": true
}

/** The mark of a tool that has failures of its own and a schema of them. */
export type Storable<E, F> = [E] extends [never] ? {} : [F] extends [undefined] ? {} : StoredFailures

/**
 * Marks, in the table of a tool, that its calls need approval.
 *
 * @hidden
 */
export interface NeedsApproval {
  readonly "~needsApproval": true
}
