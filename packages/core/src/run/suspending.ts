/** A run that waits: what is kept of it, and under which id. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Identifier from "../data/Identifier.ts"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import type * as RunContext from "../event/RunContext.ts"
import type { Mode } from "./Frame.ts"
import { Suspension } from "./Start.ts"
import type { RunState } from "./state.ts"

/** A run that may have to wait. */
interface Waiting {
  readonly state: RunState
  readonly run: RunContext.RunContext
  readonly mode: Mode
}

/** The run as it stands. The outermost of those that are suspended together has an id: as that, all of them are resumed. */
export const suspended = (
  { mode, run, state }: Waiting,
  settled: ReadonlyArray<FailureHistory.Settled | null>
): Effect.Effect<Suspension> =>
  Effect.withFiber((fiber) => {
    const snapshot = state.snapshot(run, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe(), settled)
    const isOutermost = mode.nesting === undefined
    return Effect.succeed(new Suspension(isOutermost ? { ...snapshot, id: Identifier.draw(fiber) } : snapshot))
  })
