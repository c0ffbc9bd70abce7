/**
 * Listeners of runs. Each listener gets its events in order, in a fiber of its own, and can neither fail nor change the run. Every run,
 * also a child run, ends with its own listeners. After success or failure the run waits for all of them together, at most `grace`; an
 * interruption ends this wait. An interrupted run does not wait. Then a running listener is interrupted; the run does not wait for a
 * listener that is uninterruptible. The wait of a child run counts as time of its parent, but not against the limits of the child itself. A
 * listener that is attached to a scope lives with that scope: no run waits for it or interrupts it.
 *
 * Every run, a child run too, ends with its own listeners. On success and failure it waits for all of them together, at most `grace`,
 * and an interruption ends that wait; on interruption it does not wait. A listener that is still at work then is interrupted, and
 * nothing of it is left, unless it has made itself uninterruptible: the run does not wait for that either. The wait of a child run is
 * time of the run above, as all that it does; the limits of the run itself do not count it.
 *
 * A listener that is attached to a scope lives with that scope: no run waits for it or interrupts it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import * as Scope from "effect/Scope"
import type { Meter } from "../budget/Meter.ts"
import * as AgentEvent from "./AgentEvent.ts"
import { Deliveries, type Handle, Lost } from "./deliveries.ts"
import * as RunContext from "./RunContext.ts"
import type { Happening } from "./Happening.ts"

/** A handler of the events of runs. */
export interface Listener {
  /** `own` for the run's own events, `tree` for those of its descendants as well. */
  readonly reach: "own" | "tree"
  readonly handle: Handle
  /** The scope of the listener; absent for a listener that lives with each run. */
  readonly attached?: Attached
}

type Observer = NonNullable<RunContext.RunContext["emit"]>

/** The part of a run that its listeners need. */
export interface Audience {
  readonly agent: string
  readonly runId: string
  /** The observers of the parent runs. */
  readonly observers: ReadonlyArray<Observer>
  readonly listeners: ReadonlyArray<Listener>
  readonly tree: RunContext.RunContext["tree"]
  /** Whether the run has a fiber of its own that cannot be interrupted yet. */
  readonly isForked: boolean
}

type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** How long a run, or the scope of a listener, waits for running listeners at its end. */
const grace = "1 second"

/**
 * Runs `body` with all observers, including those that pass events to listeners, and ends the listeners afterwards. A run that emitted its
 * first event also emits its terminal event: no interruption comes between the two, except where `body` allows it.
 */
export const heard = <A, E, R>(
  audience: Audience,
  body: (observers: ReadonlyArray<Observer>, restore: Restore) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const { isForked, listeners, observers } = audience
  const begin = (restore: Restore) =>
    listeners.length === 0 ? body(observers, restore) : listened(audience, restore, body)
  if (isForked) return begin(Effect.interruptible)
  const isHeard = listeners.length > 0 || observers.length > 0
  return isHeard ? Effect.uninterruptibleMask(begin) : begin(identity)
}

/** Passes events on to the listeners of the run, and ends with these. */
const listened = <A, E, R>(
  { agent, listeners, observers, runId, tree }: Audience,
  restore: Restore,
  body: (observers: ReadonlyArray<Observer>, restore: Restore) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    // a listener is no part of a run
    const context = Context.add(fiber.context, RunContext.Current, undefined)
    const lost = new Lost(tree)
    const own: Array<Deliveries> = []
    const deliveries: Array<Deliveries> = []
    const receivers: Array<(event: AgentEvent.AgentEvent) => void> = []
    let attaching: Effect.Effect<void> = Effect.void
    for (const { attached, handle, reach } of listeners) {
      const queue = attached?.queue ?? new Deliveries(handle, lost)
      deliveries.push(queue)
      if (attached === undefined) own.push(queue)
      else attaching = Effect.andThen(attaching, attached.attach)
      receivers.push((event) => {
        if (reach === "tree" || event.runId === runId) queue.add(event, context)
      })
    }
    // events are handed over whenever the run gives way, and at its end
    let handing: Fiber.Fiber<void> | undefined
    const later = Effect.map(Effect.yieldNow, () => {
      handing = undefined
      handOver(deliveries)
    })
    const hear: Observer = (event) => {
      for (const receive of receivers) receive(event)
      handing ??= Effect.runForkWith(context)(later)
    }
    const begun = () => body([...observers, hear], restore)
    return Effect.onExitPrimitive(Effect.flatMap(attaching, begun), (exit) => {
      handing?.interruptUnsafe()
      handOver(deliveries)
      const isInterrupted = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      // Mutants `undefined`, `false` survive: only a yield more
      const isThrough = own.every((queue) => queue.fiber === undefined)
      const stop = () => stopped(own, lost, { agent, runId })
      const end =
        isInterrupted || isThrough
          ? stop()
          : Effect.flatMap(Effect.exit(restore(caughtUp(own))), () => stop() ?? Effect.void)
      return end && Effect.provideContext(end, context)
    })
  })

/** Hands each event to all idle listeners, in the order of their attachment, before the next event. */
const handOver = (deliveries: ReadonlyArray<Deliveries>): void => {
  for (let isAny = true; isAny;) {
    isAny = false
    for (const queue of deliveries) if (queue.next()) isAny = true
  }
}

/** Waits until all events are handled, at most `grace`. */
const caughtUp = (deliveries: ReadonlyArray<Deliveries>): Effect.Effect<void> => {
  const idle: Effect.Effect<void> = Effect.suspend(() => {
    const fibers = deliveries.flatMap(({ fiber }) => fiber ?? [])
    return fibers.length === 0 ? Effect.void : Effect.flatMap(Fiber.awaitAll(fibers), () => idle)
  })
  return Effect.asVoid(Effect.timeoutOption(idle, grace))
}

const stopped = (
  deliveries: ReadonlyArray<Deliveries>,
  lost: Lost,
  labels: { readonly agent: string; readonly runId?: string }
): Effect.Effect<void> | undefined => {
  for (const queue of deliveries) queue.stop()
  return lost.report(labels)
}

/** The queue of a listener that lives with a scope: one for all runs. */
export class Attached {
  readonly queue: Deliveries
  readonly attach: Effect.Effect<void>

  constructor(agent: string, handle: Handle, scope: Scope.Scope) {
    const lost = new Lost({ lost: 0 })
    const queue = new Deliveries(handle, lost)
    this.queue = queue
    let isAttached = false
    const detach = Effect.suspend(() => {
      queue.close()
      handOver([queue])
      return Effect.ensuring(
        caughtUp([queue]),
        Effect.suspend(() => stopped([queue], lost, { agent }) ?? Effect.void)
      )
    })
    this.attach = Effect.suspend(() => {
      if (isAttached) return Effect.void
      isAttached = true
      return Scope.addFinalizer(scope, detach)
    })
  }
}

/** The observers around a run: its parent's, or those of the program. */
export const around = (
  fiber: Fiber.Fiber<unknown, unknown>,
  parent: RunContext.RunContext | undefined
): ReadonlyArray<Observer> => {
  if (parent === undefined) return fiber.getRef(RunContext.Observers).map((make) => make(fiber.context))
  return parent.emit === undefined ? [] : [parent.emit]
}

/**
 * Joins the observers into one; `undefined` without observers. The first `outer` of them belong to parent runs. The terminal event of the
 * run is their last one. Descendants that outlive the run still reach the parents' observers, so every span that began there ends.
 */
export const joined = (runId: string, observers: ReadonlyArray<Observer>, outer: number): Observer | undefined => {
  if (observers.length === 0) return undefined
  let isOver = false
  return (event, context) => {
    const isOwn = event.runId === runId
    if (isOver && isOwn) return undefined
    const many = isOver ? outer : observers.length
    if (isOwn) isOver = AgentEvent.isTerminal(event)
    let span: ReturnType<Observer> = undefined
    for (let index = 0; index < many; index++) span = observers[index]?.(event, context) ?? span
    return span
  }
}

/** Emits the event with which `body` begins, and those with which it ends. The scope of the run is closed before them. */
export const reported = <A, E, R>(
  run: RunContext.RunContext,
  fiber: Fiber.Fiber<unknown, unknown>,
  first: () => Happening,
  last: (exit: Exit.Exit<A, E>) => ReadonlyArray<Happening>,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.onExitPrimitive(RunContext.begin(run, first, body), (exit) => {
    const report = () => {
      // an observer may start another run at once
      run.done.isOver = true
      if (run.emit !== undefined) for (const happening of last(exit)) RunContext.emitNow(run, fiber, () => happening)
      return undefined
    }
    const closing = run.done.close(exit, run.runId)
    return closing === undefined ? report() : Effect.map(closing, report)
  })

/** Emits warnings about limits that are near. Without an observer no limit counts as announced, because a resumed run may have one. */
export const announcing = (run: RunContext.RunContext, meter: Meter): void => {
  if (run.emit === undefined) return
  // V8 allocates this function among its old objects if it is assigned to a property directly; then the whole run would stay in memory with
  // it
  const announce: Meter["announce"] = (warning) => RunContext.emit(run, () => ({ type: "budget-warning", ...warning }))
  meter.announce = announce
}
