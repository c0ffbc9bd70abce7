/** What a run does about its limits: it asks whoever decides about them, and it ends with the time that it has. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Model from "../Model.ts"
import * as RunContext from "../RunContext.ts"
import * as Usage from "../Usage.ts"
import { leavesOf } from "./modelAsking.ts"
import { type Exceeded, type Meter, type Shared, shared } from "./budgetMeter.ts"

/** Fails as the limit says, unless whoever decides about it extends it. */
export const decide = (exceeded: Exceeded, run: RunContext.RunContext): Effect.Effect<void, Exceeded> =>
  Effect.gen(function* () {
    const { meter, reason } = exceeded
    if (meter.onExceeded === undefined || !isShared(reason)) return yield* Effect.fail(exceeded)
    const decision = yield* meter.onExceeded(exceeded)
    const { limit, spent } = exceeded
    yield* RunContext.emit(run, () => ({ type: "budget-exceeded", reason, limit, spent, decision: decision.kind }))
    if (decision.kind !== "extend") {
      meter.isCheckpoint = decision.kind === "checkpoint"
      return yield* Effect.fail(exceeded)
    }
    // somebody else may have been asked about the same limit, and have extended it meanwhile
    if (meter.limit(reason) === limit || decision.limit > meter.limit(reason)) meter.extend(reason, decision.limit)
  })

const isShared = (reason: string): reason is Shared => shared.some((one) => one === reason)

/** Goes on once a check is passed, however often the limit has to be extended for that. */
export const passing = (
  exceeded: Exceeded,
  check: () => Exceeded | undefined,
  run: RunContext.RunContext
): Effect.Effect<void, Exceeded> =>
  Effect.flatMap(decide(exceeded, run), () => {
    const next = check()
    return next === undefined ? Effect.void : passing(next, check, run)
  })

/** Whether a limit that was reached is extended until a check is passed. */
export const isExtended = (
  exceeded: Exceeded,
  check: () => Exceeded | undefined,
  run: RunContext.RunContext
): Effect.Effect<boolean> =>
  exceeded.meter.onExceeded === undefined
    ? Effect.succeed(false)
    : Effect.match(passing(exceeded, check, run), { onFailure: () => false, onSuccess: () => true })

/** A limit of cost is none for a model of which nobody knows the price: that is a mistake of whoever set it. */
export const demandPrice = ({ agent, meter }: RunContext.RunContext, model: Model.Service): void => {
  if (!meter.limitsCost) return
  for (const { name } of leavesOf(model)) {
    if (meter.costOf(name, Usage.empty) !== undefined) continue
    throw new TypeError(`Agent '${agent}': maxCost needs the price of model '${name}' in the budget's prices`)
  }
}

/** Stops what is still at work when the run's own time is over. Where a run above ends earlier, that one stops it. */
export const inTime = <A, E, R>(
  running: Effect.Effect<A, E, R>,
  run: RunContext.RunContext
): Effect.Effect<A, E | Exceeded, R> => {
  const { meter } = run
  if (meter.ownDeadline === Infinity) return running
  const above = meter.above?.deadline
  const isSooner = above === undefined || meter.ownDeadline < above.ownDeadline
  if (!isSooner) return running
  // nobody puts it off: that is a plain time limit
  return meter.onExceeded === undefined
    ? Effect.timeoutOrElse(running, {
        duration: meter.leftAtStart,
        orElse: () => Effect.fail(meter.late(meter.ownDeadline))
      })
    : Effect.raceFirst(running, watching(meter, run))
}

const watching = (meter: Meter, run: RunContext.RunContext): Effect.Effect<never, Exceeded> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    now < meter.ownDeadline
      ? Effect.andThen(Effect.sleep(meter.ownDeadline - now), watching(meter, run))
      : Effect.andThen(decide(meter.late(now), run), watching(meter, run))
  )

/** Tells of the limits that are near, to those who listen. */
export const warn = (run: RunContext.RunContext): Effect.Effect<void> =>
  run.emit === undefined ? Effect.void : Effect.flatMap(Clock.currentTimeMillis, (now) => run.meter.warn(now))
