/** Books the end of an attempt of a model call. */
import * as Effect from "effect/Effect"
import type * as Ledger from "../budget/Ledger.ts"
import type { Happening, ModelAttempt } from "../event/Happening.ts"
import * as RunContext from "../event/RunContext.ts"
import { sound } from "../model/ModelCall.ts"
import * as RunBudget from "./budget.ts"
import type { Attempting, Calling } from "./modelCallState.ts"

export const interrupted = (call: Calling, state: Attempting): Effect.Effect<void> =>
  book(
    call,
    countable(state, state.spent),
    "interrupted",
    (asked) => ({ type: "model-interrupted", ...asked }),
    Effect.void
  )

/** Removes invalid usage from an attempt that broke off. */
export const countable = (state: Attempting, spent: Attempting["spent"]): Attempting => ({
  ...state,
  spent: sound(spent, state.request, spent.content ?? [])
})

/** Books an attempt and emits its end in one step: an interruption in between would leave one without the other. */
export const book = <A, E>(
  call: Calling,
  state: Attempting,
  outcome: Ledger.Entry["outcome"],
  make: (asked: ModelAttempt) => Happening,
  next: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const { attempts, model, shown } = state
  const record = () => {
    const entry = RunBudget.entryOf(call.options, state, outcome)
    call.state = { type: "Idle", attempts, shown }
    call.options.run.ledger.record(entry)
    return entry
  }
  return RunContext.record(
    call.options.run,
    record,
    (entry) => make({ model: model.name, attempt: attempts, entry }),
    () => next
  )
}
