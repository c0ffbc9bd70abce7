/** Settles a call of an unknown tool. The model is told the names of the tools, unless the defaults of the agent have a row for this. */
import * as Redaction from "../data/Redaction.ts"
import * as Effect from "effect/Effect"
import * as FailureHistory from "../budget/FailureHistory.ts"
import type * as Message from "../data/Message.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import { ToolExecutionError, UnknownToolError } from "../errors/ToolError.ts"
import { textFor, wishOf } from "./endings.ts"
import type { Outcome } from "./outcome.ts"
import type { CallSite } from "./CallSite.ts"
import * as Driver from "../recovery/Driver.ts"
import type { Trace } from "../recovery/Layer.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import type { Rows } from "../recovery/Node.ts"

/** The key of the row for unknown tools. Only the defaults of an agent may have this row. */
const key = "UnknownToolError"

export const settle = (
  available: ReadonlyArray<string>,
  rows: Rows,
  { call, history, run }: CallSite
): Effect.Effect<Outcome> => {
  const byDefault = Render.unknownTool(call.name, available)
  const tell = (text: string, trace?: Trace, wantsToolsOff?: boolean): Effect.Effect<Outcome> => {
    const settlement: Message.Settlement = { kind: "told", text: Redaction.own(text) }
    const signature = FailureHistory.signatureOf(key, call.name)
    const wish = wantsToolsOff === undefined ? {} : { wantsToolsOff }
    return Effect.as(
      RunContext.emit(run, () => ({ type: "tool-denied", callId: call.id, tool: call.name, settlement })),
      {
        settlement,
        record: { tool: FailureHistory.unknownTool, isError: true, signature, ...wish },
        ...(trace === undefined ? {} : { trail: trace.trail })
      }
    )
  }
  const verdict = rows.get(key)
  if (verdict === undefined) return tell(byDefault)
  const error = UnknownToolError.make({ tool: call.name, callId: call.id, available })
  const about = {
    tool: call.name,
    callId: call.id,
    arguments: call.arguments,
    failingBatches: history.failingBatches,
    failuresInARow: history.failuresInARow(FailureHistory.unknownTool)
  }
  return Driver.drive<never, Outcome, never, never>(() => ({
    attempt: () => Effect.fail(error),
    row: () => ({ key, verdict, seen: error, about, admits: () => false }),
    repairs: {},
    bounds: RunContext.bounds(run),
    observe: (decision) =>
      RunContext.emit(run, () => ({ type: "verdict", layer: "tool", callId: call.id, tool: call.name, ...decision })),
    end: {
      succeeded: () => tell(byDefault),
      answered: (_, trace) => tell(byDefault, trace),
      left: (_, trace) => tell(byDefault, trace),
      toModel: (ending, trace) => {
        const text = textFor(ending, run, ending.byDefault ?? (() => byDefault))
        return Effect.flatMap(text, (said) => tell(said, trace, wishOf(ending.afterwards)))
      },
      escalated: ({ severity }, trace) => tell(Render.escalation(call.name, byDefault, severity), trace),
      raised: (_, { failures: attempts, trail }) => {
        const fields = { tool: call.name, callId: call.id, message: error.message, attempts, cause: error }
        const outcome: Outcome = {
          settlement: { kind: "told", text: Redaction.own(byDefault) },
          failure: { error: new ToolExecutionError({ ...fields, trail: trailOf(trail) }), isOurs: true },
          record: { tool: FailureHistory.unknownTool, isError: true }
        }
        return RunContext.halt(run, () => Effect.succeed(outcome))
      }
    }
  }))
}
