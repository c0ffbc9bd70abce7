/** The tool calls of a reply: how many of them may run, and what their settlements mean for the run. */
import * as Effect from "effect/Effect"
import type * as Budget from "../budget/Budget.ts"
import { end, Exceeded } from "../budget/Meter.ts"
import * as Message from "../data/Message.ts"
import { type CallCheckpoint, keyOf } from "../event/Checkpoint.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { trailOf } from "../recovery/Decisions.ts"
import type { CallSite, NestingOf, Slot } from "../tool/CallSite.ts"
import type { Capture } from "../tool/ToolDefinition.ts"
import * as Toolset from "../tool/Toolset.ts"
import * as RunBudget from "./budget.ts"
import { isCheckpoint, suspend } from "./checkpoint.ts"
import type { Replied } from "./modelCall.ts"
import type { End, Looping, Running } from "./running.ts"
import type { Admission } from "./state.ts"
import { close } from "./turn.ts"

/** Settles the calls of a reply. The run ends with a failure that no table handles, and with the value of a built-in tool. */
export const settle = (running: Looping, { calls, reply }: Replied): Effect.Effect<End, unknown> =>
  Effect.suspend(() => {
    const { run, state } = running
    const inARow = state.inARow(calls)
    const wasOff = state.history.isToolsOff
    return RunBudget.takeCalls(run, calls.length, (taken) => {
      const tooMany = taken < calls.length ? RunBudget.callsExceeded(run) : undefined
      const admission = { admitted: Math.min(taken, inARow), inARow, wasOff }
      return RunBudget.warn(run, () => settleAdmitted(running, reply, admission, tooMany))
    })
  })

/** Settles the calls that may run; `tooMany` is the limit that forbids the others. */
export const settleAdmitted = (
  running: Looping,
  reply: Message.Reply,
  admission: Admission,
  tooMany: Exceeded | undefined
): Effect.Effect<End, unknown> => {
  running.state.admission = admission
  return Effect.flatMap(settleAll(running, reply, admission.admitted), (batch): Effect.Effect<End, unknown> => {
    const { failure, isWaiting } = batch
    if (isWaiting && failure === undefined) return Effect.map(suspend(running), (value) => ({ value }))
    const { ended } = running.run.meter
    if (ended !== undefined && isCheckpoint(running)) {
      // a failure that no table handles is not lost to a checkpoint
      if (failure !== undefined && !RunContext.isLimit(failure.error)) ended.meter.endWith(undefined)
      // a request for approval is not lost to a limit: the run is suspended
      else if (isWaiting) return Effect.die(ended)
    }
    return close(running, batch.message, () => endOf(running, batch, admission, tooMany))
  })
}

/** What the run ends with once all calls are settled, if it ends. */
const endOf = (
  { plan: { budget }, run, state }: Looping,
  batch: Batch,
  { inARow, wasOff }: Admission,
  tooMany: Exceeded | undefined
): Effect.Effect<End, unknown> => {
  const { ended } = run.meter
  if (ended !== undefined) return Effect.die(ended)
  if (batch.failure !== undefined) return Effect.fail(state.attach(batch.failure, run))
  if (batch.output !== undefined) return Effect.succeed(batch.output)
  if (tooMany !== undefined) return end(tooMany)
  if (inARow < batch.calls) {
    const limit = budget.maxConsecutiveSameTool
    return end(new Exceeded(run.meter, "maxConsecutiveSameTool", limit, limit + 1))
  }
  // a model that calls tools although there are none is called once more
  if (wasOff && ++state.callsWhileOff > 1) return end(new Exceeded(run.meter, "toolsOff", 1, state.callsWhileOff))
  const repeated = state.history.record(batch.outcomes.map(({ settled }) => settled))
  return repeated === undefined ? Effect.undefined : end(repeatedFailure(budget, repeated, batch, run))
}

/** One tool failed too often in the same way: what was decided about its last failures comes along. */
const repeatedFailure = (
  { repeatedFailures }: Budget.Budget,
  { repeats, tool }: { readonly tool: string; readonly repeats: number },
  { outcomes }: Batch,
  run: RunContext.RunContext
): Exceeded => {
  const last = outcomes.filter(({ settled }) => settled.tool === tool).flatMap(({ trail }) => trail ?? [])
  return new Exceeded(run.meter, "repeatedFailure", repeatedFailures.stop, repeats, trailOf(last))
}

/** The calls of a reply, all settled, in the model's order, unless some wait. `failure` ends the run, and so does `output`. */
interface Batch {
  readonly message: Message.Assistant
  /** How many calls there are. */
  readonly calls: number
  readonly outcomes: ReadonlyArray<Toolset.Outcome>
  /** Whether some of them wait: the batch is not over. */
  readonly isWaiting: boolean
  readonly failure?: Toolset.Failure
  readonly output?: Toolset.Output | undefined
}

/**
 * Settles the calls of a reply. When one of them ends the run, the others still end as they would have, or are interrupted, as
 * `siblings` says; a defect interrupts them. Calls beyond those that are `admitted` are not run.
 */
const settleAll = (running: Looping, reply: Message.Reply, admitted: number): Effect.Effect<Batch> => {
  const { plan, run, state, toolset } = running
  const sites = Message.callsOf(reply).map((call, index) => siteOf(running, call, index))
  const over = (found: Pick<Batch, "outcomes" | "isWaiting"> & Partial<Batch>): Effect.Effect<Batch> => {
    const batch = { message: Message.settle(reply, state.settlements()), calls: sites.length, ...found }
    const isOpen = batch.isWaiting && batch.failure === undefined
    return isOpen ? Effect.succeed(batch) : skipped(sites, run, Effect.succeed(batch))
  }
  if (reply.finish === "length" || reply.finish === "filtered") {
    for (const { slot } of sites) slot.settlement = Message.truncated
    return over({ outcomes: [], isWaiting: false })
  }
  // a built-in tool ends the run: it is settled first, and alone
  const builtIn = sites.find(({ call }) => Toolset.isBuiltIn(toolset, call))
  const started = builtIn === undefined ? sites.slice(0, admitted) : [builtIn]
  const { toolConcurrency: concurrency } = plan.budget
  const isCutShort = plan.siblings === "interrupt" && started.length > 1
  const settleOne = (site: CallSite, offset: number): Effect.Effect<Toolset.Outcome, Ended> => {
    const settled = inTurn(toolset, site, offset, concurrency)
    return isCutShort ? Effect.flatMap(settled, endedBy) : settled
  }
  const [first, ...others] = started
  const settled =
    first !== undefined && others.length === 0
      ? Effect.map(settleOne(first, 0), (outcome) => [outcome])
      : Effect.forEach(started, settleOne, { concurrency })
  return Effect.matchEffect(settled, {
    onSuccess: (outcomes) => {
      const failures = outcomes.flatMap(({ failure }) => failure ?? [])
      // a limit that was reached is known anyhow
      const failure = failures.find(({ error }) => !RunContext.isLimit(error)) ?? failures[0]
      const isWaiting = outcomes.some((outcome) => outcome.checkpoint !== undefined)
      if (failure === undefined) return over({ outcomes, isWaiting, output: outcomes[0]?.output })
      // no decision is asked for any more
      for (const { slot } of sites) slot.isBegun &&= slot.checkpoint === undefined
      return over({ outcomes, isWaiting, failure })
    },
    onFailure: ({ failure }) => over({ outcomes: [], isWaiting: false, failure })
  })
}

const siteOf = (running: Looping, call: Message.ToolCall, index: number): CallSite => {
  const { mode, run, start, state } = running
  // call ids repeat over turns, and with some models within one
  const key = keyOf(run.runId, run.turn(), index)
  const from = callOf(running, index)
  // there is one for each call
  const slot = state.slots[index] as Slot
  return {
    call,
    key,
    run: { ...run, callId: call.id, callKey: key },
    history: state.history,
    isSuspendable: mode.isSuspendable,
    from,
    decisions: start.kind === "input" ? undefined : start.decisions,
    nesting: nestingOf(running, slot, from),
    slot
  }
}

/** Where a call of the present turn goes on. */
const callOf = ({ beginning: { from }, state }: Running, index: number): CallCheckpoint | undefined => {
  const call = from?.turn === state.turn ? from.open?.calls[index] : undefined
  return call?.type === "settled" ? undefined : call
}

/** How the sub-agent of a call is suspended with the run, and goes on with it. */
const nestingOf = (
  { mode, run, start }: Running,
  slot: Slot,
  from: CallCheckpoint | undefined
): NestingOf | undefined => {
  const { isSuspendable } = mode
  if (!isSuspendable && from?.type !== "agent") return undefined
  const above = [run.meter, ...(mode.nesting?.above ?? [])]
  return (from, checkpointOf) => {
    const started = (capture: Capture) => {
      const checkpoint: Slot["checkpoint"] = (now) => {
        const snapshot = capture(now)
        return snapshot && checkpointOf(snapshot)
      }
      slot.checkpoint = checkpoint
    }
    const resumption = from === undefined || start.kind === "input" ? undefined : { from, decisions: start.decisions }
    return { isSuspendable, above, resumption, started }
  }
}

/** Settles one call when its turn has come; one that was settled before the run was suspended is over. */
const inTurn = (
  toolset: Toolset.Toolset,
  site: CallSite,
  offset: number,
  concurrency: number
): Effect.Effect<Toolset.Outcome> => {
  const settling = Effect.suspend(() => {
    const { call, run, slot } = site
    const { ended } = run.meter
    // the run is over: no further call begins
    if (ended !== undefined) return Effect.succeed(notBegun(call, ended))
    slot.isBegun = true
    if (slot.settlement !== undefined) {
      const { settled = Toolset.settledAs(call, slot.settlement), settlement } = slot
      return Effect.succeed({ settlement, settled })
    }
    slot.settlement = Message.interrupted
    return Effect.map(Toolset.settle(toolset, site), (outcome) => {
      slot.settlement = outcome.settlement
      slot.settled = outcome.settled
      const { checkpoint } = outcome
      slot.checkpoint = checkpoint && (() => checkpoint)
      return outcome
    })
  })
  if (offset < concurrency) return settling
  const waited = Effect.andThen(Interception.turn(site.key), settling)
  // `forEach` knows of a call that waited for its turn only once that waits for something: an interruption of the run that comes
  // from within the call would miss it
  // Mutants `true`, `concurrency >= 1` survive: only a yield more. One at a time, `forEach` runs the calls in the
  // fiber of the run
  return concurrency > 1 ? Effect.andThen(Effect.yieldNow, waited) : waited
}

const notBegun = ({ name: tool }: Message.ToolCall, error: unknown): Toolset.Outcome => ({
  settlement: Message.notRun,
  failure: { error, isOurs: true },
  settled: { tool, isError: false }
})

/** Emits the calls that were not run, and goes on with `next`. */
const skipped = (
  sites: ReadonlyArray<CallSite>,
  run: RunContext.RunContext,
  next: Effect.Effect<Batch>
): Effect.Effect<Batch> =>
  sites.reduceRight((next, { call: { id: callId, name: tool }, slot: { isBegun, settlement = Message.notRun } }) => {
    if (isBegun) return next
    const emitted = RunContext.emit(run, () => ({ type: "tool-skipped", callId, tool, settlement }))
    return Effect.andThen(emitted, next)
  }, next)

/** A batch that is over before all of its calls are. */
interface Ended {
  readonly failure: Toolset.Failure
}

const endedBy = (outcome: Toolset.Outcome): Effect.Effect<Toolset.Outcome, Ended> =>
  outcome.failure === undefined ? Effect.succeed(outcome) : Effect.fail({ failure: outcome.failure })
