/** One tool call on its way to its settlement: attempted, recovered by the tables around it, settled. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Driver from "../recovery/Driver.ts"
import type { Ends, Layer, Says } from "../recovery/Layer.ts"
import { seenOf } from "../recovery/Position.ts"
import { attempt, emit } from "./attempt.ts"
import * as Call from "./call.ts"
import type { CallSite } from "./CallSite.ts"
import { beginning, readmitted, type ToolCall } from "./callState.ts"
import { cut, endsOf, late } from "./endings.ts"
import type { Entry } from "./callState.ts"
import { fix } from "./fixing.ts"
import type { Gates } from "./callState.ts"
import { rowOf } from "./levels.ts"
import type { Outcome } from "./outcome.ts"
import { leftOf, originOf } from "./checkpoint.ts"

/** Settles one call, within the time that it has. */
export const settle = (entry: Entry, gates: Gates, site: CallSite): Effect.Effect<Outcome> => {
  const progress = site.from?.progress
  if (progress?.isOpen === true) site.slot.settlement = Message.unknown
  const self = begin(entry, gates, site)
  const driven =
    progress === undefined
      ? Driver.drive(layerOf(self))
      : Effect.flatMap(originOf(progress), (from) => Driver.drive(layerOf(self), from))
  const { callTimeout } = entry.tool
  const inTime =
    callTimeout === undefined
      ? driven
      : Effect.timeoutOrElse(driven, {
          duration: leftOf(callTimeout, progress),
          orElse: () => late(self, callTimeout)
        })
  // the end of a run is an ending of the call: the other calls of the reply are settled as its siblings are
  return Effect.catchCause(inTime, (cause) => {
    const { ended } = site.run.meter
    return ended !== undefined && RunContext.isLimit(Cause.squash(cause))
      ? Effect.succeed(cut(self, ended))
      : Effect.failCause(cause)
  })
}

/** What was decided on goes on, not what the model wrote before it was repaired. */
const begin = (entry: Entry, gates: Gates, site: CallSite): ToolCall => {
  const { from } = site
  const args = (from?.type === "decision" ? from.request : (from ?? site.call)).arguments
  const raw = beginning(args, from?.progress)
  const decoded = () => Result.getOrUndefined(Call.decode(entry.tool, { ...site.call, arguments: args }))
  const state = from?.type === "agent" ? readmitted(raw, from.snapshot, decoded()) : raw
  return { entry, gates, site, state, progress: undefined }
}

type ToolLayer = Layer<
  unknown,
  Outcome,
  never,
  never,
  Ends<unknown, Outcome, never, never> & Says<Outcome, never, never>
>

const layerOf = (self: ToolCall): ToolLayer => {
  const { isSuspendable, run } = self.site
  return {
    attempt: (count, progress) => {
      self.progress = progress
      return attempt(self, count)
    },
    row: (error) => rowOf(self, error),
    repairs: { fix: (rung, seen, round) => fix(self, rung, seen, round) },
    // Mutant `true` survives: memory only. Where no run can be suspended, no code reads what is kept
    bounds: { ...RunContext.bounds(run), wait: Interception.wait, keep: isSuspendable ? seenOf : undefined },
    observe: (decision) => emit(self, () => ({ type: "verdict", layer: "tool", ...decision })),
    end: endsOf(self)
  }
}
