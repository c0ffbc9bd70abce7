/** A fixer or a compaction that a verdict starts is a child of the run that it helps. */
import * as Effect from "effect/Effect"
import type { Helping } from "../recovery/Node.ts"
import * as RunContext from "./RunContext.ts"
import type { Happening } from "./Happening.ts"

/** The fields of the helped run's context that the helper's runs get other values of. */
type Overrides = Pick<RunContext.RunContext, "isCompacting" | "repairing">

/** `happening` makes an event of the run from a report of the helper. Without a run, no event is emitted. */
export const helping = <Event>(
  helper: unknown,
  run: RunContext.RunContext | undefined,
  overrides: Overrides,
  happening: (event: Event) => Happening
): Helping<Event> => ({
  isAtWork: run?.fixers.includes(helper) === true,
  within: (start) => {
    const starting = Effect.suspend(start)
    if (run === undefined) return starting
    const inner: RunContext.RunContext = { ...run, ...overrides, fixers: [...run.fixers, helper] }
    return Effect.provideService(starting, RunContext.Current, inner)
  },
  emitThen: (event, next) => (run === undefined ? next() : RunContext.emitThen(run, () => happening(event()), next))
})
