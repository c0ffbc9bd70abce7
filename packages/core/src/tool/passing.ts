/** What the decision of an approval gate means for its call. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { canonical } from "../data/Digest.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import * as Render from "../recovery/Render.ts"
import { deny, pass, start, suspend } from "./attempt.ts"
import * as Call from "./call.ts"
import { admitted, type Decoded, repaired, type Through, type ToolCall, unread, waiting } from "./callState.ts"
import type { CallAtGate } from "./ToolDefinition.ts"

/** Sends a call through a gate: it waits for the decision, and runs, is denied, or is suspended with its run. */
export const through: Through = (self, state, gate) => {
  const { entry, site } = self
  const { decoded, edited } = state
  const waiting: CallAtGate["waiting"] = (decided) => wait(self, state, decided)
  return Effect.flatMap(gate.pass({ tool: entry.tool, site, decoded, edited, waiting }), (passed) => {
    if ("request" in passed) {
      // the run is suspended until a decision comes: this call is neither settled nor failed
      suspend(self, state, passed)
      return Effect.fail(passed.request)
    }
    if ("expired" in passed) return Effect.fail(passed.expired)
    const { decision } = passed
    // every decision except an approval refuses the call, even a value of another type, since the JSON may not have been decoded
    if (decision.type !== "approve") {
      const reason = decision.type === "result" ? Render.notFailed : String(decision.reason)
      return deny(self, ToolDeniedError.make({ tool: entry.tool.name, callId: site.call.id, reason }))
    }
    return decision.arguments === undefined ? start(self, admitted(state)) : edit(self, state, decision.arguments)
  })
}

/** Puts the call in the state `Waiting` until the decision comes: it has no attempt at work meanwhile. */
const wait = <A>(self: ToolCall, state: Decoded, decided: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    self.state = waiting(state)
    return Effect.map(decided, (decision) => {
      self.state = state
      return decision
    })
  })

/** Decodes the arguments that the approver has edited. They pass every gate again, except the approval. */
const edit = (self: ToolCall, state: Decoded, args: Schema.Json): Effect.Effect<unknown, unknown> =>
  Call.decode(self.entry.tool, { ...self.site.call, arguments: args }, (read) => {
    if (Result.isFailure(read)) {
      self.state = unread(state, args)
      return Effect.fail(read.failure)
    }
    const now = repaired(state, args, read.success, canonical(read.success.json))
    self.state = now
    return pass(self, now)
  })
