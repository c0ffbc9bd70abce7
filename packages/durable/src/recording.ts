/** One recorded step: it runs once, and every later replay reads its result. */
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
import * as Bounds from "@kintsugi/core/Bounds"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Interception from "@kintsugi/core/Interception"
import * as Issue from "@kintsugi/core/Issue"
import type * as RunContext from "@kintsugi/core/RunContext"
import * as Redaction from "@kintsugi/core/Redaction"
import { Books, decodeSpent, encodeSpent, rebook, type Spent, spentFields, spentOf } from "./books.ts"
import { ChangedAgentError, UnreadableStepError, unreadable } from "./errors.ts"
import type { EventLog } from "./eventLog.ts"
import type { Line, Lines } from "./lines.ts"
import type { Rows } from "./rows.ts"
import type { Stop } from "./stop.ts"
import { Counted, type Words, type Written } from "./words.ts"

/** Any schema whose values can be stored without the help of services. */
export type AnyCodec = Schema.Codec<unknown, unknown>

/** Work of this process, by execution and step: it goes on while its workflow is replayed. */
export type AtWork = Map<string, Working>

interface Working {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** The spending of agents within it; only of a step that may call agents. */
  readonly books: Books | undefined
}

/** One replay of one execution. */
export interface Replay {
  readonly executionId: string
  readonly engine: WorkflowEngine["Service"]
  readonly instance: WorkflowInstance["Service"]
  /** Whether the engine has taken the run off this process: it goes on in another one, or here later. */
  readonly taken: { isSo: boolean }
  /** Whether the run was stopped from outside: it ends then. */
  readonly stopping: Stop
  readonly lines: Lines
  /** Decides about calls within a step, which cannot wait without a process. */
  readonly approver: Approval.Approver["Service"]
  /** The clock and the random numbers of this process. */
  readonly clock: Clock.Clock
  readonly random: Random.Random
  /** The scope of work that outlives its replay. */
  readonly scope: Scope.Scope
  readonly atWork: AtWork
  /** The words of the model calls of the execution that are at work in this process. */
  readonly words: Written
  /** The log of its events; `undefined` if it is switched off. */
  readonly log: EventLog | undefined
  /** Steps that must not run twice, which this process has announced and not begun yet. */
  readonly intents: Set<string>
  /** Which process this is. */
  readonly incarnation: string
  /** The stored rows of the run, if the storage can be read, and the steps that wait for their engine. */
  readonly rows: Rows | undefined
  readonly waiting: Set<string>
  /** Whether messages can be said to the run. */
  readonly hasInbox: boolean
  /** The parents of the runs that have begun, by their ids. */
  readonly parents: Map<string, string>
  /** The failures of the run, and so of the functions that decide within it. */
  readonly failures: { readonly schema: AnyCodec; readonly isDeclared: (error: unknown) => boolean }
}

/** A step: its name is the same in every replay, and no other step of the execution has it. */
export interface Recorded<A, E> {
  readonly line: Line
  readonly name: string
  readonly value: Schema.Codec<A, unknown>
  readonly error: Schema.Codec<E, unknown>
  readonly work: Effect.Effect<A, E>
  /** A digest of the request, where a replay could make another one: the stored result is given to no other request. */
  readonly asks?: string
  /** The run of a step that may call agents: their spending is stored with the result. */
  readonly run?: RunContext.RunContext | undefined
  /** The words of a streamed model call: what they count is stored where the step is cut off. */
  readonly words?: Words
}

/** How a step ended, and when. `Late`: a wait of its line ended first. */
type Outcome =
  | ({ readonly _tag: "Done"; readonly at: number; readonly value: unknown } & Stamped)
  | ({ readonly _tag: "Failed"; readonly at: number; readonly error: unknown } & Stamped)
  | ({ readonly _tag: "Late"; readonly counted?: typeof Counted.Type } & Spent)

interface Stamped extends Spent {
  readonly requestDigest?: string
}

/** Runs a step, or reads its stored result, and advances the time of its line. */
export const record = <A, E>(
  replay: Replay,
  { asks, error, line, name, run, value, words, work }: Recorded<A, E>
): Effect.Effect<A, E> => {
  const key = `${replay.executionId}/${name}`
  const outcome = outcomeOf(value, error)
  let wasLate = false
  const stepping = Effect.gen(function* () {
    // lines that begin at once all begin before one of them goes on: what is recorded comes at once
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
            ...(ended._tag === "Late" ? words?.counts : asks === undefined ? {} : { requestDigest: asks }),
            ...spentOf(books)
          })
        )
      })
      const step = part === 1 ? name : `${name}~${part}`
      const stored = yield* replay.lines.busy(activity(replay, step, doing))
      const ended = yield* reading(replay, step, outcome.decode(stored))
      if (ended._tag !== "Late" && ended.requestDigest !== asks) return yield* Effect.die(changed(replay, step))
      if (!isDone) rebook(run, ended.ledger)
      if (ended._tag !== "Late") {
        line.advance(ended.at)
        // by the schemas of the step
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
      // a replay goes on with work under way; any other end of a step stops it
      if (isCut && replay.instance.suspended && !replay.stopping.isSo) return Effect.void
      const at = replay.atWork.get(key)
      const stopping = Effect.suspend(() => {
        replay.atWork.delete(key)
        return at === undefined ? Effect.void : Fiber.interrupt(at.fiber)
      })
      // one that goes on elsewhere is not cut off
      const isOver = isCut && !replay.taken.isSo && replay.scope.state._tag !== "Closed"
      return wasLate && isOver && run !== undefined ? cutOff(replay, name, run, at?.books, stopping) : stopping
    })
  )
}

/** Stops a step that was not over in time, and stores the spending of its agents up to their end. */
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
  // the run goes on after any end of this activity: an engine that suspends it must not take it for the whole run
  const { executionId, instance } = replay
  const apart = { ...replay, instance: WorkflowInstance.initial(instance.workflow, executionId) }
  const keeping = Effect.gen(function* () {
    const stored = yield* replay.lines.busy(activity(apart, step, doing))
    if (isDone) return
    const { ledger } = yield* reading(replay, step, decodeSpent(stored))
    yield* stopping
    rebook(run, ledger)
  })
  // an activity gives up in a fiber that is interrupted
  return Effect.flatMap(Effect.forkChild(keeping), (fiber) =>
    Effect.flatMap(Fiber.await(fiber), (exit) => (apart.instance.suspended ? Effect.void : exit))
  )
}

/** Records that a wait outside of steps is over: one replay learns from it that it is the first to go on. */
export const goingOn = (replay: Replay, line: Line, name: string): Effect.Effect<void> =>
  replay.lines.busy(
    activity(
      replay,
      `${name}/over`,
      Effect.sync(() => line.live())
    )
  )

/** Marks a step of a line as under way: it records the waits of the line meanwhile. */
export const underWay = <A, E>(line: Line, self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => line.begin()),
    () => self,
    () => Effect.sync(() => line.end())
  )

/** Lets the fibers act whose wait is over: one of them may interrupt the fiber that yields here. */
export const acted: Effect.Effect<void> = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, {
  discard: true
})

/** A failure that is only reported. */
export const Said = Schema.Struct({ message: Schema.String })

export const saying = (error: unknown): typeof Said.Type => ({
  message: Redaction.foreign(ErrorCause.messageOf(error))
})

/** Reads the stored result of a step by its schema. */
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

/** An activity of the engine, which knows nothing of lines: it waits by the clock of the process. What it gives is JSON, or nothing. */
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
    // the reader has its schema, and reports where it does not fit
    success: Stored,
    // what was interrupted is not simply done again
    interruptRetryPolicy: never,
    // what is encoded by a schema for JSON is JSON
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
    // runs that it starts are parts of it
    Effect.provideService(Interception.Current, undefined)
  )

/** Work that is not recorded, by the clock of the process. */
export const outside = <A, E, R>(replay: Replay, self: Effect.Effect<A, E, R>) =>
  Effect.provideService(apart(replay, self), Clock.Clock, replay.clock)

const never = Schedule.recurs(0)

const Stored = Schema.Union([Schema.Json, Schema.Undefined])

/**
 * The time left until an instant, by the clock of this process. The process that recorded the instant may have had a clock that was
 * ahead: so the wait is at most as long as was decided, from one instant to the other.
 */
export const remainder = (clock: Clock.Clock, from: number, until: number): Duration.Duration =>
  Duration.millis(Math.max(0, Math.min(until - clock.currentTimeMillisUnsafe(), until - from)))

/** Goes on with the work of a step, or begins it; until that instant at most. */
const working = (
  { atWork, clock, instance, scope, stopping, taken }: Replay,
  key: string,
  { at: from, until }: { readonly at: number; readonly until: number },
  { run, work }: { readonly run: RunContext.RunContext | undefined; readonly work: Effect.Effect<unknown, unknown> }
): Effect.Effect<{ readonly ended: Outcome; readonly books: Books | undefined }, never, WorkflowInstance> =>
  Effect.gen(function* () {
    const before = atWork.get(key)
    const books = before === undefined && run !== undefined ? new Books() : before?.books
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
        // a replay in this process goes on with it; one elsewhere begins it again
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
    // nothing is recorded of what ends with the process: it is begun again
    if (Cause.hasInterrupts(cause) && scope.state._tag === "Closed") return yield* Effect.never
    // nor of what ends because its run goes on elsewhere, where it is begun again, or is stopped
    if (Cause.hasInterrupts(cause) && (taken.isSo || stopping.isSo) && !instance.suspended) {
      return yield* Effect.flatMap(WorkflowInstance, Workflow.suspend)
    }
    // no typed failure is left in a cause that is passed on
    if (Cause.hasInterrupts(cause) || Cause.hasDies(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
    return { ended: { _tag: "Failed", at, error: Cause.squash(cause) }, books }
  })

const late: Outcome = { _tag: "Late" }

/** How outcomes are stored and read. */
interface OutcomeCodec {
  readonly encode: (outcome: Outcome) => Effect.Effect<unknown>
  readonly decode: (stored: unknown) => Effect.Effect<Outcome, Schema.SchemaError>
}

/** Arguments of a call may have 1,000 levels, and a row a few around them. The engine writes rows recursively, and retries for ever. */
const deepest = 1100

const storable = (encoded: unknown): Effect.Effect<void> =>
  Bounds.isDeeper(encoded, deepest)
    ? Effect.die(new TypeError(`What a step gave is nested in more than ${deepest} levels: no row can hold it`))
    : Effect.void

const outcomes = new WeakMap<object, WeakMap<object, OutcomeCodec>>()

/** Schemas are compiled once for each pair, however often it is recorded. */
const outcomeOf = (value: AnyCodec, error: AnyCodec): OutcomeCodec => {
  const compiled = outcomes.get(value)?.get(error)
  if (compiled !== undefined) return compiled
  const stampFields = { requestDigest: Schema.optionalKey(Schema.String), ...spentFields }
  const schema = Schema.toCodecJson(
    Schema.Union([
      Schema.Struct({ _tag: Schema.tag("Done"), at: Schema.Finite, value, ...stampFields }),
      Schema.Struct({ _tag: Schema.tag("Failed"), at: Schema.Finite, error, ...stampFields }),
      Schema.Struct({ _tag: Schema.tag("Late"), counted: Schema.optionalKey(Counted), ...spentFields })
    ])
  )
  const encode = Schema.encodeEffect(schema)
  const made: OutcomeCodec = {
    // a tool that gives what its own schema refuses is broken
    encode: (outcome) => Effect.tap(Effect.orDie(encode(outcome)), storable),
    decode: Schema.decodeUnknownEffect(schema)
  }
  const byError = outcomes.get(value) ?? new WeakMap<object, OutcomeCodec>()
  outcomes.set(value, byError.set(error, made))
  return made
}
