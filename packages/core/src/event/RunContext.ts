/**
 * The run of an effect: its listeners, its spending, its depth. A run sets `Current`, a `Context.Reference`: fixers, sub-agents and
 * transports find their run there, and no type says so.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import type { Ledger } from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import { type Because, end, Exceeded, Halted, type Meter } from "../budget/Meter.ts"
import { approachable } from "../data/Foreign.ts"
import { type Bounds, unbounded } from "../recovery/Layer.ts"
import type * as AgentEvent from "./AgentEvent.ts"
import type { Happening, Origin } from "./Happening.ts"
import type { Effects } from "./effects.ts"
import { withoutBytes } from "./withoutBytes.ts"

/** @internal */
export { Done, scoped } from "./effects.ts"
/** @internal */
export { drawId, makeId } from "./ids.ts"

/**
 * A run, for its models, tools and transports.
 *
 * @hidden
 */
export interface RunContext {
  readonly runId: string
  readonly agent: string
  /** The level of nesting: 0 for a run without a parent. */
  readonly depth: number
  /** The greatest depth that a descendant may have, by the limits of this run and its ancestors. */
  readonly deepest: number
  /** The run that started this run, and the call in which it did. Absent for a run without a parent. */
  readonly parent?: { readonly runId: string; readonly callId?: string } | undefined
  /** The call in which this effect runs. Absent outside of tools. */
  readonly callId?: string | undefined
  /** The place of that call: run, turn, and index in its reply. Ids of calls repeat over turns, this key does not. */
  readonly callKey?: string | undefined
  /** The `callKey` of the parent's call in which this run was started. */
  readonly parentCallKey?: string | undefined
  /** The idempotency key of the call in which this effect runs. Outside of a call: that of the nearest call around this run. */
  readonly within?: string | undefined
  /** The idempotency keys of the calls of this run are derived from it: the run id, or the place of this run within another run. */
  readonly seed: string
  readonly turn: () => number
  /** Replaces a message of the run's conversation. Absent for a run without one. */
  readonly conversation: { replace?(before: Message.Message, after: Message.Message): void }
  /** Counts what the run spends, against its limits and those of its ancestors. */
  readonly meter: Meter
  /** For a fixer: the failure that it repairs, and how often the call was attempted. */
  readonly repairing?: { readonly error: unknown; readonly attempts: number } | undefined
  /** Whether a tool's function or a fixer started this run or a parent. Then a person who is asked here cannot suspend the run. */
  readonly isApart?: boolean | undefined
  /** Whether this run shortens the conversation of an ancestor for a compaction. */
  readonly isCompacting?: boolean | undefined
  /** Whether models are called as streams, so that text becomes events while the model writes it. A child inherits this from its parent. */
  readonly isStreamed?: boolean | undefined
  /** Whether this run, or this effect, belongs to the check of an ancestor's guardrail. */
  readonly isChecking?: boolean | undefined
  /** Emits an event. Absent without listeners: then no event is built. */
  readonly emit?: Observer | undefined
  readonly ledger: Ledger
  /** The undoable effects of its tool calls, and resources that live as long as the run. */
  readonly done: Effects
  readonly tree: Tree
  /** Called when this run or a descendant starts a tool with unsafe side effects. */
  readonly onUnsafe?: (() => void) | undefined
  /** Fixers that run around this effect; descendants do not start them again. */
  readonly fixers: ReadonlyArray<unknown>
}

/** Gets the events of a run; the first event of a run or a call may be answered with a span. */
type Observer = (event: AgentEvent.AgentEvent, context?: Context.Context<never>) => Tracer.AnySpan | void

/** Shared by a whole tree of runs. */
type Tree = {
  /** The number of events that slow listeners have lost so far. */
  lost: number
  /** How many runs have begun on each branch that several runs may share. */
  begun: Map<string, number> | undefined
  /**
   * What is said to these runs; absent if nothing can be said to any of them.
   *
   * @internal
   */
  inbox: Inbox | undefined
}

/**
 * What is said to the runs of a tree while they are at work.
 *
 * @internal
 */
export interface Inbox {
  /** From now on, messages to this run are accepted: so many may wait. */
  readonly begin: (run: RunContext, capacity: number) => void
  /**
   * Adds a message to a running run. If several runs have this id, the one that began last gets it. Returns `Infinity`, the limit that
   * refuses the message, or `undefined` if there is no such run.
   */
  readonly add: (fiber: Fiber.Fiber<unknown, unknown>, to: string, said: Addressed) => number | undefined
  /** The digests of the requests that were withdrawn, in any run of the tree. */
  readonly withdrawn: ReadonlyArray<string>
  readonly withdraw: (digest: string) => void
  /** Whether messages wait for this run. */
  readonly waits: (run: RunContext) => Effect.Effect<boolean>
  /** Whether a message that waits ends such work of this run. */
  readonly ends: (run: RunContext, what: Endable) => boolean
  /** Reads the messages to this run: each goes to `take`, in their order. */
  readonly read: (run: RunContext, take: (message: Message.User) => void) => Effect.Effect<void>
  /** The messages to this run, for its snapshot. */
  readonly keep: (run: RunContext) => ReadonlyArray<Message.SaidMessage>
  /** No message to this run is accepted from now on. Returns the messages that are neither read nor kept. */
  readonly end: (run: RunContext) => ReadonlyArray<Message.SaidMessage>
  /** Runs an effect until a message interrupts this kind of work; then the result is `undefined`. */
  readonly during: <A, E, R>(
    run: RunContext,
    what: Endable,
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A | undefined, E, R>
}

/**
 * The kinds of work that a message may interrupt: the wait at the end of a run; a model call with everything that has not begun; the calls
 * of a reply; the wait for a decision, here or in a descendant.
 *
 * @internal
 */
export type Endable = "model" | "tools" | "request" | "wait"

/**
 * A message for an inbox.
 *
 * @internal
 */
export interface Addressed {
  readonly said: Message.SaidMessage
  readonly interrupt?: boolean | "tools" | undefined
  /** Whether its event was emitted before. */
  readonly isEmitted?: boolean
}

/**
 * Returns how many runs began on this branch before, and counts one more.
 *
 * @internal
 */
export const begun = (tree: Tree, branch: string): number => {
  tree.begun ??= new Map()
  const before = tree.begun.get(branch) ?? 0
  tree.begun.set(branch, before + 1)
  return before
}

/** The instant that no wait within this run may pass; `Infinity` outside of a run. */
const deadline = (run: RunContext | undefined): number => run?.meter.deadline?.ownDeadline ?? Infinity

/**
 * The bounds of a policy within this run.
 *
 * @internal
 */
export const bounds = (run: RunContext | undefined): Bounds =>
  run === undefined
    ? unbounded
    : {
        left: () => ({ turns: run.meter.left("maxTurns"), toolCalls: run.meter.left("maxToolCalls") }),
        deadline: () => deadline(run),
        haltedAt: () => run.meter.haltedAt,
        wait: sleep
      }

/**
 * Goes on with `next`, unless a limit of this run or of an ancestor was reached. Each step of a run begins with this check.
 *
 * @internal
 */
export const alive = <A, E, R>(
  { meter: { ended } }: RunContext,
  next: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => (ended === undefined ? next() : Effect.die(ended))

/**
 * Begins `next`, unless a limit was reached, or another call has ended this run or an ancestor. Each attempt, fixer and model call
 * begins with this check.
 *
 * @internal
 */
export const begins = <A, E, R>(
  run: RunContext,
  next: () => Effect.Effect<A, E, R>,
  otherwise: (barrier: Exceeded | Halted) => Effect.Effect<A, E, R> = Effect.die
): Effect.Effect<A, E, R> => {
  const { barrier } = run.meter
  if (barrier === undefined) return next()
  if (barrier instanceof Exceeded) return otherwise(barrier)
  // compares with the time of this call: the replay of a durable run must begin again the work that began before that end
  return Effect.flatMap(within(run, Clock.currentTimeMillis), (now) =>
    now < barrier.at ? alive(run, next) : otherwise(barrier)
  )
}

/**
 * Notes that this call ends its run with a failure, and goes on with `next`. The other calls of the reply begin nothing more.
 *
 * @internal
 */
export const halt = <A, E, R>(run: RunContext, next: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(within(run, Clock.currentTimeMillis), (now) => {
    run.meter.halt(now)
    return next()
  })

/**
 * Waits until another call ends the run at most: then it goes on with `otherwise` at once.
 *
 * @internal
 */
export const untilHalted = <A>(
  { meter }: RunContext,
  waiting: Effect.Effect<A>,
  otherwise: (halted: Halted) => Effect.Effect<A>
): Effect.Effect<A> => {
  const { halting } = meter
  return halting === undefined ? waiting : Effect.raceFirst(waiting, Effect.flatMap(halting, otherwise))
}

/**
 * Whether a defect has stopped a call because another call has ended the run.
 *
 * @internal
 */
export const isHalt = (defect: unknown): boolean => approachable(defect) instanceof Halted

/** Whether a defect is a run's exceeded limit. Interceptors must not recover from it. */
export const isLimit = (defect: unknown): defect is Exceeded => approachable(defect) instanceof Exceeded

/**
 * Runs an effect without the limits of its run: a decision about a limit, or work after the end of the run. Its spending goes to the ledger
 * of the run.
 *
 * @internal
 */
export const afterwards = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Current, (run) =>
    run === undefined ? self : Effect.provideService(self, Current, { ...run, meter: run.meter.afterwards() })
  )

/**
 * Ends a run that has no time for a wait. It is this run, or the ancestor whose `maxDuration` is over first. The run that ends fails with
 * its limit. `because` has the failures before the wait.
 */
export const endOfTime = ({ meter }: RunContext, because?: Because): Effect.Effect<never> => {
  const over = meter.deadline
  return over === undefined
    ? Effect.die(new TypeError("RunContext.endOfTime: the run has no end"))
    : end(meter, over.late(over.ownDeadline, because))
}

/** The run of the current fiber; `undefined` outside of a run. */
export const Current = Context.Reference<RunContext | undefined>("@kintsugi/core/RunContext/Current", {
  defaultValue: () => undefined
})

/**
 * Runs an effect as a part of this run.
 *
 * @internal
 */
export const within = <A, E, R>(run: RunContext, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(self, (context: Context.Context<R>) => Context.add(context, Current, run))

/**
 * Sleeps, unless the run would exceed its `maxDuration`. If the sleep would pass the `maxDuration` of the current run or of an ancestor,
 * that run ends at once, by a defect that no table and no fallback model sees. Use it in code that makes a model wait, such as rate limits
 * and transports.
 */
export const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const run = fiber.getRef(Current)
    if (run === undefined) return Effect.sleep(duration)
    const wakes = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() + Duration.toMillis(duration)
    return wakes <= deadline(run) ? alive(run, () => Effect.sleep(duration)) : endOfTime(run)
  })

/**
 * The observers of this program; none by default. Each function gets the context of the first fiber of a run without a parent, and returns
 * an observer. The observer gets every event of that run and its descendants synchronously; it neither waits nor fails. For `run-start`,
 * `model-start` and `tool-start`, it also gets the context of the fiber, and may return a span: the current span until the end of that run
 * or call.
 */
export const Observers = Context.Reference<ReadonlyArray<(context: Context.Context<never>) => Observer>>(
  "@kintsugi/core/RunContext/Observers",
  {
    defaultValue: () => []
  }
)

/**
 * Emits one event of a run; `make` is called only if the run has listeners.
 *
 * @internal
 */
export const emit = (run: RunContext | undefined, make: () => Happening): Effect.Effect<void> =>
  run?.emit === undefined ? Effect.void : emitThen(run, make, () => Effect.void)

/**
 * Emits one event of a run, and goes on with `next` at once: no interruption comes between the two.
 *
 * @internal
 */
export const emitThen = <A, E, R>(
  run: RunContext,
  make: () => Happening,
  next: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  run.emit === undefined
    ? next()
    : Effect.withFiber((fiber) => {
        emitNow(run, fiber, make)
        return next()
      })

/**
 * Runs an action, emits its event and continues with `next` in one step: no interruption comes in between. Without listeners it continues
 * at once.
 *
 * @internal
 */
export const record = <A, B, E, R>(
  run: RunContext,
  act: () => A,
  make: (done: A) => Happening,
  next: (done: A) => Effect.Effect<B, E, R>
): Effect.Effect<B, E, R> =>
  run.emit === undefined
    ? next(act())
    : Effect.withFiber((fiber) => {
        const done = act()
        emitNow(run, fiber, () => make(done))
        return next(done)
      })

/**
 * Emits one event of a run from within its fiber.
 *
 * @internal
 */
export const emitNow = (run: RunContext, fiber: Fiber.Fiber<unknown, unknown>, make: () => Happening): void => {
  if (run.emit === undefined) return
  const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
  run.emit(withoutBytes({ ...originOf(run, at), ...make() }))
}

/**
 * Emits the first event of `body`. If an observer returns a span for it, `body` runs within that span.
 *
 * @internal
 */
export const begin = <A, E, R>(
  run: RunContext,
  make: () => Happening,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const { emit } = run
  if (emit === undefined) return body
  return Effect.withFiber((fiber) => {
    const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const span = emit(withoutBytes({ ...originOf(run, at), ...make() }), fiber.context)
    if (span === undefined) return body
    return Effect.updateContext(body, (context: Context.Context<R>) => Context.add(context, Tracer.ParentSpan, span))
  })
}

/**
 * The same effect. If it fails and the run has listeners, the event of its failure is emitted. `make` returns `undefined` for a failure
 * without an event.
 *
 * @internal
 */
export const emitFailure = <A, E, R>(
  run: RunContext,
  self: Effect.Effect<A, E, R>,
  make: (error: E) => Happening | undefined
): Effect.Effect<A, E, R> =>
  // Mutant `false` survives: speed only. Without listeners nothing is emitted
  run.emit === undefined
    ? self
    : Effect.tapError(self, (error) => {
        const happening = make(error)
        return happening === undefined ? Effect.void : emit(run, () => happening)
      })

const originOf = ({ agent, parent, runId, turn }: RunContext, at: number): Origin =>
  parent === undefined ? { runId, agent, turn: turn(), at } : { runId, agent, turn: turn(), at, parent }
