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
import * as Toolset from "../tool/Toolset.ts"
import * as RunBudget from "./budget.ts"
import { cancelled, hear } from "./hearing.ts"
import { telling } from "./late.ts"
import { callModel } from "./modelCall.ts"
import type { Asked, Replied } from "./modelCallState.ts"
import type { Loop, Looping } from "./running.ts"
import { Suspension } from "./Start.ts"
import { close, offered, read, usualRequest } from "./turn.ts"

/** The tokens and the cost that a run keeps for its final answer: the input of the last reply, and these. */
interface Reserve {
  readonly outputTokens: number
}

/** Adds the final turn of `Budget.answer` to a loop: it runs if a limit of the run was reached and `onBudgetExceeded` chose `answer`. */
export const answering =
  (reserve: Reserve | undefined) =>
  (loop: Loop): Loop =>
  (running) =>
    Effect.suspend(() => {
      running.run.meter.reserve = reserving(running, reserve)
      return Effect.matchCauseEffect(loop(running), {
        onSuccess: (value) => (value instanceof Suspension ? undefined : answered(running)) ?? Effect.succeed(value),
        // a failure, a defect or an interruption is not replaced by an answer
        onFailure: (cause) =>
          // Mutant `!Cause.hasInterrupts(cause) || RunContext.isLimit(Cause.squash(cause))` survives: once a limit is reached, only
          // calls fail, and `answered` looks for their failures
          (!Cause.hasInterrupts(cause) && RunContext.isLimit(Cause.squash(cause)) ? answered(running) : undefined) ??
          Effect.failCause(cause)
      })
    })

/** What the final answer will spend, estimated from the last reply; nothing before the first reply. */
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

/** Runs the final turn, if `answer` was chosen for the limit that ended this run. */
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
          // the run was interrupted, has died, or has reached a limit of an ancestor
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

/** In the final turn only the time limit of the run holds; the limits of its ancestors all hold. */
const meterOf = ({ agent, ledger, limits: { maxDuration }, ownDeadline, parent, prices }: Meter): Meter => {
  const began = maxDuration === Infinity ? 0 : ownDeadline - maxDuration
  return new Meter(agent, { ...Budget.unlimited, maxDuration, prices }, ledger, began, 0, parent)
}

/**
 * Closes the turn at work, then continues with `next`. If the last reply is already a final answer, it is the output. Calls that have not
 * begun are not run, and the work of deferred calls is cancelled.
 */
const whenClosed = (running: Looping, next: () => Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> => {
  const { plan, run, state } = running
  const { reply } = state
  const withdrawn = withdrawing(running)
  if (reply === undefined) return Effect.andThen(withdrawn, Effect.suspend(next))
  const calls = Message.callsOf(reply)
  const skipped = Effect.forEach(
    calls.filter((_, index) => state.slots[index]?.isBegun !== true),
    (call) => {
      const { id: callId, name: tool } = Toolset.callOf(running.toolset, call)
      return RunContext.emit(run, () => ({ type: "tool-skipped", callId, tool, settlement: Message.notRun }))
    },
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
  // the model reads new results and said messages before the run's message about its limit
  const heard = hear(running, telling) ?? Effect.void
  // this waits for what was heard: without listeners, `record` adds its message at once
  const answering = () =>
    RunBudget.takeTurn(run, () =>
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
            // the final turn is one model call, which no message interrupts
            Effect.flatMap((called) => (called.type === "interrupted" ? Effect.interrupt : taken(running, called)))
          )
        }
      )
    )
  return Effect.andThen(heard, Effect.suspend(answering))
}

/** The request of the final turn. */
const prepared = (running: Looping, usual: Model.Request): Effect.Effect<Model.Request, unknown> => {
  // the tools stay in the request, so that the provider's prompt cache still fits; `toolChoice` forbids calling them
  const allowed = (request: Model.Request) =>
    offered(running, request.tools.length === 0 ? request : { ...request, toolChoice: "none" })
  const { prepare } = running
  return prepare === undefined ? allowed(usual) : Effect.flatMap(prepare.ask(running, usual, true), allowed)
}

/** Reads the output out of the reply of the final turn. */
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
  // Mutant `false` for `plan.output === undefined` survives: an empty reply without calls has failed as an `EmptyReplyError` before
  const isSilent = state.partial === "" && (calls.length > 0 || plan.output === undefined)
  const next = () => (isSilent || reply.finish === "paused" ? Effect.fail(silent(running, called)) : valueOf(running))
  const closed = Effect.suspend(() => close(running, Message.settle(reply, settlements), next))
  return RunBudget.warn(run, () => Effect.andThen(refused, closed))
}

const silent = ({ model: { name, provider } }: Looping, { reply }: Replied): EmptyReplyError =>
  EmptyReplyError.make({ model: reply.model ?? name, finishReason: reply.finish, provider })

/** The last text as the output. If it does not fit the schema, the model gets no second try. */
const valueOf = (running: Looping): Effect.Effect<unknown, unknown> => Effect.map(read(running), (end) => end?.value)

/** Removes what was left of the limits: the final turn spends beyond them. */
const withoutRest = ({ left: _left, ...entry }: Trail[number]): Trail[number] => entry

/** Why the final turn gave no answer; `undefined` for a failure that must pass through, such as an interruption. */
const failuresOf = (cause: Cause.Cause<unknown>, { run, state }: Looping): Trail | undefined => {
  const error = Cause.squash(cause)
  if (untouchable(cause) !== undefined) {
    // a wait before another attempt would outlast the run
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
