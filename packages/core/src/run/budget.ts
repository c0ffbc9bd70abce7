/** What a run does about its limits: it asks whoever decides about them, and it ends with the time that it has. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Budget from "../budget/Budget.ts"
import * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Usage from "../data/Usage.ts"
import { Exceeded, ownerAbove, type Meter, type OnExceeded, type SharedExceeded } from "../budget/Meter.ts"
import { leavesOf } from "../model/ModelCall.ts"

/** Whose limit it is that was reached, of this run or of one above; nothing of what is no limit. */
export const ownerOf = (error: unknown, { meter }: RunContext.RunContext): Meter | undefined =>
  error instanceof Exceeded ? error.meter : ownerAbove(error, meter)

/** Fails as the limit says, unless whoever decides about it extends it. However many runs reach a limit, that is asked once. */
const decide = (exceeded: SharedExceeded, run: RunContext.RunContext): Effect.Effect<void, Exceeded> =>
  Effect.suspend(() => {
    const { limit, meter, reason } = exceeded
    if (meter.onExceeded === undefined) return Effect.fail(exceeded)
    // it was extended since
    if (meter.limit(reason) > limit) return Effect.void
    const asked = meter.asked.get(reason)
    const answer = asked?.limit === limit ? Deferred.await(asked.answer) : asking(exceeded, meter.onExceeded, run)
    return Effect.flatMap(answer, (decision) => {
      // whoever was asking was stopped before there was an answer
      if (decision === undefined) return decide(exceeded, run)
      return decision.kind === "extend" ? Effect.void : Effect.fail(exceeded)
    })
  })

const asking = (
  exceeded: SharedExceeded,
  onExceeded: OnExceeded,
  run: RunContext.RunContext
): Effect.Effect<Budget.Decision> => {
  const { limit, meter, reason, spent } = exceeded
  const answer = Deferred.makeUnsafe<Budget.Decision | undefined>()
  meter.asked.set(reason, { limit, answer })
  const decided = Effect.gen(function* () {
    const decision = yield* Interception.step(
      () => ({ kind: "decision", about: "limit" }),
      () => onExceeded(exceeded)
    )
    yield* RunContext.emit(run, () => ({ type: "budget-exceeded", reason, limit, spent, decision: decision.kind }))
    if (decision.kind === "extend") meter.extend(reason, decision.limit)
    else meter.isCheckpoint = decision.kind === "checkpoint"
    return decision
  })
  return Effect.onExit(decided, (exit) => {
    if (Exit.isSuccess(exit)) return Deferred.succeed(answer, exit.value)
    meter.asked.delete(reason)
    return Deferred.succeed(answer, undefined)
  })
}

/** Goes on once a check is passed, however often the limit has to be extended for that. */
export const passing = (
  exceeded: SharedExceeded,
  check: () => SharedExceeded | undefined,
  run: RunContext.RunContext
): Effect.Effect<void, Exceeded> =>
  Effect.flatMap(decide(exceeded, run), () => {
    const next = check()
    return next === undefined ? Effect.void : passing(next, check, run)
  })

const spending = ["maxTokens", "maxCost"] as const
const counting = ["maxToolCalls"] as const

/** Ends the run if what a reply has used up passes a limit. */
export const spent = (run: RunContext.RunContext): Effect.Effect<void, Exceeded> =>
  Effect.suspend(() => {
    const check = () => run.meter.passed(spending)
    const exceeded = check()
    return exceeded === undefined ? Effect.void : passing(exceeded, check, run)
  })

/** Counts the calls of a reply; gives how many of them may run. */
export const takeCalls = (run: RunContext.RunContext, calls: number): Effect.Effect<number> =>
  Effect.suspend(() => {
    const { meter } = run
    const admitted = meter.takeCalls(calls)
    const exceeded = admitted < calls ? callsExceeded(run) : undefined
    if (exceeded === undefined) return Effect.succeed(admitted)
    const decided = Effect.ignore(passing(exceeded, () => callsExceeded(run), run))
    // a limit that was extended, but not far enough, admits more than before
    return Effect.map(decided, () => Math.max(admitted, meter.admitted(calls)))
  })

/** The limit of calls that was passed. */
export const callsExceeded = ({ meter }: RunContext.RunContext): SharedExceeded | undefined => meter.passed(counting)

/** A limit of cost is none for a model of which nobody knows the price: that is a mistake of whoever set it. */
export const demandPrice = ({ agent, meter }: RunContext.RunContext, model: Model.Service): void => {
  if (!meter.limitsCost) return
  for (const { name } of leavesOf(model)) {
    if (meter.costOf(name, Usage.empty) !== undefined) continue
    throw new TypeError(`Agent '${agent}': maxCost needs the price of model '${name}' in the budget's prices`)
  }
}

/** Stops what is still at work when the run's own time is over. Where a run above ends earlier, that one stops it. */
export const inTime =
  (run: RunContext.RunContext) =>
  <A, E, R>(running: Effect.Effect<A, E, R>): Effect.Effect<A, E | Exceeded, R> => {
    const { meter } = run
    const above = meter.above?.deadline?.ownDeadline ?? Infinity
    // Mutant `meter.ownDeadline > above` survives: at the same instant, the timer of the run above fires first, because
    // it was set first, and stops this run
    // Mutant `false` survives: speed only. A run above that ends earlier, or at the same instant, has stopped this run
    // before its timer fires, and a sleep of Infinity never ends
    return meter.ownDeadline >= above ? running : Effect.raceFirst(running, watching(meter, run))
  }

const watching = (meter: Meter, run: RunContext.RunContext): Effect.Effect<never, Exceeded> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    now < meter.ownDeadline
      ? Effect.andThen(Effect.sleep(meter.ownDeadline - now), watching(meter, run))
      : Effect.andThen(decide(meter.late(now), run), watching(meter, run))
  )

/** Tells of the limits that are near, to those who listen. */
export const warn = (run: RunContext.RunContext): Effect.Effect<void> =>
  Effect.withFiber((fiber) => run.meter.warn(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()))
