/** Runs a fixer on a failed call, and says what its answers and failures mean for the call. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { DeserializationError, EscalationError, ToolExecutionError } from "../errors/ToolError.ts"
import { helping } from "../event/Helping.ts"
import * as Interception from "../model/Interception.ts"
import type { Broken, Fix, FixEvent, Fixed, FixRun } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"
import { accept } from "./attempt.ts"
import { rawText } from "./call.ts"
import type { ToolCall } from "./callState.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

/** Runs a fixer once around a failed call. */
export const fix = (self: ToolCall, rung: Fix, seen: unknown, repair: FixRun): Effect.Effect<Fixed> =>
  rung.run(rung, seen, repair, broken(self, rung, seen, repair))

const broken = (self: ToolCall, rung: Fix, seen: unknown, repair: FixRun): Broken => {
  const { entry, site, state } = self
  const { tool } = entry
  const { call, run } = site
  const at = { callId: call.id, tool: tool.name, repair: repair.run }
  const repairing = { error: seen, attempts: repair.context.attempt }
  const { within, ...others } = helping<FixEvent>(rung.fixer, run, { repairing }, (event) => ({ ...event, ...at }))
  return {
    tool,
    raw: state.draft?.rung === rung ? state.draft.text : rawText(state.args),
    messageOf: Render.messageOf,
    helping: {
      ...others,
      within: (start) => within(() => Interception.step(() => ({ type: "fixer run", ...at }), start))
    },
    take: (answer) =>
      rung.as === "result"
        ? Effect.succeed(asResult(answer, tool, call.id))
        : Effect.map(accept(self, answer, rung), (error): Fixed =>
            error === undefined ? { type: "repaired" } : next(error)
          ),
    ended: (error) => ended(error, repair.error)
  }
}

/** Decodes an answer that replaces the result of the tool. */
export const asResult = (
  answer: Parameters<ToolDefinition["decodeResult"]>[0],
  { decodeResult, name }: ToolDefinition,
  callId: string
): Fixed => {
  const decoded = decodeResult(answer)
  const isOfFixer = Predicate.isString(answer)
  if (Result.isSuccess(decoded)) return { type: "answered", value: decoded.success, by: isOfFixer ? "fix" : "ask" }
  const [whose, rawValue] = isOfFixer ? ["the fixer", answer] : ["a person", answer.value]
  const fields = { tool: name, callId, rawValue, targetType: `${name} result`, issues: decoded.failure }
  return next(
    DeserializationError.make({ what: `The answer of ${whose} does not fit the result of tool '${name}'`, ...fields })
  )
}

/** The answer did not decode: its error is the next failure to recover from. */
const next = (error: unknown): Fixed => ({ type: "failed", error, next: error })

/**
 * What a failure of a fixer means. An escalation is told to the model, a hard failure ends the call, and any other failure is one failed
 * run of the fixer.
 */
const ended = (error: unknown, repaired: unknown): Fixed => {
  if (error instanceof EscalationError)
    return { type: "escalated", reason: error.reason, severity: error.severity, by: "fix", error: repaired }
  // Mutant `""` survives: it is only told apart from `exhausted`
  if (error instanceof ToolExecutionError) return { type: "left", why: "failed", error }
  return { type: "failed", error }
}
