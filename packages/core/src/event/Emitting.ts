/** Where the events of one run go, and those with which it begins and ends. Without an observer, no event is made. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { Meter } from "../budget/Meter.ts"
import * as AgentEvent from "./AgentEvent.ts"
import * as RunContext from "./RunContext.ts"

type Observer = RunContext.Observer

/** The observers around a run: that of the run above, or those of the program; and one of its own. */
export const around = (
  fiber: Fiber.Fiber<unknown, unknown>,
  parent: RunContext.RunContext | undefined,
  own: Observer | undefined
): ReadonlyArray<Observer> => {
  const above =
    parent === undefined ? fiber.getRef(RunContext.Observers).map((make) => make(fiber.context)) : [parent.emit]
  return [...above, own].filter((observer) => observer !== undefined)
}

/** One observer for all; nothing where there is none. The terminal event of the run is its last. */
export const joined = (runId: string, observers: ReadonlyArray<Observer>): Observer | undefined => {
  if (observers.length === 0) return undefined
  let isOver = false
  return (event, context) => {
    // what is still at work below the run is not heard any more
    if (isOver) return undefined
    isOver = event.runId === runId && AgentEvent.isTerminal(event)
    let span: ReturnType<Observer> = undefined
    for (const observer of observers) span = observer(event, context) ?? span
    return span
  }
}

/** Emits the event with which `body` begins, and those with which it ends. */
export const reported = <A, E, R>(
  run: RunContext.RunContext,
  first: () => AgentEvent.Happening,
  last: (exit: Exit.Exit<A, E>) => ReadonlyArray<AgentEvent.Happening>,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  run.emit === undefined
    ? body
    : Effect.withFiber((fiber) =>
        Effect.onExitPrimitive(RunContext.begin(run, first, body), (exit) => {
          for (const happening of last(exit)) RunContext.tell(run, fiber, () => happening)
          return undefined
        })
      )

/** Has the limits of a run announced that are near. Without an observer none counts as announced: a resumed run may have one. */
export const announcing = (run: RunContext.RunContext, meter: Meter): void => {
  if (run.emit === undefined) return
  // V8 makes a function among its old objects where it stands behind the name of a property, and all of the run would stay with it
  const announce: Meter["announce"] = (warning) => RunContext.emit(run, () => ({ type: "budget-warning", ...warning }))
  meter.announce = announce
}
