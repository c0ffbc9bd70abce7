/** The place between two turns at which every call of the last reply has a settlement. */
import * as Effect from "effect/Effect"
import type * as FailureHistory from "../budget/FailureHistory.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import * as Budget from "./budget.ts"
import * as Rereading from "./rereading.ts"
import type { Looping } from "./running.ts"

/**
 * What is done between two turns, in this order, and nowhere else: (1) the limits are checked, and the turn is counted; (2) the turn
 * begins for listeners; (3) the request is made: of what the model reads of the conversation, without tools that are withheld, and with
 * the demand to call none where tools are off.
 */
export const safePoint = (running: Looping): Effect.Effect<Model.Request> => {
  const { run } = running
  return Effect.andThen(
    Effect.andThen(RunContext.alive(run), turn(running)),
    RunContext.emitThen(
      run,
      () => ({ type: "turn-start" }),
      () => Effect.succeed(requestOf(running))
    )
  )
}

/** Begins a turn, unless a limit forbids it. */
export const turn = ({ run, state }: Pick<Looping, "run" | "state">): Effect.Effect<void> =>
  Effect.map(Budget.takeTurn(run), () => {
    state.turn++
    state.finish = undefined
  })

const requestOf = ({ plan: { output }, state, toolset }: Looping): Model.Request => {
  const { history } = state
  const plain: Model.Request = { messages: state.visible, tools: toolset.specs, toolChoice: "auto" }
  const usual = output === undefined ? plain : Rereading.asking(plain, output)
  return history.isCalm ? usual : restricted(usual, history)
}

const restricted = (usual: Model.Request, { isToolsOff, withheld }: FailureHistory.FailureHistory): Model.Request =>
  isToolsOff
    ? { ...usual, toolChoice: "none" }
    : { ...usual, tools: usual.tools.filter(({ name }) => !withheld.has(name)) }
