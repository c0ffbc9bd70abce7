/** A call of a name that is no tool: told by default, with what there is; the defaults of an agent may have a row for it. */
import * as Redaction from "../data/Redaction.ts"
import * as Effect from "effect/Effect"
import * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import { ToolExecutionError, UnknownToolError } from "../errors/ToolError.ts"
import { type Outcome, wishOf } from "./outcome.ts"
import { nothing } from "../recovery/RecoverEffect.ts"
import type { CallSite } from "./CallSite.ts"
import * as Driver from "../recovery/Driver.ts"
import { rendered } from "./rendering.ts"
import { trailOf } from "../recovery/Decisions.ts"

/** The row's key: only the defaults of an agent have it. */
const key = "UnknownToolError"

export const settle = (
  known: ReadonlyArray<string>,
  rows: Recovery.Rows,
  { call, history, run }: CallSite
): Effect.Effect<Outcome> => {
  const byDefault = Render.unknownTool(call.name, known)
  const verdict = rows.get(key)
  if (verdict === undefined) return told(call, run, byDefault)
  const error = UnknownToolError.of(call.name, call.id, known)
  const unknownTool = FailureHistory.unknownTool
  return Driver.drive<never, Outcome, never, never>({
    attempt: () => Effect.fail(error),
    row: () => ({ key, verdict, seen: error }),
    about: () => ({
      ...nothing,
      tool: call.name,
      callId: call.id,
      arguments: call.arguments,
      failingBatches: history.failingBatches,
      failuresInARow: history.failuresInARow(unknownTool)
    }),
    left: () => RunContext.left(run),
    deadline: () => RunContext.deadline(run),
    admits: () => false,
    fix: () => Effect.succeed({ type: "skipped" }),
    observe: (decision) =>
      RunContext.emit(run, () => ({ type: "verdict", layer: "tool", callId: call.id, tool: call.name, ...decision })),
    succeed: () => told(call, run, byDefault),
    end: (ending, trace) => {
      if (ending.type === "told") {
        const isLast = wishOf(ending.afterwards)
        return Effect.flatMap(
          rendered(ending, run, () => byDefault),
          (text) => told(call, run, text, trace, isLast)
        )
      }
      if (ending.type === "escalated") {
        return told(call, run, Render.escalation(call.name, byDefault, ending.severity), trace)
      }
      if (ending.type !== "raised") return told(call, run, byDefault, trace)
      const { failures: attempts, trail } = trace
      const fields = { tool: call.name, callId: call.id, message: error.message, attempts, cause: error }
      return Effect.succeed({
        settlement: { kind: "told", text: Redaction.own(byDefault) },
        failure: { error: new ToolExecutionError({ ...fields, trail: trailOf(trail) }), isOurs: true },
        settled: { tool: unknownTool, isError: true }
      })
    }
  })
}

const told = (
  call: Message.ToolCall,
  run: RunContext.RunContext,
  text: string,
  trace?: Driver.Trace,
  wantsToolsOff?: boolean
): Effect.Effect<Outcome> => {
  const settlement: Message.Settlement = { kind: "told", text: Redaction.own(text) }
  const signature = FailureHistory.signatureOf(key, call.name)
  return Effect.as(
    RunContext.emit(run, () => ({ type: "tool-refused", callId: call.id, tool: call.name, settlement })),
    {
      settlement,
      settled: {
        tool: FailureHistory.unknownTool,
        isError: true,
        signature,
        ...(wantsToolsOff === undefined ? {} : { wantsToolsOff })
      },
      ...(trace === undefined ? {} : { trail: trace.trail })
    }
  )
}
