/** What surrounds every run, the loop of a model or a plain function: its place in the tree, its events, its listeners. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as AgentEvent from "../AgentEvent.ts"
import * as Budget from "../Budget.ts"
import { Ledger } from "../Ledger.ts"
import type * as Message from "../Message.ts"
import { labelsOf } from "../RecoveryAdvice.ts"
import * as RunContext from "../RunContext.ts"
import { Meter, type OnExceeded } from "./budgetMeter.ts"
import { Suspension } from "./runStart.ts"
import * as Identifier from "./identifier.ts"

/** Takes events as they come. */
export type Sink = RunContext.Observer

/** Hears events, one after the other, in a fiber of its own. */
export interface Listener {
  /** Only this run's own events, or those of its fixers and sub-agents as well. */
  readonly scope: "own" | "tree"
  readonly handle: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** What a run can say of itself while it lasts. */
export interface State {
  readonly turn: number
  readonly transcript: () => Message.Transcript
  /** The message of the present turn as it stands, if a model has answered and the turn is not over. */
  readonly unfinished: () => Message.Assistant | undefined
  /** How the reply ended that is the output; of a function's value there is none. */
  readonly finish?: Message.FinishReason | undefined
  /** What each of those failed with that were tried for one answer, in order. */
  readonly reasons?: ReadonlyArray<unknown> | undefined
}

export interface Frame {
  readonly agent: string
  readonly input: unknown
  readonly state: State
  readonly listeners: ReadonlyArray<Listener>
  readonly sink: Sink | undefined
  /** Its own limits; absent where only the runs above set some. */
  readonly budget?: Budget.Budget
  readonly onExceeded?: OnExceeded | undefined
  /** Where it goes on: the run that it is, and how long that has been at work already, in milliseconds. */
  readonly resumed?: { readonly runId: string; readonly elapsed: number } | undefined
}

/** How a run is watched, and what it does where it would have to wait for a person. */
export interface Mode {
  readonly isStreamed: boolean
  /** It is suspended then, and can be resumed; else it waits. */
  readonly isSuspendable: boolean
  /** Hears of the run as soon as there is one. */
  readonly started?: (started: { readonly state: State; readonly run: RunContext.RunContext }) => void
}

/** How long a run waits at its end for listeners that have not heard everything yet. */
const patience = "1 second"

/** Runs `body` as a run of its own, below the present one if there is one. */
export const within = <A, E, R>(
  frame: Frame,
  body: (run: RunContext.RunContext) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const parent = fiber.getRef(RunContext.Current)
    return Effect.flatMap(Identifier.make, (draw) => {
      const runId = frame.resumed?.runId ?? `run-${draw}`
      const sinks = parent === undefined ? observing(fiber) : parent.emit === undefined ? [] : [parent.emit]
      if (frame.sink !== undefined) sinks.push(frame.sink)
      const enter = (all: ReadonlyArray<Sink>) => {
        const run = contextOf(frame, runId, parent, all, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
        const running = Effect.provideService(body(run), RunContext.Current, run)
        return all.length === 0 ? running : reporting(frame, run, running)
      }
      return frame.listeners.length === 0
        ? enter(sinks)
        : heard(frame.listeners, runId, (listening) => enter([...sinks, listening]))
    })
  })

/** The observers around a run that nobody else started. */
const observing = (fiber: Fiber.Fiber<unknown, unknown>): Array<Sink> =>
  fiber.getRef(RunContext.Observers).map((make) => make(fiber.context))

const contextOf = (
  frame: Frame,
  runId: string,
  parent: RunContext.RunContext | undefined,
  sinks: ReadonlyArray<Sink>,
  now: number
): RunContext.RunContext => {
  const depth = parent === undefined ? 0 : parent.depth + 1
  const ledger = new Ledger(parent?.ledger)
  const meter = meterOf(frame, ledger, parent, now)
  const run: RunContext.RunContext = {
    runId,
    agent: frame.agent,
    depth,
    deepest: Math.min(parent?.deepest ?? Infinity, depth + (frame.budget?.maxDepth ?? Infinity)),
    turn: () => frame.state.turn,
    ledger,
    meter,
    fixers: parent?.fixers ?? [],
    ...(parent?.onUnsafe === undefined ? {} : { onUnsafe: parent.onUnsafe }),
    ...(parent?.repairing === undefined ? {} : { repairing: parent.repairing }),
    ...(sinks.length === 0 ? {} : { emit: fanOut(sinks) }),
    ...(parent === undefined ? {} : { parent: startedBy(parent) })
  }
  if (frame.budget !== undefined && run.emit !== undefined) {
    meter.announce = (warning) => RunContext.emit(run, () => ({ type: "budget-warning", ...warning }))
  }
  return run
}

/** A run without limits of its own spends from those above. */
const meterOf = (
  { budget, onExceeded, resumed }: Frame,
  ledger: Ledger,
  parent: RunContext.RunContext | undefined,
  now: number
): Meter => {
  if (budget === undefined && parent !== undefined) return parent.meter
  const meter = new Meter(budget ?? Budget.unlimited, ledger, now, resumed?.elapsed ?? 0, parent?.meter)
  meter.onExceeded = onExceeded
  return meter
}

const startedBy = ({ callId, runId }: RunContext.RunContext) => (callId === undefined ? { runId } : { runId, callId })

const fanOut = (sinks: ReadonlyArray<Sink>): Sink => {
  const [only] = sinks
  if (sinks.length === 1 && only !== undefined) return only
  return (event) => {
    for (const sink of sinks) sink(event)
  }
}

/** Emits the first event, the turn that was cut short, and the one terminal event. */
const reporting = <A, E, R>(frame: Frame, run: RunContext.RunContext, running: Effect.Effect<A, E, R>) =>
  Effect.onExit(
    Effect.andThen(
      RunContext.emit(run, () => ({ type: "run-start", input: frame.input, transcript: frame.state.transcript() })),
      running
    ),
    (exit) =>
      Effect.andThen(
        cutShort(frame, run),
        RunContext.emit(run, () => terminal(frame, run, exit))
      )
  )

const cutShort = ({ state }: Frame, run: RunContext.RunContext): Effect.Effect<void> =>
  Effect.suspend(() => {
    const message = state.unfinished()
    return message === undefined ? Effect.void : RunContext.emit(run, () => ({ type: "turn-end", message }))
  })

const terminal = (
  frame: Frame,
  run: RunContext.RunContext,
  exit: Exit.Exit<unknown, unknown>
): AgentEvent.Happening => {
  const spent = { usage: run.ledger.usage, ledger: [...run.ledger.entries] }
  if (Exit.isSuccess(exit) && exit.value instanceof Suspension) {
    return { type: "run-suspended", snapshot: exit.value.snapshot, ...spent }
  }
  if (Exit.isSuccess(exit)) {
    const { finish } = frame.state
    return { type: "run-completed", output: exit.value, ...(finish === undefined ? {} : { finish }), ...spent }
  }
  const { reasons } = frame.state
  const kept = { transcript: frame.state.transcript(), ...spent }
  if (Cause.hasInterrupts(exit.cause)) return { type: "run-interrupted", ...kept }
  const tried = reasons === undefined || reasons.length < 2 ? {} : { reasons }
  return { type: "run-failed", error: Cause.squash(exit.cause), isDefect: Cause.hasDies(exit.cause), ...tried, ...kept }
}

/** Gives `body` a sink that the listeners hear, and lets them catch up at the end. */
const heard = <A, E, R>(
  listeners: ReadonlyArray<Listener>,
  runId: string,
  body: (sink: Sink) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.forEach(listeners, (listener) => listen(listener, runId)),
    (hearing) =>
      body((event) => {
        for (const ear of hearing) ear.hear(event)
      }),
    (hearing) => Effect.forEach(hearing, (ear) => ear.finish, { concurrency: "unbounded", discard: true })
  )

/** A listener at work. */
interface Ear {
  readonly hear: Sink
  readonly finish: Effect.Effect<void>
}

const listen = Effect.fnUntraced(function* (listener: Listener, runId: string): Effect.fn.Return<Ear> {
  const queue = yield* Queue.unbounded<AgentEvent.AgentEvent, Cause.Done>()
  const takeAll = Effect.forever(Effect.flatMap(Queue.take(queue), (event) => safely(listener, event)))
  const fiber = yield* Effect.forkDetach(Effect.ignore(takeAll))
  return {
    hear: (event) => {
      if (listener.scope === "tree" || event.runId === runId) Queue.offerUnsafe(queue, event)
    },
    finish: Effect.andThen(Queue.end(queue), Effect.ignore(Effect.timeout(Fiber.await(fiber), patience)))
  }
})

/** A listener cannot change a run: what goes wrong in it is logged, and it hears the next event all the same. */
const safely = (listener: Listener, event: AgentEvent.AgentEvent): Effect.Effect<void> =>
  Effect.catchCause(
    Effect.suspend(() => listener.handle(event)),
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
