/** What a verdict starts to help a run, a fixer or a compaction, is a part of that run. */
import * as Effect from "effect/Effect"
import { ownerAbove } from "../budget/Meter.ts"
import type { Helping } from "../recovery/Node.ts"
import type * as AgentEvent from "./AgentEvent.ts"
import * as RunContext from "./RunContext.ts"

/** What the helper's own runs are told of the run that it helps. */
type Told = Pick<RunContext.RunContext, "isCompacting" | "repairing">

/** `happening` makes an event of the run out of what the helper tells. Outside of a run, nobody hears it. */
export const helping = <Event>(
  helper: unknown,
  run: RunContext.RunContext | undefined,
  told: Told,
  happening: (event: Event) => AgentEvent.Happening
): Helping<Event> => ({
  isAtWork: run?.fixers.includes(helper) === true,
  isLimit: (error) => run !== undefined && ownerAbove(error, run.meter) !== undefined,
  within: (start) => {
    const starting = Effect.suspend(start)
    if (run === undefined) return starting
    const below: RunContext.RunContext = { ...run, ...told, fixers: [...run.fixers, helper] }
    return Effect.provideService(starting, RunContext.Current, below)
  },
  emitThen: (event, next) => (run === undefined ? next() : RunContext.emitThen(run, () => happening(event()), next))
})
