/** How a model that is made of others, or a layer of one, says what its calls are at worst. */
import * as Duration from "effect/Duration"
import { type Explains, Mark } from "../recovery/Explained.ts"
import type { Explanation } from "../recovery/Explanation.ts"

/** Says of a model, or of its layer, what its calls are at worst. Not enumerable: a copy may do anything. */
export const explaining = <M extends object>(model: M, explains: Explains): M =>
  Object.defineProperty(model, Mark, { value: explains })

/** One after the other, each of which fails. */
export const inTurn = (all: ReadonlyArray<Explanation>): Explanation => {
  const sum = (of: (worst: Explanation["worst"]) => number): number =>
    all.reduce((total, { worst }) => total + of(worst), 0)
  return {
    rows: all.flatMap(({ rows }) => rows),
    worst: {
      attempts: sum(({ attempts }) => attempts),
      requests: sum(({ requests }) => requests),
      fixerRuns: sum(({ fixerRuns }) => fixerRuns),
      modelCalls: sum(({ modelCalls }) => modelCalls),
      waits: Duration.millis(sum(({ waits }) => Duration.toMillis(waits))),
      time: Duration.millis(sum(({ time }) => Duration.toMillis(time)))
    }
  }
}
