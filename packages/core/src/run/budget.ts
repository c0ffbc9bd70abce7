/** The limits of a run: the call of `onBudgetExceeded`, the deadline, and the booking of usage. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Budget from "../budget/Budget.ts"
import * as Price from "../budget/Price.ts"
import type * as Ledger from "../budget/Ledger.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Usage from "../data/Usage.ts"
import {
  type Asked,
  end,
  Exceeded,
  type Meter,
  type ExtendableExceeded,
  type OnExceeded,
  type SharedExceeded
} from "../budget/Meter.ts"
import { leavesOf } from "../model/ModelCall.ts"
import { warnOfAge } from "./priceAge.ts"
import type { Attempting, ModelCallOptions } from "./modelCallState.ts"

/** Whether a reached limit was extended. The handler decides once, however many runs reach the limit. */
export const extended = (exceeded: ExtendableExceeded, run: RunContext.RunContext): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { limit, meter, reason } = exceeded
    if (meter.onExceeded === undefined) return Effect.succeed(false)
    // the limit was extended meanwhile
    if (meter.limit(reason) > limit) return Effect.succeed(true)
    const asked = meter.asked.get(reason)
    const answer = asked?.limit === limit ? Deferred.await(asked.answer) : decide(exceeded, meter.onExceeded, run)
    // the asking run was stopped before the decision
    return Effect.flatMap(answer, (action) =>
      action === undefined ? extended(exceeded, run) : Effect.succeed(action.type === "extend")
    )
  })

const decide = (
  exceeded: ExtendableExceeded,
  onExceeded: OnExceeded,
  run: RunContext.RunContext
): ReturnType<OnExceeded> => {
  const { limit, meter, reason, spent } = exceeded
  const answer: Asked["answer"] = Deferred.makeUnsafe()
  const asked: Asked = { limit, answer, action: undefined }
  meter.asked.set(reason, asked)
  const decided = Effect.gen(function* () {
    const wanted = yield* Interception.step(
      () => ({ type: "choice", about: "limit" }),
      // an agent that decides runs without this run's limits, or it would wait for itself
      () => RunContext.afterwards(onExceeded(exceeded))
    )
    const action = wanted.type === "answer" && !mayAnswer(exceeded) ? Budget.stop : wanted
    yield* RunContext.emit(run, () => ({
      type: "budget-exceeded",
      reason,
      limit,
      spent,
      action: action.type,
      ...(action === wanted ? {} : { wanted: "answer" })
    }))
    if (action.type === "extend") meter.extend(reason, action.limit)
    asked.action = action.type
    // the other calls stop waiting, so that the run can answer
    meter.isAnswering ||= action.type === "answer"
    if (action.type === "answer") meter.halt(yield* RunContext.within(run, Clock.currentTimeMillis))
    return action
  })
  return Effect.onExit(decided, (exit) => {
    if (Exit.isSuccess(exit)) return Deferred.succeed(answer, exit.value)
    meter.asked.delete(reason)
    return Deferred.succeed(answer, undefined)
  })
}

/** Whether the run with this limit can have a last turn: it has the time, a loop, and a turn of its ancestors. */
const mayAnswer = ({ meter, reason }: ExtendableExceeded): boolean =>
  reason !== "maxDuration" && meter.reserve !== undefined && (meter.parent?.left("maxTurns") ?? 1) > 0

type Check = () => ExtendableExceeded | undefined

/**
 * Continues once a check passes, after an extension if needed; continues with `otherwise` if a limit forbids it. A run that is over ends.
 */
const passing = <A, E>(
  check: Check,
  run: RunContext.RunContext,
  next: () => Effect.Effect<A, E>,
  otherwise?: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const { ended } = run.meter
  if (ended !== undefined) return Effect.die(ended)
  const exceeded = check()
  return exceeded === undefined ? next() : forbidden(exceeded, check, run, next, otherwise)
}

const forbidden = <A, E>(
  exceeded: ExtendableExceeded,
  check: Check,
  run: RunContext.RunContext,
  next: () => Effect.Effect<A, E>,
  otherwise: (() => Effect.Effect<A, E>) | undefined
): Effect.Effect<A, E> =>
  Effect.flatMap(extended(exceeded, run), (isExtended) => {
    if (isExtended) return passing(check, run, next, otherwise)
    return otherwise === undefined ? end(run.meter, exceeded) : otherwise()
  })

const spending = ["maxTokens", "maxCost"] as const
const counting = ["maxToolCalls"] as const

/** Counts a turn, and goes on with it, unless a limit forbids it. */
export const takeTurn = <A, E>(run: RunContext.RunContext, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  RunContext.begins(run, () => passing(() => run.meter.passed(spending, true) ?? run.meter.takeTurn(), run, next))

/** Continues, unless the usage of a reply passes a limit, or a limit of cost cannot hold because the provider did not report the cost. */
export const spent = <A, E>(run: RunContext.RunContext, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const limited = limitedOf(run.meter)
  // Mutant `true` for `outcome === "used"` survives: the last entry of the run is that of the reply
  const last = limited && run.ledger.entries.findLast(({ outcome, runId }) => runId === run.runId && outcome === "used")
  return limited !== undefined && last !== undefined && last.cost === undefined
    ? unpriced(run.meter, limited, last.model)
    : passing(() => run.meter.passed(spending), run, next)
}

/** Counts the calls of a reply, and goes on with how many of them may run. */
export const takeCalls = <A, E>(
  run: RunContext.RunContext,
  calls: number,
  next: (admitted: number) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const { meter } = run
  const admitted = meter.takeCalls(calls)
  if (admitted === calls) return next(admitted)
  // a limit that was extended, but not far enough, admits more than before
  const now = () => next(Math.max(admitted, meter.admitted(calls)))
  return passing(() => callsExceeded(run), run, now, now)
}

/** The limit of calls that was passed. */
export const callsExceeded = ({ meter }: RunContext.RunContext): SharedExceeded | undefined => meter.passed(counting)

/** Goes on although not all calls of the last reply were run, if the limit was extended since. */
export const tooMany = <A, E>(
  run: RunContext.RunContext,
  exceeded: SharedExceeded,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.flatMap(extended(exceeded, run), (isExtended) => (isExtended ? next() : end(run.meter, exceeded)))

/** Continues after a reply that called tools although they were off, unless this has happened too often. */
export const whileOff = <A, E>(
  run: RunContext.RunContext,
  replies: number,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  passing(
    () => {
      const limit = run.meter.limit("toolsOff")
      return replies > limit ? new Exceeded(run.meter, "toolsOff", limit, replies) : undefined
    },
    run,
    next
  )

/** Continues after a repeated failure of a tool, unless it came too often. */
export const repeated = <A, E>(
  run: RunContext.RunContext,
  exceeded: ExtendableExceeded,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  passing(() => (exceeded.spent >= run.meter.limit(exceeded.reason) ? exceeded : undefined), run, next)

/** Goes on with `next` if a limit of cost can hold: each single model of this one has a price, or its provider says the cost. */
export const priced = <A, E>(
  { meter }: RunContext.RunContext,
  model: Model.Service,
  next: () => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const limited = limitedOf(meter)
  if (limited === undefined && meter.prices === undefined) return next()
  const leaves = leavesOf(model)
  const unknown = leaves.find((leaf) => Price.of(meter.prices, leaf) === undefined)
  if (limited !== undefined && unknown !== undefined) return unpriced(meter, limited, unknown.name)
  return Effect.andThen(warnOfAge(leaves.map((leaf) => Price.of(meter.prices, leaf))), Effect.suspend(next))
}

/** The nearest run with a limit of cost. */
const limitedOf = (meter: Meter): Meter | undefined => meter.chain.find((each) => each.limit("maxCost") !== Infinity)

/** Ends the run with this limit of cost, which cannot hold for the model. */
const unpriced = (meter: Meter, limited: Meter, model: string): Effect.Effect<never> => {
  const exceeded = new Exceeded(limited, "maxCost", limited.limit("maxCost"), limited.spent("maxCost", 0))
  exceeded.unpriced = model
  return end(meter, exceeded)
}

/** Emits the limits that are near, and goes on with `next`. */
export const warn = <A, E>(run: RunContext.RunContext, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  // Mutant `false` survives: speed only. Without listeners nothing is emitted
  run.emit === undefined
    ? next()
    : Effect.withFiber((fiber) =>
        Effect.flatMap(run.meter.warn(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()), next)
      )

/** What is booked for an attempt. */
export const entryOf = (
  { purpose, run }: ModelCallOptions,
  { attempts, model, spent }: Attempting,
  outcome: Ledger.Entry["outcome"]
): Ledger.Entry => {
  const { isEstimated, resent, usage } = spent
  const cost = costOf(run.meter, model, spent)
  const entry: Ledger.Entry = {
    runId: run.runId,
    agent: run.agent,
    turn: run.turn(),
    attempt: attempts,
    model: model.name,
    provider: model.provider,
    purpose: purpose ?? purposeOf(run),
    outcome,
    usage
  }
  if (isEstimated === undefined && resent === undefined && cost === undefined) return entry
  return {
    ...entry,
    ...(isEstimated === undefined ? {} : { isEstimated }),
    ...(resent === undefined ? {} : { resent }),
    ...(cost === undefined ? {} : { cost })
  }
}

/** The cost of an attempt: the provider's figure plus the price of earlier sends, else by the model's price. */
const costOf = (meter: Meter, model: Model.Service, spent: Attempting["spent"]): number | undefined =>
  spent.cost === undefined
    ? meter.costOf(model, spent.usage, spent)
    : Usage.sum(spent.cost, (spent.resent && meter.costOf(model, spent.resent)) ?? 0)

const purposeOf = ({ fixers, isChecking, isCompacting }: RunContext.RunContext): Ledger.Entry["purpose"] =>
  isChecking === true ? "guardrail" : isCompacting === true ? "compaction" : fixers.length > 0 ? "fixer" : "agent"
