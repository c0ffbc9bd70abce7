/**
 * Listeners of a run: each hears events in a fiber of its own, and can neither block nor break the run, nor outlive it for long. Only
 * the outermost run waits for those that are behind, when it is over; no run waits for those of a run below it.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as AgentEvent from "../AgentEvent.ts"
import * as Interception from "../Interception.ts"
import { labelsOf } from "../RecoveryAdvice.ts"
import type * as RunContext from "../RunContext.ts"

/** Hears events, one after the other. */
export interface Listener {
  /** Only this run's own events, or those of its fixers and sub-agents as well. */
  readonly scope: "own" | "tree"
  readonly handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** Whose listeners they are, and where their losses are counted. */
export interface Audience {
  readonly agent: string
  readonly runId: string
  readonly listeners: ReadonlyArray<Listener>
  readonly losses: RunContext.Losses
  readonly catchingUp: RunContext.CatchingUp
  /** Whether nobody else started the run. */
  readonly isOutermost: boolean
}

/** How many events may wait for a listener; what comes beyond is lost to it. */
const capacity = 16_384

/** How long the outermost run waits at its end for listeners that have not heard everything yet. */
const patience = "1 second"

/** How long a listener may take for the end of a run besides, while nobody waits for it. */
const grace = Duration.seconds(10)

/** Gives `body` a sink that the listeners hear, and lets them catch up at the end. */
export const heard = <A, E, R>(
  audience: Audience,
  body: (sink: RunContext.Observer) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.forEach(audience.listeners, (listener) => listen(listener, audience)),
    (hearing) =>
      body((event) => {
        for (const ear of hearing) ear.hear(event)
      }),
    (hearing) => {
      const finish = Effect.forEach(hearing, (ear) => ear.finish, { concurrency: "unbounded", discard: true })
      return audience.isOutermost ? finish : aside(finish, audience.catchingUp)
    }
  )

/** Goes on in a fiber of its own, for which the outermost run waits. */
const aside = (finish: Effect.Effect<void>, catchingUp: RunContext.CatchingUp): Effect.Effect<void> =>
  Effect.map(Effect.forkDetach(finish, { startImmediately: true }), (fiber) => {
    if (fiber.pollUnsafe() !== undefined) return
    catchingUp.add(fiber)
    fiber.addObserver(() => catchingUp.delete(fiber))
  })

/**
 * Waits at the end of the outermost run for the listeners of the runs below it, if there are any: each has its second from the end
 * of its own run.
 */
export const caughtUp = (catchingUp: RunContext.CatchingUp): Effect.Effect<void> | undefined =>
  catchingUp.size === 0 ? undefined : Effect.asVoid(Fiber.awaitAll(catchingUp))

/** A listener at work. */
interface Ear {
  readonly hear: RunContext.Observer
  readonly finish: Effect.Effect<void>
}

const listen = Effect.fnUntraced(function* (
  listener: Listener,
  { agent, losses, runId }: Audience
): Effect.fn.Return<Ear> {
  const queue = yield* Queue.unbounded<AgentEvent.AgentEvent, Cause.Done>()
  let inHand: AgentEvent.AgentEvent | undefined
  let lost = 0
  const hearNext = Effect.flatMap(Queue.take(queue), (event) => {
    inHand = event
    return Effect.andThen(
      safely(listener, event),
      Effect.sync(() => (inHand = undefined))
    )
  })
  const fiber = yield* Effect.forkDetach(Effect.ignore(Effect.forever(hearNext)))
  /** What it has not heard by now is lost to it, but for the ends of runs: they are handed over in any case. */
  const cut = Effect.flatMap(Queue.clear(queue), (rest) => {
    const ends = rest.filter(AgentEvent.isTerminal)
    const isAtAnEnd = inHand !== undefined && AgentEvent.isTerminal(inHand)
    lost += rest.length - ends.length + (inHand === undefined || isAtAnEnd ? 0 : 1)
    if (isAtAnEnd && inHand !== undefined) return Effect.andThen(ending(fiber, inHand), handOver(ends))
    fiber.interruptUnsafe()
    return handOver(ends)
  })
  const handOver = (ends: ReadonlyArray<AgentEvent.AgentEvent>): Effect.Effect<void> =>
    Effect.forEach(
      ends,
      (end) =>
        Effect.flatMap(Effect.forkDetach(safely(listener, end), { startImmediately: true }), (handling) =>
          handling.pollUnsafe() === undefined ? ending(handling, end) : Effect.void
        ),
      { discard: true }
    )
  /** Whoever is at work on an end has time for that, for which nobody waits; then it is stopped, which is told of. */
  const ending = (handling: Fiber.Fiber<unknown, unknown>, end: AgentEvent.AgentEvent) =>
    Effect.asVoid(
      Effect.forkDetach(
        Effect.flatMap(Effect.timeoutOption(Fiber.await(handling), grace), (ended) => {
          if (Option.isSome(ended)) return Effect.void
          handling.interruptUnsafe()
          losses.events++
          const limit = Duration.format(grace)
          return Effect.annotateLogs(
            Effect.logWarning(`A listener of agent '${agent}' was stopped after ${limit} at work on '${end.type}'`),
            { runId: end.runId, agent, lost: 1 }
          )
        })
      )
    )
  const reported = Effect.suspend(() => {
    if (lost === 0) return Effect.void
    losses.events += lost
    return Effect.annotateLogs(
      Effect.logWarning(`A listener of agent '${agent}' was too slow: ${lost} events were lost to it`),
      { runId, agent, lost }
    )
  })
  const over = Effect.andThen(cut, reported)
  const awaited = Effect.timeoutOption(Fiber.await(fiber), patience)
  // on a busy machine it has not had its turn: while it is at no event it has time, for which nobody waits; its queue is closed
  const starving: Effect.Effect<void> = Effect.flatMap(awaited, (ended) =>
    Option.isSome(ended) ? reported : inHand === undefined ? starving : over
  )
  const starved = Effect.asVoid(Effect.forkDetach(starving))
  return {
    hear: (event) => {
      if (listener.scope === "own" && event.runId !== runId) return
      if (Queue.sizeUnsafe(queue) < capacity || AgentEvent.isTerminal(event)) Queue.offerUnsafe(queue, event)
      else lost++
    },
    finish: Effect.andThen(
      Queue.end(queue),
      Effect.flatMap(awaited, (ended) => (Option.isSome(ended) ? reported : inHand === undefined ? starved : over))
    )
  }
})

/** A listener cannot change a run: what goes wrong in it is logged, and it hears the next event all the same. */
const safely = (listener: Listener, event: AgentEvent.AgentEvent): Effect.Effect<void> =>
  Effect.catchCause(
    Interception.step(
      () => ({ kind: "hook", event }),
      () => listener.handle(event)
    ),
    (cause) =>
      Effect.annotateLogs(
        Effect.logWarning(`A listener failed on '${event.type}' of agent '${event.agent}'`, cause),
        annotationsOf(event, Cause.squash(cause))
      )
  )

/** By what a log line about a failure can be found again. */
const annotationsOf = (event: AgentEvent.AgentEvent, error: unknown): Record<string, unknown> => ({
  ...labelsOf(error),
  runId: event.runId,
  agent: event.agent,
  ...("callId" in event ? { callId: event.callId } : {})
})
