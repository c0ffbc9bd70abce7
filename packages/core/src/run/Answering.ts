/** `Budget.answer`: the last turn of a run that has reached a limit, in which no tool is called. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Budget from "../budget/Budget.ts"
import { Meter } from "../budget/Meter.ts"
import type { Priced } from "../budget/Price.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import { EmptyReplyError } from "../errors/LlmError.ts"
import type { Trail } from "../errors/Trail.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Model from "../model/Model.ts"
import { leavesOf } from "../model/ModelCall.ts"
import { untouchable } from "../recovery/Layer.ts"
import * as Render from "../recovery/Render.ts"
import { trailOf } from "../recovery/VerdictTrail.ts"
import * as RunBudget from "./budget.ts"
import { cancelled, hear } from "./hearing.ts"
import { telling } from "./late.ts"
import { callModel } from "./modelCall.ts"
import type { Asked, Replied } from "./modelCallState.ts"
import type { Loop, Looping } from "./running.ts"
import { Suspension } from "./Start.ts"
import { close, offered, read, usualRequest } from "./turn.ts"

/** What is kept of the limits of tokens and cost for the answer: the input of the last reply, and these. */
interface Reserve {
  readonly outputTokens: number
}

/** The same loop, which has a last turn where `Budget.answer` was decided about a limit of the run. */
export const answering =
  (reserve: Reserve | undefined) =>
  (loop: Loop): Loop =>
  (running) =>
    Effect.suspend(() => {
      running.run.meter.reserve = reserving(running, reserve)
      return Effect.matchCauseEffect(loop(running), {
        onSuccess: (value) => (value instanceof Suspension ? undefined : answered(running)) ?? Effect.succeed(value),
        // no answer takes the place of a failure, a defect or an interruption
        onFailure: (cause) =>
          (!Cause.hasInterrupts(cause) && RunContext.isLimit(Cause.squash(cause)) ? answered(running) : undefined) ??
          Effect.failCause(cause)
      })
    })

/** What the answer would spend, by the last reply of the run; nothing before there is one. */
const reserving =
  ({ model, run }: Looping, reserve: Reserve | undefined): Meter["reserve"] =>
  (reason) => {
    if (reserve === undefined) return 0
    const last = run.ledger.entries.findLast(({ outcome, runId }) => runId === run.runId && outcome === "used")
    if (last === undefined) return 0
    const inputTokens = last.usage.inputTokens - (last.resent?.inputTokens ?? 0)
    const usage = Usage.make({ inputTokens, outputTokens: reserve.outputTokens })
    return reason === "maxTokens" ? Usage.total(usage) : (run.meter.costOf(leafOf(model, last.model), usage) ?? 0)
  }

const leafOf = (model: Model.Service, name: string): Priced =>
  leavesOf(model).find((leaf) => leaf.name === name) ?? { name }

/** The last turn, if it was decided about the limit that has ended this run. */
const answered = (running: Looping): Effect.Effect<unknown, unknown> | undefined => {
  const { run, state } = running
  const { ended } = run.meter
  if (ended?.meter !== run.meter || run.meter.actionAt(ended.reason) !== "answer") return undefined
  if (state.unhandled !== undefined) return undefined
  const last = { ...running, plan: { ...running.plan, outputRetries: 0 }, run: { ...run, meter: meterOf(run.meter) } }
  const before = state.partial
  const turn = whenClosed(last, () => lastTurn(last))
  return RunContext.within(
    last.run,
    Effect.matchCauseEffect(turn, {
      onSuccess: (value) => {
        state.endedBy = { reason: ended.reason, limit: ended.limit }
        return Effect.succeed(value)
      },
      onFailure: (cause) => {
        const failed = failuresOf(cause, last)
        if (failed === undefined) {
          // an interruption, a defect, or the limit of an ancestor
          state.endedBy = { reason: ended.reason, limit: ended.limit }
          return Effect.failCause(cause)
        }
        if (state.partial === "") state.partial = before
        ended.because = { ...ended.because, trail: [...(ended.because?.trail ?? []), ...failed] }
        return Effect.die(ended)
      }
    })
  )
}

/** Of the limits of the run, its time alone is left; those of its ancestors hold, also for this turn. */
const meterOf = ({ agent, ledger, limits: { maxDuration }, ownDeadline, parent, prices }: Meter): Meter => {
  const began = maxDuration === Infinity ? 0 : ownDeadline - maxDuration
  return new Meter(agent, { ...Budget.unlimited, maxDuration, prices }, ledger, began, 0, parent)
}

/**
 * Closes what is open, and goes on with `next`; a reply that is an answer already is the output. Calls that have not begun are not run.
 * The work of deferred calls that wait is cancelled. This is the place for what else may be open when a run ends at a limit: requests to
 * withdraw.
 */
const whenClosed = (running: Looping, next: () => Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> => {
  const { plan, run, state } = running
  const { reply } = state
  const withdrawn = withdrawing(running)
  if (reply === undefined) return Effect.andThen(withdrawn, Effect.suspend(next))
  const calls = Message.callsOf(reply)
  const skipped = Effect.forEach(
    calls.filter((_, index) => state.slots[index]?.isBegun !== true),
    ({ id: callId, name: tool }) =>
      RunContext.emit(run, () => ({ type: "tool-skipped", callId, tool, settlement: Message.notRun })),
    { discard: true }
  )
  state.finish = reply.finish
  const fits =
    plan.output === undefined || (reply.finish !== "length" && Result.isSuccess(plan.output.read(state.partial)))
  const isAnswer = calls.length === 0 && reply.finish !== "paused" && state.partial !== "" && fits
  const message = Message.settle(reply, state.settlements())
  return Effect.andThen(
    Effect.andThen(skipped, withdrawn),
    Effect.suspend(() => close(running, message, () => (isAnswer ? valueOf(running) : next())))
  )
}

/** Cancels the work of the deferred calls that wait. */
const withdrawing = (running: Looping): Effect.Effect<void> =>
  Effect.andThen(
    running.state.late?.withdraw ?? Effect.void,
    Effect.forEach(running.state.slots, (slot) => cancelled(running, slot), { discard: true })
  )

const lastTurn = (running: Looping): Effect.Effect<unknown, unknown> => {
  const { run, state } = running
  const begin = () => {
    const message = Message.user(Render.lastTurn)
    state.turn++
    state.finish = undefined
    state.add(message)
    return message
  }
  // the model reads what has come and what was said before the message of the run
  const heard = hear(running, telling) ?? Effect.void
  const answering = RunBudget.takeTurn(run, () =>
    RunContext.record(
      run,
      begin,
      (message) => ({ type: "turn-start", answerTurn: true, message }),
      () => {
        const usual = usualRequest(running)
        const { prepare } = running
        const once: typeof callModel = (running, request) => callModel(running, request, true)
        return prepared(running, usual).pipe(
          Effect.flatMap((request) => prepare?.through(running, request, once) ?? once(running, request)),
          // no message interrupts a model that is asked once
          Effect.flatMap((called) => (called.type === "interrupted" ? Effect.interrupt : taken(running, called)))
        )
      }
    )
  )
  return Effect.andThen(heard, answering)
}

/** The request of the last turn. */
const prepared = (running: Looping, usual: Model.Request): Effect.Effect<Model.Request, unknown> => {
  // the tools stay: without them, what the provider has kept of the conversation would not fit
  const allowed = (request: Model.Request) =>
    offered(running, request.tools.length === 0 ? request : { ...request, toolChoice: "none" })
  const { prepare } = running
  return prepare === undefined ? allowed(usual) : Effect.flatMap(prepare.ask(running, usual, true), allowed)
}

/** The output of the last turn. */
const taken = (
  running: Looping,
  called: Exclude<Asked, { readonly type: "interrupted" }>
): Effect.Effect<unknown, unknown> => {
  if (called.type === "answered") return Effect.succeed(called.value)
  const { plan, run, state } = running
  const { calls, reply } = called
  state.finish = reply.finish
  const settlements = calls.map(({ name }): Message.Settlement => ({
    kind: "denied",
    text: Render.denied(name, Render.atLimit)
  }))
  const refused = Effect.forEach(
    calls.entries(),
    ([index, { id: callId, name: tool }]) =>
      RunContext.emit(run, () => ({
        type: "tool-denied",
        callId,
        tool,
        settlement: settlements[index] as Message.Settlement
      })),
    { discard: true }
  )
  const isSilent = state.partial === "" && (calls.length > 0 || plan.output === undefined)
  const next = () => (isSilent || reply.finish === "paused" ? Effect.fail(silent(running, called)) : valueOf(running))
  const closed = Effect.suspend(() => close(running, Message.settle(reply, settlements), next))
  return RunBudget.warn(run, () => Effect.andThen(refused, closed))
}

const silent = ({ model: { name, provider } }: Looping, { reply }: Replied): EmptyReplyError =>
  EmptyReplyError.make({ model: reply.model ?? name, finishReason: reply.finish, provider })

/** The last text as the output. Nothing is asked again. */
const valueOf = (running: Looping): Effect.Effect<unknown, unknown> => Effect.map(read(running), (end) => end?.value)

/** Nothing is left of the limits of the run, and this turn has none of its own. */
const withoutRest = ({ left: _left, ...entry }: Trail[number]): Trail[number] => entry

/** Why there is no answer; `undefined` for what no limit takes the place of. */
const failuresOf = (cause: Cause.Cause<unknown>, { run, state }: Looping): Trail | undefined => {
  const error = Cause.squash(cause)
  if (untouchable(cause) !== undefined) {
    // the last turn has no time for a wait
    return RunContext.isLimit(error) && error.meter === run.meter
      ? (error.because?.trail ?? []).map(withoutRest)
      : undefined
  }
  const attempts = run.ledger.entries.filter(({ runId, turn }) => runId === run.runId && turn === state.turn)
  return trailOf([
    {
      tag: ErrorCause.tagOf(error),
      verdict: "rethrow",
      gaveUp: false,
      rung: 0,
      attempt: attempts.length,
      delay: Duration.zero,
      error
    }
  ])
}
