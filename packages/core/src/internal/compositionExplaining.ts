/** What an agent is at worst, whatever it is made of. */
import * as Duration from "effect/Duration"
import type { Bounds, Explanation } from "../Explanation.ts"
import { partOf } from "./compositionParts.ts"
import type { AnyPart } from "./compositionTypes.ts"

/** What `bounds` cannot read off an agent. */
export interface BoundsOptions {
  /** What one attempt of a single model is at worst for its transport, when that sends again by itself. */
  readonly transport?: Explanation
}

/**
 * What one run of any agent is at worst, a composition above all: the model calls of all its parts, their waits and timeouts.
 * Nothing is run. Plain functions count none, as nobody knows what they do; `Agent.explain` says more of an agent with a loop.
 */
export const bounds = (self: AnyPart, { transport }: BoundsOptions = {}): Bounds => {
  const { millis, modelCalls } = partOf(self).cost()
  const { requests, time } = transport?.worst ?? { requests: 1, time: Duration.zero }
  return {
    modelCalls,
    requests: modelCalls * requests,
    time: Duration.millis(millis + modelCalls * Duration.toMillis(time))
  }
}
