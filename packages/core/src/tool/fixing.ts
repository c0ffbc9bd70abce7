/** A fixer at work on a call: as a part of its run, with what its answers and its failures mean there. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { DeserializationError, EscalationError, ToolExecutionError } from "../errors/ToolError.ts"
import { helping } from "../event/Helping.ts"
import type * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import type { Broken, Fix, FixEvent, Fixed, FixRound } from "../recovery/Node.ts"
import * as Render from "../recovery/Render.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

interface Call {
  readonly tool: ToolDefinition
  readonly callId: string
  readonly raw: string
  readonly run: RunContext.RunContext
  /** Takes an answer as the new arguments; gives the error of one that does not decode. */
  readonly accept: (answer: string) => Effect.Effect<unknown>
}

export const broken = ({ as, fixer }: Fix, seen: unknown, round: FixRound, call: Call): Broken => {
  const { accept, callId, raw, run, tool } = call
  const at = { callId, tool: tool.name, round: round.run }
  const repairing = { error: seen, attempts: round.context.attempt }
  const { within, ...others } = helping<FixEvent>(fixer, run, { repairing }, (event) => ({ ...event, ...at }))
  return {
    tool,
    raw,
    messageOf: Render.messageOf,
    helping: {
      ...others,
      within: (start) => within(() => Interception.step(() => ({ kind: "fixer run", ...at }), start))
    },
    take: (answer) =>
      as === "result"
        ? Effect.succeed(asResult(answer, tool, callId))
        : Effect.map(accept(answer), (error): Fixed => (error === undefined ? { type: "repaired" } : next(error))),
    ended
  }
}

const asResult = (answer: string, { decodeResult, name }: ToolDefinition, callId: string): Fixed => {
  const decoded = decodeResult(answer)
  if (Result.isSuccess(decoded)) return { type: "answered", value: decoded.success }
  const known = { tool: name, callId, rawValue: answer, targetType: `${name} result`, issues: decoded.failure }
  return next(DeserializationError.misfit(`The answer of the fixer does not fit the result of tool '${name}'`, known))
}

/** The answer itself is what fails now. */
const next = (error: unknown): Fixed => ({ type: "failed", error, next: error })

/** An escalation is told, a hard failure ends the call; anything else is one failed run. */
const ended = (error: unknown): Fixed => {
  if (error instanceof EscalationError) return { type: "escalated", reason: error.reason, severity: error.severity }
  if (error instanceof ToolExecutionError) return { type: "fatal", error }
  return { type: "failed", error }
}
