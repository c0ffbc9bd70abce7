/** What a fixer reads of a call that failed. */

/** Where an agent says what it reads as a fixer. A plain function says nothing, and reads the arguments. */
export const Reads: unique symbol = Symbol.for("~@kintsugi/core/Reads")

/**
 * What an agent reads as a fixer: the arguments as they are, where no model drives it; else a report that ends with what it can do, by the
 * tools that it has. A composition whose parts read different things gives `each` its own.
 */
export type Reads = "arguments" | "each" | Means

/** What a model can do about a report: answer; answer or end with `escalate` or `throwException`; or only the latter, by its tools. */
export type Means = "answer" | "answer-or-end" | "end"

/** For a composition whose parts read different things: what each of them reads. */
export class FixerInput {
  readonly #textFor: (reads: Reads) => string

  constructor(textFor: (reads: Reads) => string) {
    this.#textFor = textFor
  }

  /** Of any input: what a part that reads this gets. */
  static for(input: unknown, reads: Reads): unknown {
    return input instanceof FixerInput && reads !== "each" ? input.#textFor(reads) : input
  }
}
