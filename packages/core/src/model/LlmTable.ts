/** Tables for model calls, and functions in the place of a table. */
import type { LlmError } from "../errors/LlmError.ts"
import * as Recovery from "../recovery/Recovery.ts"

/** What may be done about failures `E` of a model; answers stand in for what the call is asked for. */
export type LlmVerdict<E, Answer> = Recovery.Verdict<
  E,
  Answer,
  unknown,
  unknown,
  "exhausted" | "rethrow",
  "repeats" | "compacts"
>

/** A table for model calls. */
export type LlmRows<Answer> = {
  readonly [K in LlmError["_tag"] | "orElse"]?: LlmVerdict<
    K extends "orElse" ? LlmError : Extract<LlmError, { readonly _tag: K }>,
    Answer
  >
}

/** A function in the place of a table: asked at every failure, see `Recovery.when`. */
export type LlmHandler<Answer> = (error: LlmError, context: Recovery.FailureContext) => LlmVerdict<LlmError, Answer>

/** Refuses keys that are no row. */
export type CheckRows<Given> = Given extends AnyHandler ? unknown : Recovery.Check<Given, LlmError["_tag"] | "orElse">

/** The table that is meant: a function stands for one row that all failures have. */
export type TableOf<Given> = Given extends (...args: never) => infer V
  ? {
      readonly orElse: Recovery.Verdict<
        LlmError,
        Recovery.AnswerOf<V>,
        Recovery.ErrorOf<V>,
        Recovery.ServicesOf<V>,
        Recovery.EndOf<V>,
        Recovery.ActsOf<V>
      >
    }
  : Given

/** A table after an earlier one: its rows are added, while a function takes the place of all. */
export type After<Earlier, Given> = Given extends AnyHandler ? TableOf<Given> : Recovery.Merge<Earlier, Given>

type AnyHandler = (...args: never) => unknown

/** What is known beforehand of a function that stands in the place of a table. */
export interface HandlerOptions {
  /** All that the function may choose, for `explain`; choosing anything else is a defect. */
  readonly among?: ReadonlyArray<Recovery.AnyVerdict>
}

/** Rows after those that were there: those of a table are added, a function takes the place of all. */
export const rowsAfter = (earlier: Recovery.Rows, given: object, { among }: HandlerOptions = {}): Recovery.Rows => {
  if (!isHandler(given)) return new Map([...earlier, ...Recovery.rowsOf(given)])
  return Recovery.rowsOf({ orElse: Recovery.when(given, among && { among }) })
}

const isHandler = (given: object): given is LlmHandler<unknown> => typeof given === "function"
