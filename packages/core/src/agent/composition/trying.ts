/** Several agents for one answer: one after the other, or at once. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { end, type Meter } from "../../budget/Meter.ts"
import type * as Model from "../../model/Model.ts"
import { outlookOf } from "../../errors/RecoveryAdvice.ts"
import * as RunContext from "../../event/RunContext.ts"
import * as Limits from "../../run/Limits.ts"
import type { Answer, Part, Parent } from "./run.ts"
import { untouchable } from "../../recovery/Layer.ts"

type Answering = Effect.Effect<Answer, unknown, Model.Model>

/** The second argument of `when`: which agent failed, and how many were tried. */
export interface Tried {
  /** The agent that has failed. */
  readonly agent: string
  /** How many have been tried, this one included. */
  readonly tried: number
}

/** Whether another agent may succeed: the error's `recovery` is `fallback`, or `resend` with its resends used up. */
export const isAdmitted = (error: unknown): boolean => {
  const recovery = outlookOf(error)?.recovery
  return recovery === "fallback" || recovery === "resend"
}

/** Whether every copy of an agent would fail in the same way, because the error asks for another remedy first. */
export const isHopeless = (error: unknown): boolean => {
  const recovery = outlookOf(error)?.recovery
  return recovery !== undefined && recovery !== "resend" && recovery !== "repair"
}

/** Runs parts in order: a part runs if the part before it failed and the guard admits that failure. */
export const inOrder = (
  parts: ReadonlyArray<Part>,
  input: unknown,
  parent: Parent,
  admits: (error: unknown, tried: Tried) => boolean,
  mayRunTwice: boolean
): Answering =>
  Effect.gen(function* () {
    const reasons: Array<unknown> = []
    for (const [index, part] of parts.entries()) {
      let hasStarted = false
      const watched = watching(parent.ask(part, input), () => {
        hasStarted = true
      })
      const exit = yield* Effect.exit(mayRunTwice ? parent.ask(part, input) : watched)
      const failure = failureOf(exit, parent.run, parent.run.meter)
      if (failure === undefined) return yield* exit
      const { error, limit } = failure
      reasons.push(...parent.reasonsOf(part, error))
      parent.failed([...reasons])
      const tried = index + 1
      if (tried === parts.length || limit !== undefined || hasStarted) return yield* exit
      if (!admits(error, { agent: part.name, tried })) return yield* exit
      yield* parent.discard()
    }
    return yield* Effect.die(new TypeError("Agent.fallback: there is no agent"))
  })

/** Calls `onUnsafe` when a tool with unsafe side effects starts in a descendant. */
const watching = (answering: Answering, onUnsafe: () => void): Answering =>
  Effect.flatMap(RunContext.Current, (run) => {
    // Mutant `false` survives: a part has the run of its composition around it
    if (run === undefined) return answering
    const heard = () => {
      onUnsafe()
      run.onUnsafe?.()
    }
    return Effect.provideService(answering, RunContext.Current, { ...run, onUnsafe: heard })
  })

/** A part of a race, and when it starts: milliseconds after the beginning. */
export interface Contender {
  readonly part: Part
  readonly after: number
}

/**
 * The failure of the part with this meter. A limit that ended the part wins over the failure that the part itself reported. `undefined` for
 * an answer, a defect or an interruption.
 */
const failureOf = (exit: Exit.Exit<unknown, unknown>, run: RunContext.RunContext, { ended: limit }: Meter) => {
  if (limit !== undefined) return { error: Limits.errorOf(limit, run, { transcript: () => [] }), limit }
  if (Exit.isSuccess(exit)) return undefined
  const error = Cause.squash(exit.cause)
  return untouchable(exit.cause) === undefined ? { error, limit } : undefined
}

/**
 * Runs parts at the same time. The first success wins; the other parts are interrupted, and the race waits for their ends. A fatal failure
 * ends the race at once; any other failure waits for the other parts. If all parts fail, the last failure leaves.
 */
export const atOnce = (
  contenders: ReadonlyArray<Contender>,
  input: unknown,
  parent: Parent,
  endsEverything: (error: unknown) => boolean
): Answering =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { deadline } = parent.run.meter
    // a contender whose start is after the deadline is left out
    const inTime = contenders.filter(({ after }) => after === 0 || now + after < (deadline?.ownDeadline ?? Infinity))
    const result = yield* Deferred.make<Answer, unknown>()
    const reasons: Array<unknown> = []
    let failures = 0
    const finish = (
      part: Part,
      meter: Meter,
      exit: Exit.Exit<Answer, unknown>,
      now: number
    ): Effect.Effect<unknown> => {
      const failure = failureOf(exit, parent.run, meter)
      if (failure === undefined) return Deferred.done(result, exit)
      const { error, limit } = failure
      reasons.push(...parent.reasonsOf(part, error))
      parent.failed([...reasons])
      failures++
      // a deadline ends all parts; a part that meets another used-up limit leaves the answer to parts that are running
      const endsAll =
        // Mutant `now > limit.meter.ownDeadline` survives: at that instant the run with this deadline ends all parts itself
        limit === undefined ? endsEverything(error) : limit.reason === "maxDuration" && now >= limit.meter.ownDeadline
      // the other parts may still answer
      if (!endsAll && failures < inTime.length) return Effect.void
      if (!endsAll && inTime.length < contenders.length && deadline !== undefined) {
        return Deferred.complete(result, RunContext.endOfTime(parent.run))
      }
      return limit === undefined ? Deferred.done(result, exit) : Deferred.complete(result, end(parent.run.meter, limit))
    }
    // the race itself interrupted this part: its outcome is known
    const run = ({ after, part }: Contender) => {
      const meter = parent.run.meter.contender()
      const answering = Effect.provideService(parent.ask(part, input), RunContext.Current, { ...parent.run, meter })
      // Mutant `false` survives: only a yield more
      return Effect.onExit(after === 0 ? answering : Effect.delay(answering, after), (exit) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => finish(part, meter, exit, now))
      )
    }
    return yield* Effect.acquireUseRelease(
      Effect.forEach(inTime, (contender) => Effect.forkChild(run(contender), { startImmediately: true })),
      () => Deferred.await(result),
      (fibers) => Fiber.interruptAll(fibers)
    )
  })
