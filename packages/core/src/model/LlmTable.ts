/** The types of recovery tables for model calls, and of functions in place of a table. */
import type { LlmError } from "../errors/LlmError.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { Rows } from "../recovery/Node.ts"
import type {
  Handler,
  AnswerOf,
  ErrorOf,
  ServicesOf,
  EndOf,
  ActsOf,
  AnyRowOf,
  Misfit,
  Check
} from "../recovery/TableTypes.ts"

/** A table for model calls. */
export type LlmRows<Answer> = {
  readonly [K in LlmError["_tag"] | "orElse"]?: AnyRowOf<
    K extends "orElse" ? LlmError : Extract<LlmError, { readonly _tag: K }>,
    Answer
  >
}

/** A function in place of a table. It is called for each failure, as with `Recovery.when`. */
export type LlmHandler<Answer> = Handler<LlmError, Answer, unknown, unknown>

type End = "exhausted" | "rethrow"

type Acts = "repeats" | "compacts"

/** Refuses keys that are no row, and rows that model calls do not allow. */
export type CheckRows<Given> = Given extends AnyHandler
  ? Misfit<Given, End, Acts>
  : Check<Given, LlmError["_tag"] | "orElse", End, Acts>

/** The table that `Given` is equivalent to: a function counts as a table with the row `orElse`. */
export type TableOf<Given> = Given extends AnyHandler
  ? {
      readonly orElse: Recovery.Verdict<
        LlmError,
        AnswerOf<Given>,
        ErrorOf<Given>,
        ServicesOf<Given>,
        EndOf<Given>,
        ActsOf<Given>
      >
    }
  : Given

/** The table after a second `onLlmError`. A table adds its rows to the earlier ones; a function replaces them all. */
export type After<Earlier, Given> = Given extends AnyHandler ? TableOf<Given> : Recovery.Merge<Earlier, Given>

/** The table of a new agent. An agent without a model has no table. */
export type First<Table, Given> = Table extends object ? After<Table, Given> : Table

type AnyHandler = (...args: never) => unknown

/** The options of a function in place of a table. */
export interface HandlerOptions {
  /** All verdicts that the function may choose, for `explain`. Choosing any other one is a defect. */
  readonly among?: ReadonlyArray<Recovery.AnyVerdict>
}

/** The options of a table for model calls. */
export interface TableOptions extends HandlerOptions {
  /**
   * With `"off"`, this table replaces the retries of transports: each of its requests is sent once, also those of composed models.
   * Otherwise the retries of both multiply.
   */
  readonly transport?: "off"
}

/** The rows after a second `onLlmError`. A table adds its rows to the earlier ones; a function replaces them all. */
export const rowsAfter = (earlier: Rows, given: object, options: HandlerOptions = {}): Rows => {
  if (!isHandler(given)) return new Map([...earlier, ...Recovery.rowsOf(given, "a model call")])
  return Recovery.rowsOf({ orElse: Recovery.when(given, options) }, "a model call")
}

const isHandler = (given: object): given is LlmHandler<unknown> => typeof given === "function"

/** Adds rows that decide about the failures for which `rows` has no row. */
export const behind = (rows: Rows, others: Rows): Rows => (rows.has("orElse") ? rows : new Map([...others, ...rows]))
