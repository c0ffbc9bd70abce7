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

/** What a guard gets besides the failure. */
export interface Tried {
  /** The agent that has failed. */
  readonly agent: string
  /** How many have been tried, this one included. */
  readonly tried: number
}

/** Another agent may do better: the error says so, or its resends are used up. */
export const isAdmitted = (error: unknown): boolean => {
  const recovery = outlookOf(error)?.recovery
  return recovery === "fallback" || recovery === "resend"
}

/** The same agent would fail again in the same way: the error says that something else has to be done first. */
export const isHopeless = (error: unknown): boolean => {
  const recovery = outlookOf(error)?.recovery
  return recovery !== undefined && recovery !== "resend" && recovery !== "repair"
}

/** In order: each part runs when the part before it has failed in a way that the guard admits. */
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
 * The error that a part with this meter has failed with. The limit that ended the part wins over what the part has made of it.
 * `undefined` for an answer, a defect or an interruption.
 */
const failureOf = (exit: Exit.Exit<unknown, unknown>, run: RunContext.RunContext, { ended: limit }: Meter) => {
  if (limit !== undefined) return { error: Limits.errorOf(limit, run, { transcript: () => [] }), limit }
  if (Exit.isSuccess(exit)) return undefined
  const error = Cause.squash(exit.cause)
  return untouchable(exit.cause) === undefined ? { error, limit } : undefined
}

/**
 * At once: the first success wins, and the others are interrupted and awaited before it counts. A failure that ends everything
 * does so at once, others are waited for; all failing leaves the last one.
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
      // the time is over for all alike; who finds another limit used up leaves it to those who are at work already
      const endsAll =
        limit === undefined ? endsEverything(error) : limit.reason === "maxDuration" && now >= limit.meter.ownDeadline
      // others may still answer, or fail otherwise
      if (!endsAll && failures < inTime.length) return Effect.void
      if (!endsAll && inTime.length < contenders.length && deadline !== undefined) {
        return Deferred.complete(result, RunContext.endOfTime(parent.run))
      }
      return limit === undefined ? Deferred.done(result, exit) : Deferred.complete(result, end(parent.run.meter, limit))
    }
    // interruption by this race settles nothing: it is settled already
    const run = ({ after, part }: Contender) => {
      const meter = parent.run.meter.contender()
      const answering = Effect.provideService(parent.ask(part, input), RunContext.Current, { ...parent.run, meter })
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
