/** How a call asks a person: it emits events, ends if a message withdraws the request, and lets an interceptor record the step. */
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Asks } from "../recovery/Deciding.ts"

export const asksOf = (run: RunContext.RunContext): Asks => ({
  emit: (event) => RunContext.emit(run, event),
  untilWithdrawn: (self) => run.tree.inbox?.during(run, "request", self) ?? self,
  isWithdrawn: () => run.meter.withdraws,
  withdraw: (digest) => run.tree.inbox?.withdraw(digest),
  step: Interception.step
})
