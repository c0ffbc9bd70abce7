/** How a run ends at its limits: at the end of its time, and when a limit of its own or of a parent is reached. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { end, type Exceeded, type Meter } from "../budget/Meter.ts"
import type * as Message from "../data/Message.ts"
import { BudgetExceededError, UnknownPriceError } from "../errors/RunError.ts"
import * as RunContext from "../event/RunContext.ts"
import { untouchable } from "../recovery/Layer.ts"
import { extended } from "./budget.ts"
import { Suspension } from "./Start.ts"

/** Stops the run when its own time is over. A run that outlives its parent needs this, because the parent's watch has ended. */
export const inTime =
  (run: RunContext.RunContext) =>
  <A, E, R>(running: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const { meter } = run
    // a sleep of Infinity never ends
    return meter.ownDeadline === Infinity ? running : Effect.raceFirst(running, watching(meter, run))
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
 * Ends a run with `end` if a limit of its own or of a parent was reached, even if the run's effects caught that. If `end` returns nothing,
 * the limit belongs to the parent, and this run only adds its transcript and text to the error.
 */
export const ending =
  <B, E2, R2>(
    run: RunContext.RunContext,
    state: Saying,
    end: (exceeded: Exceeded, isOwn: boolean) => Effect.Effect<B, E2, R2> | undefined
  ) =>
  <A, E, R>(working: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2 | LimitError, R | R2> => {
    const ended = () => {
      const exceeded = run.meter.ended
      if (exceeded === undefined) return undefined
      const isOwn = exceeded.meter.ledger === run.ledger
      if (!isOwn) exceeded.said ??= { transcript: state.transcript(), partial: state.partial ?? "" }
      return end(exceeded, isOwn)
    }
    return Effect.matchCauseEffect(working, {
      onSuccess: (value): Effect.Effect<A | B, E2, R2> =>
        (value instanceof Suspension ? undefined : ended()) ?? Effect.succeed(value),
      // an interruption wins: a durable run that was suspended at its limit resumes later
      onFailure: (cause): Effect.Effect<B, E | E2 | LimitError, R2> =>
        (Cause.hasInterrupts(cause) ? undefined : ended()) ?? foreign(cause, run, state)
    })
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
export const undoing =
  (run: RunContext.RunContext) =>
  <A, E, R>(working: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchCause(working, (cause) => {
      // a race may go on after a limit has ended one of its agents
      const hasFailed =
        untouchable(cause) === undefined || (run.meter.endedAlone && RunContext.isLimit(Cause.squash(cause)))
      const first = hasFailed ? run.done.take() : undefined
      return first === undefined ? Effect.failCause(cause) : Effect.andThen(undo(run, first), Effect.failCause(cause))
    })

type Effected = NonNullable<ReturnType<RunContext.RunContext["done"]["take"]>>

const undo = Effect.fnUntraced(function* (run: RunContext.RunContext, first: Effected): Effect.fn.Return<void> {
  for (let one: Effected | undefined = first; one !== undefined; one = run.done.take()) yield* one.undo
})
