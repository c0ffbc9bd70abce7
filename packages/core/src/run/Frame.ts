/** The frame of every run, of a model's loop or of a function: its position in the tree, its events, its listeners. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Budget from "../budget/Budget.ts"
import { Ledger } from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import type { EndedBy } from "../errors/Limit.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Snapshot } from "../event/Checkpoint.ts"
import type { LeftCall } from "../tool/Late.ts"
import type { Decisions, Nesting } from "../tool/ToolDefinition.ts"
import { Meter, type OnExceeded } from "../budget/Meter.ts"
import { markOf } from "./mark.ts"
import { Suspension } from "./Start.ts"
import { Inbox } from "../event/Inbox.ts"
import * as Listening from "../event/Listening.ts"
import * as Interception from "../model/Interception.ts"
import * as Limits from "./Limits.ts"
import type { Happening } from "../event/Happening.ts"

export type { Listener } from "../event/Listening.ts"

/** A function that gets each event as it is emitted. */
export type Sink = NonNullable<RunContext.RunContext["emit"]>

/** The state of a run that its frame reads. */
export interface State {
  readonly turn: number
  readonly transcript: () => Message.Transcript
  /** The transcript with the words that a guardrail has withheld; absent without guardrails. */
  readonly whole?: () => Message.Transcript
  /** The transcript without the message of the turn at work. */
  readonly said: () => Message.Transcript
  /** The assistant message of the turn at work; `undefined` before a reader has seen a part of it, and after the turn. */
  readonly unfinished: () => Message.Assistant | undefined
  /** Replaces a message of the conversation; absent for a function, which has none. */
  readonly replace?: (before: Message.Message, after: Message.Message) => void
  /** The digests of the requests for approval that its calls wait for. */
  readonly requests?: () => ReadonlyArray<string>
  /** The text of the last reply. */
  readonly partial?: string
  /** The finish reason of the reply that is the output; absent for a function's value. */
  readonly finish?: Message.FinishReason | undefined
  /** The limit at which the run has answered. */
  readonly endedBy?: EndedBy | undefined
  /** The deferred calls that go on after the end of the run. */
  readonly left?: ReadonlyArray<LeftCall> | undefined
  /** The failures of all agents that were tried for one answer, in order. */
  readonly reasons?: ReadonlyArray<unknown> | undefined
}

export interface Frame {
  readonly agent: string
  readonly input: unknown
  readonly state: State
  readonly listeners: ReadonlyArray<Listening.Listener>
  readonly sink: Sink | undefined
  readonly mode: Mode
  /** The run's own limits; absent if only its parents set limits. */
  readonly budget?: Budget.Budget
  readonly onExceeded?: OnExceeded | undefined
  /** The run that is resumed: its id, the seed of its keys, and how many milliseconds it has worked already. */
  readonly resumed?: { readonly runId: string; readonly seed: string; readonly elapsed: number } | undefined
}

/** How a caller runs an agent: whole or streamed, and whether the run may be suspended. */
export interface Mode {
  /** Whether the caller reads text as the model writes it. If not, deltas are emitted only if the parent run is streamed. */
  readonly isStreamed: boolean
  /** Whether a request for approval suspends the run. If not, the run waits for the decision. */
  readonly isSuspendable: boolean
  /** Whether the run has a fiber of its own. No interruption reaches that fiber before the first event. */
  readonly isForked?: boolean
  /** Set for a sub-agent that is suspended together with the run that called it. */
  readonly nesting?: Nesting
  /** The id that the caller has given to the run; a random one by default. A resumed run keeps its id. */
  readonly runId?: string
  /** The name of this run among the runs that its parent or its call starts, if it is the only one there; by default a number. */
  readonly branch?: string
  /** Called with the limits of the run before its first event. */
  readonly limited?: (budget: Budget.Budget) => void
  /** Called with the decisions that were given to a resumed run. */
  readonly deciding?: (decisions: Decisions) => void
  /** Called with the run as soon as it begins. */
  readonly started?: (started: Started) => void
}

/** A run that has begun. */
export interface Started {
  readonly state: State
  readonly run: RunContext.RunContext
  /** The snapshot of a resumed run. */
  readonly from?: Snapshot | undefined
}

/**
 * Runs `body` as a run of its own: as a child of the current run, if there is one. A run that begins after the current run has ended is a
 * root: it has its own limits, is booked for itself, and names the ended run.
 */
export const within = <A, E, R>(
  frame: Frame,
  body: (run: RunContext.RunContext) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const parent = fiber.getRef(RunContext.Current)
    if (parent === undefined) return begin(frame, body, fiber, parent)
    if (parent.done.isOver) return begin(frame, body, fiber, undefined, parent)
    // no child run begins after a limit or another call has ended the work of its parent
    return RunContext.begins(parent, () => begin(frame, body, fiber, parent))
  })

const begin = <A, E, R>(
  frame: Frame,
  body: (run: RunContext.RunContext) => Effect.Effect<A, E, R>,
  fiber: Fiber.Fiber<unknown, unknown>,
  parent: RunContext.RunContext | undefined,
  ended?: RunContext.RunContext
): Effect.Effect<A, E, R> => {
  const { agent, listeners, mode, resumed, sink } = frame
  const { isForked = false } = mode
  const runId = resumed?.runId ?? mode.runId ?? `run-${RunContext.drawId(fiber)}`
  const interceptor = parent === undefined ? fiber.getRef(Interception.Current) : undefined
  const said = interceptor?.said
  const tree = parent?.tree ?? { lost: 0, begun: undefined, inbox: said && new Inbox(said, interceptor?.unread) }
  if (isForked) tree.inbox ??= new Inbox()
  mode.limited?.(frame.budget ?? Budget.unlimited)
  const isStreamed = (parent ?? interceptor)?.isStreamed === true
  const outer = Listening.around(fiber, parent)
  const observers = sink === undefined ? outer : [...outer, sink]
  return Listening.heard({ agent, runId, observers, listeners, tree, isForked }, (observers, restore) => {
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const emit = Listening.joined(runId, observers, outer.length)
    const run = contextOf(frame, runId, parent, emit, tree, now, isStreamed)
    // the caller that started the run can use it before the run does anything
    const working = isForked ? Effect.andThen(Effect.yieldNow, body(run)) : body(run)
    return reported(frame, run, fiber, ended, restore(RunContext.within(run, working)))
  })
}

/** Emits the events with which the run begins and ends. As long as the run waits, it keeps what is in this function. */
const reported = <A, E, R>(
  frame: Frame,
  run: RunContext.RunContext,
  fiber: Fiber.Fiber<unknown, unknown>,
  ended: RunContext.RunContext | undefined,
  working: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const first = (): Happening => ({
    type: "run-start",
    input: frame.input,
    transcript: frame.state.said(),
    ...(ended === undefined ? {} : { startedIn: startedBy(ended) })
  })
  return Listening.reported(run, fiber, first, (exit) => last(frame, run, exit), working)
}

const contextOf = (
  frame: Frame,
  runId: string,
  parent: RunContext.RunContext | undefined,
  emit: Sink | undefined,
  tree: RunContext.RunContext["tree"],
  now: number,
  isStreamed: boolean
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
    conversation: frame.state,
    ledger,
    meter,
    done: new RunContext.Done(parent?.done, frame.agent, runId),
    tree,
    fixers: parent?.fixers ?? noFixers,
    // every run has the same fields in the same order: copying such an object for each call is fast
    onUnsafe: parent?.onUnsafe,
    isCompacting: parent?.isCompacting,
    isChecking: parent?.isChecking,
    isApart: parent !== undefined && isApart(parent, frame.mode),
    isStreamed: frame.mode.isStreamed || isStreamed,
    repairing: parent?.repairing,
    emit,
    parent: parent === undefined ? undefined : startedBy(parent),
    callId: undefined,
    callKey: undefined,
    parentCallKey: parent?.callKey,
    within: parent?.within,
    seed: frame.resumed?.seed ?? seedOf(frame, runId, parent)
  }
  if (frame.budget !== undefined) Listening.announcing(run, meter)
  tree.inbox?.begin(run, (frame.budget ?? Budget.unlimited).maxUnread)
  return run
}

const isApart = (parent: RunContext.RunContext, { branch }: Mode): boolean =>
  parent.isApart === true || parent.fixers.length > 0 || (parent.callKey !== undefined && branch !== ofAgent)

/** The branch of an agent that is used as a tool. Each attempt of a call starts one such run, and all of them have the same keys. */
export const ofAgent = "agent"

/**
 * The seed of a child run's keys: the call in which the run begins, and its number among the runs there. A retried parent derives the same
 * seeds, although the ids of its child runs differ. An id from the caller replaces the number.
 */
const seedOf = (
  { agent, mode: { branch, runId: given } }: Frame,
  runId: string,
  parent: RunContext.RunContext | undefined
): string => {
  if (parent === undefined) return runId
  const { callKey, repairing, seed, tree, within } = parent
  if (given !== undefined) return within === undefined ? given : `${within}\nrun ${given}`
  // counting starts anew after a suspension, because the turn or the repair is another one
  const [outer, step] = callKey === undefined ? [seed, parent.turn()] : [within, repairing?.attempts]
  const at = `${outer}\n${branch ?? `${step} ${JSON.stringify(agent)}`}`
  return branch === undefined ? `${at} ${RunContext.begun(tree, at)}` : at
}

const noFixers: ReadonlyArray<unknown> = []

/** The meter of a run. A run without limits of its own uses the limits of its parent. */
const meterOf = (
  { agent, budget, onExceeded, resumed }: Frame,
  ledger: Ledger,
  parent: RunContext.RunContext | undefined,
  now: number
): Meter => {
  if (budget === undefined && parent !== undefined) return parent.meter
  const meter = new Meter(agent, budget ?? Budget.unlimited, ledger, now, resumed?.elapsed ?? 0, parent?.meter)
  meter.onExceeded = onExceeded
  return meter
}

const startedBy = ({ callId, runId }: RunContext.RunContext) => (callId === undefined ? { runId } : { runId, callId })

/** The events at the end: the turn that was cut short, and the terminal event. */
const last = (
  frame: Frame,
  run: RunContext.RunContext,
  exit: Exit.Exit<unknown, unknown>
): ReadonlyArray<Happening> => {
  // a suspended turn is not over: it ends after the resumption
  const message = waitingIn(exit) === undefined ? frame.state.unfinished() : undefined
  const { inbox } = run.tree
  const unread = inbox?.end(run) ?? nothing
  // the run has ended without a decision about this request
  if (inbox !== undefined && !isSuspended(exit))
    for (const digest of frame.state.requests?.() ?? nothing) inbox.withdraw(digest)
  const end = terminal(frame, run, exit, unread)
  const all: Array<Happening> = message === undefined ? [] : [{ type: "turn-end", message }]
  for (const { id, message } of unread) all.push({ type: "message-returned", id, message })
  all.push(end)
  return all
}

const nothing: ReadonlyArray<never> = []

const isSuspended = (exit: Exit.Exit<unknown, unknown>): exit is Exit.Success<Suspension> =>
  Exit.isSuccess(exit) && exit.value instanceof Suspension

const waitingIn = (exit: Exit.Exit<unknown, unknown>) =>
  isSuspended(exit) ? exit.value.snapshot.unfinished : undefined

const terminal = (
  frame: Frame,
  run: RunContext.RunContext,
  exit: Exit.Exit<unknown, unknown>,
  unread: ReadonlyArray<Message.SaidMessage>
): Happening => {
  const { entries, usage } = run.ledger
  const spent = { usage, ledger: [...entries], ...(unread.length === 0 ? {} : { unread }) }
  if (isSuspended(exit)) {
    const message = waitingIn(exit) === undefined ? undefined : frame.state.unfinished()
    return {
      type: "run-suspended",
      snapshot: exit.value.snapshot,
      ...(message === undefined ? {} : { message }),
      ...spent
    }
  }
  if (Exit.isSuccess(exit)) {
    return { type: "run-completed", output: exit.value, ...markOf(frame.state), ...spent }
  }
  const { reasons } = frame.state
  const common = { transcript: frame.state.transcript(), ...spent }
  if (Cause.hasInterrupts(exit.cause) || RunContext.isHalt(Cause.squash(exit.cause)))
    return { type: "run-interrupted", ...common }
  const tried = reasons === undefined || reasons.length < 2 ? {} : { reasons }
  const { ended } = run.meter
  // a limit of a parent has also ended this run
  if (ended !== undefined && RunContext.isLimit(Cause.squash(exit.cause))) {
    return { type: "run-failed", error: Limits.errorOf(ended, run, frame.state), isDefect: false, ...tried, ...common }
  }
  return {
    type: "run-failed",
    error: Cause.squash(exit.cause),
    isDefect: Cause.hasDies(exit.cause),
    ...tried,
    ...common
  }
}
