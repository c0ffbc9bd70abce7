/** The input of a fixer: the raw arguments of the failed call, or a report about the failure. */

/** The property under which an agent stores its `Reads`. A plain function has none, and gets the raw arguments. */
export const Reads: unique symbol = Symbol.for("~@kintsugi/core/Reads")

/**
 * The kind of input of an agent that is a fixer. Without a model it gets the raw `arguments`. With a model it gets a report that ends with
 * an instruction for its `Means`. In a composition with parts of different kinds, `each` part gets its own.
 */
export type Reads = "arguments" | "each" | Means

/** How a model may respond to a report: only with an answer, with an answer or a tool that ends its task, or only with such a tool. */
export type Means = "answer" | "answer-or-end" | "end"

/** The input of a composition whose parts need different kinds of input: it makes the text for each part. */
export class FixerInput {
  readonly #textFor: (reads: Reads) => string

  constructor(textFor: (reads: Reads) => string) {
    this.#textFor = textFor
  }

  /** Makes the text for a part that needs `reads`. Any input that is no `FixerInput` stays as it is. */
  static for(input: unknown, reads: Reads): unknown {
    return input instanceof FixerInput && reads !== "each" ? input.#textFor(reads) : input
  }
}
