/** The tool calls of a reply: how many of them may run, and what their settlements mean for the run. */
import * as Effect from "effect/Effect"
import type * as Budget from "../budget/Budget.ts"
import { end, Exceeded } from "../budget/Meter.ts"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import { trailOf } from "../recovery/Decisions.ts"
import { type Batch, settleAll } from "./batch.ts"
import * as Beginning from "./beginning.ts"
import * as RunBudget from "./budget.ts"
import { isCheckpoint, suspend } from "./checkpoint.ts"
import type { Replied } from "./modelCall.ts"
import { close, read } from "./rereading.ts"
import type { End, Looping } from "./running.ts"
import type { Admission } from "./state.ts"

/** Settles the calls of a reply. The run ends with a failure that no table handles, and with the value of a built-in tool. */
export const settle = (running: Looping, { calls, reply }: Replied): Effect.Effect<End, unknown> =>
  Effect.flatMap(admit(running, calls), (admission) => {
    const { run } = running
    return settleAdmitted(running, reply, admission, admission.isOver ? RunBudget.callsExceeded(run) : undefined)
  })

/** The first step of a run that goes on: the answer with which its conversation ends, if it fits, or the calls that were open. */
export const resume = (running: Looping): Effect.Effect<End, unknown> => {
  const { beginning, run, start, state } = running
  const open = beginning.from?.open
  if (open !== undefined) {
    const wanted = Math.min(Message.callsOf(open.reply).length, open.inARow)
    return settleAdmitted(running, open.reply, open, open.admitted < wanted ? RunBudget.callsExceeded(run) : undefined)
  }
  const said = Beginning.answeredBy(start, beginning.from, state.messages)
  if (said === undefined) return Effect.undefined
  state.partial = said
  return read(running)
}

const admit = (
  { run, state }: Looping,
  calls: ReadonlyArray<Message.ToolCall>
): Effect.Effect<Admission & { readonly isOver: boolean }> => {
  const inARow = state.inARow(calls)
  const wasOff = state.history.isToolsOff
  return Effect.gen(function* () {
    const admitted = yield* RunBudget.takeCalls(run, calls.length)
    yield* RunBudget.warn(run)
    return { admitted: Math.min(admitted, inARow), inARow, wasOff, isOver: admitted < calls.length }
  })
}

const settleAdmitted = (
  running: Looping,
  reply: Message.Reply,
  admission: Admission,
  tooMany: Exceeded | undefined
): Effect.Effect<End, unknown> => {
  const { admitted, inARow, wasOff } = admission
  running.state.admission = { admitted, inARow, wasOff }
  return Effect.flatMap(settleAll(running, reply, admitted), (batch): Effect.Effect<End, unknown> => {
    const { failure, isWaiting } = batch
    if (isWaiting && failure === undefined) return Effect.map(suspend(running), (value) => ({ value }))
    const { ended } = running.run.meter
    if (ended !== undefined && isCheckpoint(running)) {
      // a failure that no table handles is not lost to a checkpoint
      if (failure !== undefined && !RunContext.isLimit(failure.error)) ended.meter.endWith(undefined)
      // a request for approval is not lost to a limit: the run is suspended
      else if (isWaiting) return Effect.die(ended)
    }
    return Effect.flatMap(close(running, batch.message), () => endOf(running, batch, admission, tooMany))
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
