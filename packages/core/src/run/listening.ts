/**
 * Listeners of a run: each hears events in a fiber of its own, and can neither block nor break the run, nor outlive it for long. Only
 * the outermost run waits for those that are behind, when it is over; no run waits for those of a run below it.
 */
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as AgentEvent from "../event/AgentEvent.ts"
import * as Interception from "../model/Interception.ts"
import { labelsOf } from "../errors/RecoveryAdvice.ts"
import type * as RunContext from "../event/RunContext.ts"
import { Backlog } from "./backlog.ts"

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
  Effect.withFiber((fiber) => {
    const ears = audience.listeners.map((listener) => listen(listener, audience, fiber.context))
    const later = scheduled(fiber, () => takeTurns(ears))
    const running = body((event) => {
      for (const ear of ears) ear.hear(event)
      later.ask()
    })
    return Effect.onExitPrimitive(running, () => {
      later.cancel()
      takeTurns(ears)
      const late = ears.flatMap((ear) => ear.finish() ?? [])
      if (late.length === 0) return undefined
      const finish = Effect.forEach(late, (one) => one, { concurrency: "unbounded", discard: true })
      return audience.isOutermost ? finish : aside(finish, audience.catchingUp)
    })
  })

/** Has something done when the run gives way, once however often it is asked for until then. */
const scheduled = (fiber: Fiber.Fiber<unknown, unknown>, act: () => void) => {
  let todo: (() => void) | undefined = act
  let isAsked = false
  const task = () => {
    isAsked = false
    todo?.()
  }
  return {
    ask: () => {
      if (isAsked) return
      isAsked = true
      fiber.currentDispatcher.scheduleTask(task, 0)
    },
    /** What was asked for may stay for long in a program that does not give way: it shall hold nothing. */
    cancel: () => {
      todo = undefined
      return undefined
    }
  }
}

/** Each event is heard by all listeners that are at none, in the order in which they were attached, before the next one is. */
const takeTurns = (ears: ReadonlyArray<Ear>): void => {
  const atOnce = ears.length === 1 ? Infinity : 1
  for (let isAnyReady = true; isAnyReady;) {
    isAnyReady = false
    for (const ear of ears) if (ear.goOn(atOnce)) isAnyReady = true
  }
}

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
  /** Hears some of what waits, unless it is still at an event: then it goes on with all that waits by itself. Whether it did. */
  readonly goOn: (events: number) => boolean
  /** What has to be done until everything is heard; nothing where that is so. */
  readonly finish: () => Effect.Effect<void> | undefined
}

const listen = (listener: Listener, { agent, losses, runId }: Audience, context: Context.Context<never>): Ear => {
  const fork = Effect.runForkWith(context)
  const interceptor = Context.get(context, Interception.Current)
  const waiting = new Backlog<AgentEvent.AgentEvent>()
  let inHand: AgentEvent.AgentEvent | undefined
  let lost = 0
  /** How many events it may hear before it rests. */
  let turns = 0
  /** Where it is at an event that it could not be through with at once. */
  let atWork: Fiber.Fiber<void> | undefined
  const hearAll = Effect.whileLoop({
    while: () => turns > 0 && waiting.size > 0,
    body: () => {
      turns--
      inHand = waiting.take()
      return handling(listener, inHand, interceptor)
    },
    step: () => {
      inHand = undefined
    }
  })
  /** A listener cannot change a run: what goes wrong in it is logged, and it hears the next event all the same. */
  const listening: Effect.Effect<void> = Effect.catchCause(hearAll, (cause) => {
    const event = inHand
    inHand = undefined
    return event === undefined ? Effect.failCause(cause) : Effect.andThen(logged(event, cause), listening)
  })
  /** What it has not heard by now is lost to it, but for the ends of runs: they are handed over in any case. */
  const cut = (fiber: Fiber.Fiber<void>) => {
    const unheard = waiting.clear()
    const ends = unheard.filter(AgentEvent.isTerminal)
    const isAtAnEnd = inHand !== undefined && AgentEvent.isTerminal(inHand)
    lost += unheard.length - ends.length + (inHand === undefined || isAtAnEnd ? 0 : 1)
    if (isAtAnEnd && inHand !== undefined) return Effect.andThen(ending(fiber, inHand), handOver(ends))
    fiber.interruptUnsafe()
    return handOver(ends)
  }
  const handOver = (ends: ReadonlyArray<AgentEvent.AgentEvent>): Effect.Effect<void> =>
    Effect.forEach(
      ends,
      (end) => {
        const handled = Effect.suspend(() => handling(listener, end, interceptor))
        const safely = Effect.catchCause(handled, (cause) => logged(end, cause))
        return Effect.flatMap(Effect.forkDetach(safely, { startImmediately: true }), (at) =>
          at.pollUnsafe() === undefined ? ending(at, end) : Effect.void
        )
      },
      { discard: true }
    )
  /** Whoever is at work on an end has time for that, for which nobody waits; then it is stopped, which is told of. */
  const ending = (at: Fiber.Fiber<unknown, unknown>, end: AgentEvent.AgentEvent) =>
    Effect.asVoid(
      Effect.forkDetach(
        Effect.flatMap(Effect.timeoutOption(Fiber.await(at), grace), (ended) => {
          if (Option.isSome(ended)) return Effect.void
          at.interruptUnsafe()
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
  return {
    hear: (event) => {
      if (listener.scope === "own" && event.runId !== runId) return
      if (waiting.size >= capacity && !AgentEvent.isTerminal(event)) {
        lost++
        return
      }
      waiting.add(event)
    },
    goOn: (events) => {
      if (atWork !== undefined || waiting.size === 0) return false
      turns = events
      const fiber = fork(listening)
      if (fiber.pollUnsafe() === undefined) {
        turns = Infinity
        atWork = fiber
        fiber.addObserver(() => {
          atWork = undefined
        })
      }
      return true
    },
    finish: () => {
      const fiber = atWork
      if (fiber === undefined) return lost === 0 ? undefined : reported
      return Effect.flatMap(Effect.timeoutOption(Fiber.await(fiber), patience), (ended) =>
        Option.isSome(ended) ? reported : Effect.andThen(cut(fiber), reported)
      )
    }
  }
}

/** What the listener does about an event, or what somebody has put in its place. */
const handling = (
  listener: Listener,
  event: AgentEvent.AgentEvent,
  interceptor: Interception.Interceptor | undefined
): Effect.Effect<void> =>
  interceptor === undefined
    ? listener.handle(event)
    : Interception.step(
        () => ({ kind: "hook", event }),
        () => listener.handle(event)
      )

const logged = (event: AgentEvent.AgentEvent, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.annotateLogs(
    Effect.logWarning(`A listener failed on '${event.type}' of agent '${event.agent}'`, ErrorCause.logged(cause)),
    annotationsOf(event, Cause.squash(cause))
  )

/** By what a log line about a failure can be found again. */
const annotationsOf = (event: AgentEvent.AgentEvent, error: unknown): Record<string, unknown> => ({
  ...labelsOf(error),
  runId: event.runId,
  agent: event.agent,
  ...("callId" in event ? { callId: event.callId } : {})
})
