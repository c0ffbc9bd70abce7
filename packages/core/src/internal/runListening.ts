/** Listeners of a run: each hears events in a fiber of its own, and can neither block nor break the run, nor outlive it for long. */
import * as Cause from "effect/Cause"
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
}

/** How many events may wait for a listener; what comes beyond is lost to it. */
const capacity = 16_384

/** How long a run waits at its end for listeners that have not heard everything yet. */
const patience = "1 second"

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
    (hearing) => Effect.forEach(hearing, (ear) => ear.finish, { concurrency: "unbounded", discard: true })
  )

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
    const isCutShort = inHand !== undefined && !AgentEvent.isTerminal(inHand)
    lost += rest.length - ends.length + (isCutShort ? 1 : 0)
    fiber.interruptUnsafe()
    return Effect.forEach(ends, (end) => briefly(safely(listener, end)), { discard: true })
  })
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

/** At once, and in a fiber that lives no longer than the run has waited before: nobody waits for it. */
const briefly = (handling: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.flatMap(Effect.forkDetach(handling, { startImmediately: true }), (fiber) =>
      fiber.pollUnsafe() === undefined
        ? Effect.forkDetach(
            Effect.ignore(Effect.timeout(Fiber.await(fiber), patience)).pipe(
              Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe()))
            )
          )
        : Effect.void
    )
  )

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
