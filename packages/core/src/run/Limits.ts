/** How a run ends at its limits: at the end of its time, and when a limit of its own or of a parent is reached. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { end, type Exceeded, type Meter } from "../budget/Meter.ts"
import type * as Message from "../data/Message.ts"
import { BudgetExceededError, UnknownPriceError } from "../errors/RunError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import { untouchable } from "../recovery/Layer.ts"
import { extended } from "./budget.ts"
import { Suspension } from "./Start.ts"

/** Stops the run when its own time is over. A run that outlives its parent needs this, because the parent's watch has ended. */
const inTime = <A, E, R>(run: RunContext.RunContext, work: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const { ledger, meter } = run
  // the parent watches a meter that is not this run's own
  // Mutant `false` survives: speed only. A second watch ends the run at the same instant, and one without a deadline never does
  if (meter.ledger !== ledger || meter.ownDeadline === Infinity) return Effect.suspend(work)
  return Effect.withFiber((fiber) =>
    // a durable run sleeps by its own time
    fiber.getRef(Interception.Current)?.wait === undefined
      ? untilLate(run, fiber, work)
      : Effect.raceFirst(work(), watching(meter, run))
  )
}

const watching = (meter: Meter, run: RunContext.RunContext): Effect.Effect<never> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now < meter.ownDeadline) return Effect.andThen(Effect.sleep(meter.ownDeadline - now), watching(meter, run))
    // the time handler is not called if another limit has ended the run
    return RunContext.alive(run, () =>
      Effect.flatMap(extended(meter.late(now), run), (isExtended) =>
        isExtended ? watching(meter, run) : end(meter, meter.late(now))
      )
    )
  })

/**
 * Runs the work of a run in a fiber of its own, until the deadline. Then the watch runs beside it: the first of the two that ends is the
 * result, and the other is interrupted. Work that ends without waiting adds no deadline.
 */
const untilLate = <A, E, R>(
  run: RunContext.RunContext,
  fiber: Fiber.Fiber<unknown, unknown>,
  work: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.callback((resume) => {
    // the present fiber has all services of the effect
    const working = Effect.runForkWith(fiber.context as Context.Context<R>)(work())
    const exit = working.pollUnsafe()
    return exit === undefined ? waiting(run, fiber, working, resume) : resume(exit)
  })

/** The rest of `untilLate` for work that waits. */
const waiting = <A, E>(
  run: RunContext.RunContext,
  fiber: Fiber.Fiber<unknown, unknown>,
  working: Fiber.Fiber<A, E>,
  resume: (ended: Effect.Effect<A, E>) => void
): Effect.Effect<void> => {
  const deadlines = deadlinesOf(fiber.getRef(Clock.Clock))
  const reached = () => {
    const first = Effect.raceFirst(Fiber.join(working), watching(run.meter, run))
    resume(Effect.ensuring(first, Fiber.interrupt(working)))
  }
  const deadline: Deadline = { at: run.meter.ownDeadline, reached }
  working.addObserver((exit) => {
    deadlines.remove(deadline)
    resume(exit)
  })
  deadlines.add(deadline, fiber.cache.scheduler)
  return Effect.suspend(() => {
    deadlines.remove(deadline)
    return Fiber.interrupt(working)
  })
}

/** A deadline in milliseconds since the epoch, and what happens then. */
interface Deadline {
  readonly at: number
  readonly reached: () => void
}

type Scheduler = Fiber.Fiber<unknown>["cache"]["scheduler"]

/**
 * Deadlines of runs that wait, by one clock. They share a fiber, because most runs end long before their deadline: it sleeps until the
 * earliest of them, and ends when none is left. Where timers do not last, each run has deadlines of its own.
 */
class Deadlines {
  readonly #clock: Clock.Clock
  readonly #all = new Set<Deadline>()
  #sleeping: { readonly until: number; readonly fiber: Fiber.Fiber<void> } | undefined

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  add(deadline: Deadline, scheduler: Scheduler): void {
    this.#all.add(deadline)
    // Mutant `this.#sleeping.until < deadline.at` survives: speed only
    if (this.#sleeping !== undefined && this.#sleeping.until <= deadline.at) return
    this.#sleeping?.fiber.interruptUnsafe()
    this.#sleep(deadline.at, scheduler)
  }

  remove(deadline: Deadline): void {
    if (!this.#all.delete(deadline) || this.#all.size > 0) return
    this.#sleeping?.fiber.interruptUnsafe()
    this.#sleeping = undefined
  }

  #sleep(until: number, scheduler: Scheduler): void {
    const asleep = this.#clock.sleep(Duration.millis(until - this.#clock.currentTimeMillisUnsafe()))
    // the fiber keeps no service and no span of a run
    const fiber = Effect.runFork(
      Effect.map(asleep, () => this.#wake(scheduler)),
      { scheduler }
    )
    // a clock may end the sleep at once
    if (fiber.pollUnsafe() === undefined) this.#sleeping = { until, fiber }
  }

  /** Sleeps until the next deadline, and ends the waits for those that are reached. */
  #wake(scheduler: Scheduler): void {
    this.#sleeping = undefined
    const now = this.#clock.currentTimeMillisUnsafe()
    // Mutant `Array.from(this.#all)` survives: speed only. A run that is not late yet gets a watch of its own
    const reached = Array.from(this.#all).filter(({ at }) => at <= now)
    for (const deadline of reached) this.#all.delete(deadline)
    let next = Infinity
    for (const { at } of this.#all) next = Math.min(next, at)
    if (next < Infinity) this.#sleep(next, scheduler)
    for (const deadline of reached) deadline.reached()
  }
}

const byClock = new WeakMap<Clock.Clock, Deadlines>()

/** The part of the platform that this module uses. */
interface Platform {
  readonly navigator?: { readonly userAgent?: string }
}

/** Whether a timer outlives the request that set it. A worker of Cloudflare ends the timers of a request together with it. */
const hasLastingTimers = (): boolean =>
  // a missing field is undefined
  /^(?:Node\.js|Bun|Deno)\//.test((globalThis as Platform).navigator?.userAgent ?? "")

const deadlinesOf = (clock: Clock.Clock): Deadlines => {
  if (!hasLastingTimers()) return new Deadlines(clock)
  const existing = byClock.get(clock)
  if (existing !== undefined) return existing
  const made = new Deadlines(clock)
  byClock.set(clock, made)
  return made
}

/** The errors of a reached limit. */
type LimitError = BudgetExceededError | UnknownPriceError

/** What a run adds to the error when its limit is reached. */
interface Saying {
  readonly transcript: () => Message.Transcript
  /** The text of the last reply. */
  readonly partial?: string
}

/** The error of a run that reached a limit of its own or of a parent. */
export const errorOf = (
  { because, limit, meter, reason, said, spent, unpriced }: Exceeded,
  run: RunContext.RunContext,
  state: Saying
): LimitError => {
  const { agent } = meter
  const { usage } = run.ledger
  const { partial, transcript } =
    state.partial === undefined && said !== undefined
      ? said
      : { transcript: state.transcript(), partial: state.partial ?? "" }
  return unpriced === undefined
    ? BudgetExceededError.make({ agent, reason, limit, spent, transcript, partial, usage, ...because })
    : UnknownPriceError.make({ agent, model: unpriced, option: "maxCost", transcript, usage })
}

/**
 * The work of a run within its limits. Its own time stops the work. When a limit of its own or of a parent was reached, the run ends with
 * `end`, even if the run's effects caught that. If `end` returns nothing, the limit belongs to the parent, and this run only adds its
 * transcript and text to the error. If the run fails, what was done in it is undone.
 */
export const within = <A, E, R, B, E2, R2>(
  run: RunContext.RunContext,
  state: Saying,
  work: () => Effect.Effect<A, E, R>,
  end: End<B, E2, R2>
): Effect.Effect<A | B, E | E2 | LimitError, R | R2> =>
  Effect.catchCause(
    Effect.matchCauseEffect(inTime(run, work), {
      onSuccess: (value): Effect.Effect<A | B, E2, R2> =>
        (value instanceof Suspension ? undefined : ended(run, state, end)) ?? Effect.succeed(value),
      // an interruption wins: a durable run that was suspended at its limit resumes later
      onFailure: (cause): Effect.Effect<B, E | E2 | LimitError, R2> =>
        (Cause.hasInterrupts(cause) ? undefined : ended(run, state, end)) ?? foreign(cause, run, state)
    }),
    (cause) => undoing(run, cause)
  )

type End<B, E, R> = (exceeded: Exceeded, isOwn: boolean) => Effect.Effect<B, E, R> | undefined

const ended = <B, E, R>({ ledger, meter }: RunContext.RunContext, state: Saying, end: End<B, E, R>) => {
  const exceeded = meter.ended
  if (exceeded === undefined) return undefined
  const isOwn = exceeded.meter.ledger === ledger
  if (!isOwn) exceeded.said ??= { transcript: state.transcript(), partial: state.partial ?? "" }
  return end(exceeded, isOwn)
}

/** Turns the limit error of another run, for example one from a stored exit, into an ordinary failure of this run. */
const foreign = <E>(cause: Cause.Cause<E>, run: RunContext.RunContext, state: Saying) => {
  const defect = Cause.squash(cause)
  return run.meter.ended === undefined && RunContext.isLimit(defect)
    ? Effect.fail(errorOf(defect, run, state))
    : Effect.failCause(cause)
}

/**
 * When a run fails, undoes what was done in it and its descendants, the last thing first, each at most once. A compensation
 * that fails or dies is emitted and logged; the others still run, and the run keeps its failure.
 */
const undoing = <E>(run: RunContext.RunContext, cause: Cause.Cause<E>): Effect.Effect<never, E> => {
  // a race may go on after a limit has ended one of its agents
  const hasFailed =
    untouchable(cause) === undefined || (run.meter.endedAlone && RunContext.isLimit(Cause.squash(cause)))
  const first = hasFailed ? run.done.take() : undefined
  return first === undefined ? Effect.failCause(cause) : Effect.andThen(undo(run, first), Effect.failCause(cause))
}

type Effected = NonNullable<ReturnType<RunContext.RunContext["done"]["take"]>>

const undo = Effect.fnUntraced(function* (run: RunContext.RunContext, first: Effected): Effect.fn.Return<void> {
  for (let one: Effected | undefined = first; one !== undefined; one = run.done.take()) yield* one.undo
})
