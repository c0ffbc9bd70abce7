/** The attempts of a tool with `Tool.around`. */
import * as Effect from "effect/Effect"
import { OutcomeUnknownError } from "../errors/ToolError.ts"
import { Attempts } from "../recovery/Attempts.ts"
import { emitFailure, runOnce } from "./attempt.ts"
import { admitted, isCleared, over, type Surrounded, type ToolCall } from "./callState.ts"
import { Waits } from "./CallSite.ts"
import * as ToolRun from "./run.ts"

type Attempt = Effect.Effect<unknown, unknown>

/** Counts the attempts of the user's function, and runs it. */
export const surrounded: Surrounded = {
  tries: () => new Attempts(),
  start: (self, state, tries) => {
    const { entry, site } = self
    const { around, name } = entry.tool
    const each = tries.each({
      attempt: (count) =>
        emitFailure(self, count, () =>
          // Mutant `true` survives: the first attempt begins in this state, too
          plain(self, runOnce(self, self.state.type === "Running" ? admitted(self.state) : state))
        ),
      isPassing: (error) => error instanceof Waits || error instanceof ToolRun.Unverifiable,
      capped: () => {
        self.state = over(self.state, { type: "capped" })
      }
    })
    const refusal = () =>
      self.state.type === "Running" && isCleared(self.state)
        ? undefined
        : OutcomeUnknownError.make({ tool: name, callId: site.call.id, idempotencyKey: site.key })
    // Mutant `around(each, refusal)` survives: a tool that is surrounded has this function
    return tries.run(around?.(each, refusal) ?? each)
  }
}

/** Gives `Tool.around` the plain result. A result that `verify` has found is unwrapped, and the call notes that it was found. */
const plain = (self: ToolCall, ran: Attempt): Attempt =>
  Effect.map(ran, (value) => {
    self.wasFound = value instanceof ToolRun.Found
    return ToolRun.resultOf(value)
  })
