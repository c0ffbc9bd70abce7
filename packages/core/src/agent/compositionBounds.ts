/** What an agent is at worst, whatever it is made of. */
import * as Duration from "effect/Duration"
import type { Bounds } from "../recovery/Explanation.ts"
import { estimate } from "../recovery/Explain.ts"
import type { ExplainOptions } from "../model/Model.ts"
import { partOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"

/**
 * What one run of any agent is at worst, a composition above all: the model calls of all its parts, their waits and timeouts.
 * Nothing is run. Plain functions count none, as nobody knows what they do; `Agent.explain` says more of an agent with a loop.
 */
export const bounds = (self: AnyPart, { transport }: Pick<ExplainOptions, "transport"> = {}): Bounds => {
  const { millis, modelCalls } = partOf(self).cost(estimate)
  const { requests, time } = transport?.worst ?? { requests: 1, time: Duration.zero }
  return {
    modelCalls,
    requests: modelCalls * requests,
    time: Duration.millis(millis + modelCalls * Duration.toMillis(time))
  }
}
