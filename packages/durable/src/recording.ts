/** Records the steps of durable runs: each step runs once, and every later replay reads its stored result. */
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Approval } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Interception from "@kintsugi/core/Interception"
import * as Issue from "@kintsugi/core/Issue"
import type * as RunContext from "@kintsugi/core/RunContext"
import * as Redaction from "@kintsugi/core/Redaction"
import { type Asks, isOther, revisionOf, stampOf } from "./asks.ts"
import { Books, decodeSpent, encodeSpent, rebook, spentOf } from "./books.ts"
import { ChangedAgentError, UnreadableStepError, unreadable } from "./errors.ts"
import type { EventLog } from "./eventLog.ts"
import type { Line, Lines } from "./lines.ts"
import { leaveToNewer } from "./leaving.ts"
import type { Migration } from "./migration.ts"
import { type AnyCodec, type Outcome, outcomeOf } from "./outcomes.ts"
import type { Rows } from "./rows.ts"
import type { Stop } from "./stop.ts"
import type { Words, Written } from "./words.ts"

/** The work of steps that is under way in this process, by execution and step. It goes on while its workflow is replayed. */
export type AtWork = Map<string, Working>

interface Working {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** The ledger of the agents that the step calls; `undefined` for a step that cannot call agents. */
  readonly books: Books | undefined
}

/** The state of one replay of a durable run, which the engine calls an execution. The first pass through a run is a replay too. */
export interface Replay {
  readonly executionId: string
  readonly engine: WorkflowEngine["Service"]
  /** The same engine, which dies where `engine` waits for its storage. The log uses it: the run does not wait for its log. */
  readonly direct: WorkflowEngine["Service"]
  readonly instance: WorkflowInstance["Service"]
  /** Whether the engine has taken the run from this process: it goes on in another process, or here later. */
  readonly taken: { isSo: boolean }
  /** Whether `Durable.interrupt` has stopped the run, which ends it. */
  readonly stopping: Stop
  readonly lines: Lines
  /** Decides about tool calls within a step. Such calls cannot wait for a person without a process. */
  readonly approver: Approval.Approver["Service"]
  /** The real clock and random numbers of this process; `random` is not repeated by a replay. */
  readonly clock: Clock.Clock
  readonly random: Random.Random
  /** The scope for the work of steps, which may outlive the replay that began it. */
  readonly scope: Scope.Scope
  readonly atWork: AtWork
  /** The text of the run's model calls that are streaming in this process. */
  readonly words: Written
  /** The log of the run's events; `undefined` with the option `events: false`. */
  readonly log: EventLog | undefined
  /** The keys of steps that must not run twice. This process has recorded that it begins them, and has not begun them yet. */
  readonly intents: Set<string>
  /** A random id that distinguishes this process from earlier and other processes of the workflow. */
  readonly incarnation: string
  /** `rows`: the stored rows of the run, if the engine has storage. `waiting`: the steps whose result the engine has not given yet. */
  readonly rows: Rows | undefined
  readonly waiting: Set<string>
  /** Whether `Durable.say` can send messages to the run. */
  readonly hasInbox: boolean
  /** The format with which the run began, see `asks.ts`. */
  readonly format: { number: number }
  /** The migrations of the workflow. Each step is recorded with their number, so a replay knows which of them came later. */
  readonly migrations: ReadonlyArray<Migration>
  /** The latest reply of each run that was recorded before some migration: its step, and the number of migrations then. */
  readonly replies: Map<string, { readonly step: string; readonly revision: number }>
  /** The digests of requests for approval that an earlier version of the agent has made, and this replay has come to. */
  readonly asked: Set<string>
  /** The parent of each run that has begun: the keys and the values are run ids. */
  readonly parents: Map<string, string>
  /** The failures with which the run may end. Functions that decide within the run may fail with the same errors. */
  readonly failures: { readonly schema: AnyCodec; readonly isDeclared: (error: unknown) => boolean }
}

/** A step to record. Its name is the same in every replay, and is unique within the execution. */
export interface Recorded<A, E> {
  readonly line: Line
  readonly name: string
  readonly value: Schema.Codec<A, unknown>
  readonly error: Schema.Codec<E, unknown>
  readonly work: Effect.Effect<A, E>
  /** The step's request. A replay with another request does not get the stored result, because the agent has changed. */
  readonly asks?: Asks
  /** The run of a step that may call agents. What these agents spend is stored with the result of the step. */
  readonly run?: RunContext.RunContext | undefined
  /** The text of a streamed model call. If the step is cut off, the usage that the provider has counted so far is stored. */
  readonly words?: Words
}

/** Runs a step, or reads its stored result, and advances the time of its line (of its run or tool call) to the end of the step. */
export const record = <A, E>(
  replay: Replay,
  { asks, error, line, name, run, value, words, work }: Recorded<A, E>
): Effect.Effect<A, E> => {
  const key = `${replay.executionId}/${name}`
  const outcome = outcomeOf(value, error)
  let wasLate = false
  const stepping = Effect.gen(function* () {
    // steps that begin together must all begin before one of them goes on, and a stored result is there at once
    yield* Effect.yieldNow
    for (let part = 1; ; part++) {
      const { until } = line
      let isDone = false
      const doing = Effect.suspend(() => {
        line.live()
        isDone = true
        const span = { at: line.time, until }
        return Effect.flatMap(working(replay, key, span, { run, work }), ({ ended, books }) =>
          outcome.encode({
            ...ended,
            ...(ended._tag === "Late" ? words?.counts : stampOf(replay.migrations.length, asks)),
            ...spentOf(books)
          })
        )
      })
      const step = part === 1 ? name : `${name}~${part}`
      const stored = yield* replay.lines.busy(activity(replay, step, doing))
      const revision = revisionOf(stored)
      const { length } = replay.migrations
      if (revision > length) return yield* leaveToNewer(replay, revision)
      const ended = yield* reading(replay, step, outcome.decode(stored))
      if (ended._tag !== "Late") {
        if (isOther(ended, asks, revision < length)) return yield* Effect.die(changed(replay, step))
        asks?.recorded?.(step, revision)
      }
      if (!isDone) rebook(run, ended.ledger)
      if (ended._tag !== "Late") {
        if (!isDone && ended.words !== undefined) asks?.restore?.(ended.words)
        line.advance(ended.at)
        // cast: the schemas of this step have decoded it
        return yield* ended._tag === "Done" ? Effect.succeed(ended.value as A) : Effect.fail(ended.error as E)
      }
      wasLate = true
      if (ended.counted !== undefined) {
        words?.push({ type: "usage", ...ended.counted })
        yield* acted
      }
      line.reach(until)
      yield* acted
    }
  })
  return underWay(
    line,
    Effect.onExit(stepping, (exit) => {
      const isCut = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      // a suspended replay leaves the work of its step to the next replay; any other end of a step stops the work
      if (isCut && replay.instance.suspended && !replay.stopping.isSo) return Effect.void
      const at = replay.atWork.get(key)
      const stopping = Effect.suspend(() => {
        replay.atWork.delete(key)
        return at === undefined ? Effect.void : Fiber.interrupt(at.fiber)
      })
      // an interrupted step is not over if its run goes on in another process
      const isOver = isCut && !replay.taken.isSo && replay.scope.state._tag !== "Closed"
      return wasLate && isOver && run !== undefined ? cutOff(replay, name, run, at?.books, stopping) : stopping
    })
  )
}

/** Stops a step that a timeout has ended, and stores what its agents have spent until they stop. */
const cutOff = (
  replay: Replay,
  name: string,
  run: RunContext.RunContext,
  books: Books | undefined,
  stopping: Effect.Effect<void>
): Effect.Effect<void> => {
  let isDone = false
  const doing = Effect.suspend(() => {
    isDone = true
    books?.attach(run)
    return Effect.flatMap(stopping, () => Effect.orDie(encodeSpent(spentOf(books))))
  })
  const step = `${name}/cut-off`
  // a separate instance: the run goes on after this activity, so an engine that suspends the activity must not suspend the run with it
  const { executionId, instance } = replay
  const apart = { ...replay, instance: WorkflowInstance.initial(instance.workflow, executionId) }
  const keeping = Effect.gen(function* () {
    const stored = yield* replay.lines.busy(activity(apart, step, doing))
    if (isDone) return
    const { ledger } = yield* reading(replay, step, decodeSpent(stored))
    yield* stopping
    rebook(run, ledger)
  })
  // forked, because an activity does not run in a fiber that is interrupted
  return Effect.flatMap(Effect.forkChild(keeping), (fiber) =>
    Effect.flatMap(Fiber.await(fiber), (exit) => (apart.instance.suspended ? Effect.void : exit))
  )
}

/**
 * Records that a wait outside of recorded steps is over. Only the first replay that gets here runs this activity, and so learns that it is
 * the first.
 */
export const goingOn = (replay: Replay, line: Line, name: string): Effect.Effect<void> =>
  replay.lines.busy(
    activity(
      replay,
      `${name}/over`,
      Effect.sync(() => line.live())
    )
  )

/** Marks a step of a run or tool call as under way while the effect lasts. Meanwhile the step records which waits of that line are over. */
export const underWay = <A, E>(line: Line, self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => line.begin()),
    () => self,
    () => Effect.sync(() => line.end())
  )

/** Yields ten times, so that the fibers whose wait is over can act. One of them may interrupt the fiber that yields here. */
// Mutant `{}` survives: then it gives an array, which is not read
export const acted: Effect.Effect<void> = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, {
  discard: true
})

/** The schema of a failure of which only the message is stored. */
export const Said = Schema.Struct({ message: Schema.String })

export const saying = (error: unknown): typeof Said.Type => ({
  message: Redaction.foreign(ErrorCause.messageOf(error))
})

/** Decodes the stored result of a step. A result that does not fit the schema is a defect, an `UnreadableStepError`. */
export const reading = <A>(
  { executionId, instance }: Replay,
  step: string,
  decoded: Effect.Effect<A, Schema.SchemaError>
): Effect.Effect<A> =>
  Effect.catchIf(decoded, Schema.isSchemaError, ({ issue }) => {
    const [first] = Issue.fromSchema(issue, undefined)
    return Effect.die(
      UnreadableStepError.make({ workflow: instance.workflow._tag, executionId, step, ...unreadable(first) })
    )
  })

const changed = ({ executionId, instance }: Replay, step: string): ChangedAgentError =>
  ChangedAgentError.make({ workflow: instance.workflow._tag, executionId, step })

/**
 * Makes an activity of the engine out of the work of a step. The engine does not know the recorded time, so the activity gets the real
 * clock of the process. Its result is JSON or `undefined`.
 */
export const activity = (
  replay: Replay,
  name: string,
  execute: Effect.Effect<unknown, never, WorkflowInstance>
): Effect.Effect<unknown> => {
  const { clock, engine, instance, rows, waiting } = replay
  const begins = Effect.suspend(() => {
    waiting.delete(name)
    return execute
  })
  const made = Activity.make({
    name,
    // the caller decodes the JSON with the schema of the step, and reports a misfit
    success: Stored,
    // no retries: an interrupted activity may have had side effects
    interruptRetryPolicy: never,
    // cast: a schema for JSON has encoded the result
    execute: apart(replay, begins as Effect.Effect<Schema.Json | undefined, never, WorkflowInstance>)
  })
  const done = made.pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(WorkflowEngine, engine),
    Effect.provideService(WorkflowInstance, instance)
  )
  if (rows === undefined) return done
  return Effect.suspend(() => {
    waiting.add(name)
    return Effect.ensuring(
      done,
      Effect.sync(() => waiting.delete(name))
    )
  })
}

const apart = <A, E, R>({ approver, random }: Replay, self: Effect.Effect<A, E, R>) =>
  self.pipe(
    Effect.provideService(Random.Random, random),
    Effect.provideService(Approval.Approver, approver),
    // runs that start within a step are parts of it, so their own steps are not intercepted
    Effect.provideService(Interception.Current, undefined)
  )

/** Runs an effect without recording it, by the real clock of the process. */
export const outside = <A, E, R>(replay: Replay, self: Effect.Effect<A, E, R>) =>
  Effect.provideService(apart(replay, self), Clock.Clock, replay.clock)

const never = Schedule.recurs(0)

const Stored = Schema.Union([Schema.Json, Schema.Undefined])

/**
 * The time left until an instant, by the clock of this process. It is never longer than the wait that was decided: the clock of the process
 * that recorded the instant may have been ahead.
 */
export const remainder = (clock: Clock.Clock, from: number, until: number): Duration.Duration =>
  Duration.millis(Math.max(0, Math.min(until - clock.currentTimeMillisUnsafe(), until - from)))

/** Begins the work of a step, or joins it if an earlier replay has begun it, and waits for its end, until the given instant at most. */
const working = (
  { atWork, clock, instance, scope, stopping, taken }: Replay,
  key: string,
  { at: from, until }: { readonly at: number; readonly until: number },
  { run, work }: { readonly run: RunContext.RunContext | undefined; readonly work: Effect.Effect<unknown, unknown> }
): Effect.Effect<{ readonly ended: Outcome; readonly books: Books | undefined }, never, WorkflowInstance> =>
  Effect.gen(function* () {
    const before = atWork.get(key)
    // Mutant `true` for `run !== undefined` survives: the books of a step without a run stay empty
    const books = before === undefined && run !== undefined ? new Books() : before?.books
    // Mutant `true` survives: without a run there are no books
    if (run !== undefined) books?.attach(run)
    if (clock.currentTimeMillisUnsafe() >= until) return { ended: late, books }
    const begun = books === undefined || run === undefined ? work : books.keep(run, work)
    const fiber = before?.fiber ?? (yield* Effect.forkIn(begun, scope, { startImmediately: true }))
    atWork.set(key, { fiber, books })
    const ended = Fiber.await(fiber)
    const exit = yield* Effect.onInterrupt(
      until === Infinity
        ? Effect.asSome(ended)
        : Effect.raceFirst(Effect.asSome(ended), Effect.as(clock.sleep(remainder(clock, from, until)), Option.none())),
      () => {
        // a suspended run leaves its work to the next replay in this process; for a replay in another process, which begins the work again,
        // it stops here
        if (instance.suspended && !instance.abandoned) return Effect.void
        atWork.delete(key)
        return Fiber.interrupt(fiber)
      }
    )
    if (Option.isNone(exit)) return { ended: late, books }
    atWork.delete(key)
    const at = Math.min(clock.currentTimeMillisUnsafe(), until)
    if (Exit.isSuccess(exit.value)) return { ended: { _tag: "Done", at, value: exit.value.value }, books }
    const { cause } = exit.value
    // work that ends because the process shuts down is not recorded: the next process begins it again
    if (Cause.hasInterrupts(cause) && scope.state._tag === "Closed") return yield* Effect.never
    // work that ends because its run was stopped, or goes on in another process, is not recorded
    if (Cause.hasInterrupts(cause) && (taken.isSo || stopping.isSo) && !instance.suspended) {
      return yield* Effect.flatMap(WorkflowInstance, Workflow.suspend)
    }
    // cast: a cause with an interruption or a defect is passed on, and has no typed failure
    if (Cause.hasInterrupts(cause) || Cause.hasDies(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
    return { ended: { _tag: "Failed", at, error: Cause.squash(cause) }, books }
  })

const late: Outcome = { _tag: "Late" }
