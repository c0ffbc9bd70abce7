/** Results of deferred calls that came after their run went on: they are settled like any call, with the rows of their tools. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redaction from "../data/Redaction.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Render from "../recovery/Render.ts"
import { type CallSite, Slot } from "../tool/CallSite.ts"
import type { Rows } from "../tool/Late.ts"
import * as Toolset from "../tool/Toolset.ts"
import type { Looping } from "./running.ts"

/** Settles such a call at a safe point of its run. A failure that no row handles ends the run. */
export const rowsOf =
  (running: Looping): Rows =>
  (checkpoint, settlement) => {
    const { run, state, start, toolset } = running
    const { arguments: args, callId, callKey, expiresAt, handle, key, progress, token, tool } = checkpoint
    const site: CallSite = {
      call: { type: "tool-call", id: callId, name: tool, arguments: args },
      key,
      run: { ...run, callId, callKey, within: key, repairing: undefined },
      repairing: run.repairing,
      history: state.history,
      before: undefined,
      // the call is settled now: it cannot suspend the run
      isSuspendable: false,
      from: { type: "deferred", arguments: args, token, handle, expiresAt, ...(progress && { progress }) },
      decisions: start.decisions,
      nesting: undefined,
      slot: new Slot(),
      late: { handle, settlement }
    }
    return Effect.flatMap(Toolset.settleLate(toolset, site), (outcome) => {
      const { failure, record } = outcome
      if (record.isError) state.history.record([record], Infinity)
      if (failure === undefined) return Effect.succeed(outcome)
      const { ended } = run.meter
      // Mutants `true`, `false`, `ended !== undefined || RunContext.isLimit(failure.error)` survive: once a limit is reached, the run
      // ends with that limit, however it fails
      return ended !== undefined && RunContext.isLimit(failure.error)
        ? Effect.die(ended)
        : Effect.fail(state.attach(failure, run))
    })
  }

/** The rows of the last turn of a run: each failure is told, and nothing is retried. */
export const telling =
  (running: Looping): Rows =>
  (checkpoint, settlement) => {
    if (settlement !== undefined && Exit.isSuccess(settlement)) return rowsOf(running)(checkpoint, settlement)
    const { tool } = checkpoint
    const kind = running.toolset.entries.get(tool)?.tool.kind
    const error = settlement !== undefined && Exit.isFailure(settlement) ? Cause.squash(settlement.cause) : undefined
    const text = Redaction.own(`ERROR: ${Render.spoken(error, kind)}`)
    return Effect.succeed({ settlement: { kind: "told", text }, record: { tool, isError: true } })
  }
