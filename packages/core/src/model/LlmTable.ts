/** Tables for model calls, and functions instead of a table. */
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

/** A function instead of a table: it is called for each failure, see `Recovery.when`. */
export type LlmHandler<Answer> = Handler<LlmError, Answer, unknown, unknown>

type End = "exhausted" | "rethrow"

type Acts = "repeats" | "compacts"

/** Refuses keys that are no row, and what model calls do not have. */
export type CheckRows<Given> = Given extends AnyHandler
  ? Misfit<Given, End, Acts>
  : Check<Given, LlmError["_tag"] | "orElse", End, Acts>

/** The table that is meant: a function stands for one row that all failures have. */
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

/** A table after an earlier one: its rows are added, while a function takes the place of all. */
export type After<Earlier, Given> = Given extends AnyHandler ? TableOf<Given> : Recovery.Merge<Earlier, Given>

/** A table that an agent has from the start; where it has no model, it has no table. */
export type First<Table, Given> = Table extends object ? After<Table, Given> : Table

type AnyHandler = (...args: never) => unknown

/** What a function instead of a table declares. */
export interface HandlerOptions {
  /** All that the function may choose, for `explain`; choosing anything else is a defect. */
  readonly among?: ReadonlyArray<Recovery.AnyVerdict>
}

/** What a table for model calls may be given besides. */
export interface TableOptions extends HandlerOptions {
  /**
   * `"off"` has this table take the place of what transports send again by themselves: all of its requests are sent once, those too of
   * models in an order or with something around them. Otherwise the attempts of both multiply.
   */
  readonly transport?: "off"
}

/** Rows after those that were there: those of a table are added, a function takes the place of all. */
export const rowsAfter = (earlier: Rows, given: object, options: HandlerOptions = {}): Rows => {
  if (!isHandler(given)) return new Map([...earlier, ...Recovery.rowsOf(given, "a model call")])
  return Recovery.rowsOf({ orElse: Recovery.when(given, options) }, "a model call")
}

const isHandler = (given: object): given is LlmHandler<unknown> => typeof given === "function"

/** Rows with others behind them: those decide about failures that no row is for. */
export const behind = (rows: Rows, others: Rows): Rows => (rows.has("orElse") ? rows : new Map([...others, ...rows]))
