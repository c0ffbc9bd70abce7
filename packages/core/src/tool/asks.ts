/** How a call asks a person: its events, and the step that an interceptor may take instead. */
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Asks } from "../recovery/Deciding.ts"

export const asksOf = (run: RunContext.RunContext, mayRunTwice: () => boolean = () => false): Asks => ({
  requested: (request) =>
    RunContext.emit(run, () => {
      const { callId, tool } = request
      return { type: "approval-requested", callId, tool, request }
    }),
  decided: ({ callId, tool }, decision) =>
    RunContext.emit(run, () => ({
      type: "approval-decided",
      callId,
      tool,
      decision,
      ...(decision.type === "approve" && mayRunTwice() ? { mayRunTwice: true } : {})
    })),
  untilWithdrawn: (self) => run.tree.inbox?.during(run, "request", self) ?? self,
  step: (request, endsAt, self) => Interception.step(() => ({ kind: "approval", request, ...endsAt }), self)
})
