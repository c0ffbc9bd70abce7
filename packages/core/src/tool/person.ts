/** Asks a person about a failed call, and says what each decision does to the call. The verdict `ask` has the rest. */
import * as Effect from "effect/Effect"
import { ToolDeniedError } from "../errors/ToolError.ts"
import * as Interception from "../model/Interception.ts"
import type { Ask, Fixed, FixRun } from "../recovery/Node.ts"
import { asksOf } from "./asks.ts"
import { accept, suspend } from "./attempt.ts"
import { over, type ToolCall } from "./callState.ts"
import { asResult } from "./fixing.ts"
import * as ToolRun from "./run.ts"

/** Asks a person once about a failed call. */
export const ask = (self: ToolCall, rung: Ask, seen: unknown, fixRun: FixRun): Effect.Effect<Fixed> => {
  const { entry, site } = self
  const { tool } = entry
  const { call, key, run } = site
  return rung.run(rung, seen, fixRun, {
    ...asksOf(run),
    call: self,
    untilDecided: (decided) =>
      Effect.suspend(() => {
        self.isAsked = true
        return Effect.map(Interception.untilDecided(run, decided), (decision) => {
          self.isAsked = false
          return decision
        })
      }),
    lookUp: (verify) =>
      ToolRun.lookUpAlone({ tool, context: { callId: call.id, idempotencyKey: key }, keep: self }, verify),
    change: (fields) => {
      self.state = { ...self.state, ...fields }
    },
    accept: (args) => accept(self, args),
    answer: (answer) => asResult(answer, tool, call.id),
    deny: (reason, text) => {
      const error = ToolDeniedError.make({ tool: tool.name, callId: call.id, reason })
      // Mutant `false` survives: `undefined` is read like no text
      self.state = over(self.state, { type: "denied", error, ...(text === undefined ? {} : { text }) })
    },
    suspend: (request, error) => suspend(self, self.state, { request, ...(error === undefined ? {} : { error }) })
  })
}
