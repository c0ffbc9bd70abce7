/** A run in a fiber of its own, for callers that need more of it than its answer. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { EventLog, type ReadOptions } from "../event/EventLog.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Approval from "../data/Approval.ts"
import type * as Ledger from "../budget/Ledger.ts"
import { demand, oneOf } from "../data/Demand.ts"
import type * as Message from "../data/Message.ts"
import type { Snapshot, Waiting } from "../event/Snapshot.ts"
import * as Usage from "../data/Usage.ts"
import type { Decisions, SettlementReceipt } from "../tool/ToolDefinition.ts"
import type { EndedBy } from "../errors/Limit.ts"
import { type CursorExpiredError, InboxFullError, RunOverError } from "../errors/DoorError.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Mode, Sink, Started, State } from "./Frame.ts"
import { markOf } from "./mark.ts"
import { Suspension } from "./Start.ts"
import { userMessage } from "./userMessage.ts"

/**
 * How a run ended without a failure: with its answer, or suspended for a decision or a larger budget.
 *
 * @hidden
 */
export type Outcome<O> = Completed<O> | Suspended

/** The fields of both outcomes. */
interface Answering {
  /** For each decision of the resumption, whether it counted; absent without decisions. */
  readonly decisions?: ReadonlyArray<Approval.DecisionReceipt>
  /** For each settlement of the resumption, its token and whether it counted, as `Tool.settle` returns it; absent without settlements. */
  readonly settlements?: ReadonlyArray<SettlementReceipt>
}

/** A run that came to its end, with its output. */
export interface Completed<out O> extends Answering {
  readonly _tag: "Completed"
  readonly output: O
  /** The finish reason of the reply that is the output: `length` if it was cut off. Absent if no reply is the output. */
  readonly finish?: Message.FinishReason
  /** The limit at which the run has answered, see `Budget.answer`. Absent if the run came to its end by itself. */
  readonly endedBy?: EndedBy
  /** The messages to the run that it did not read, in order; absent if there are none. */
  readonly unread?: ReadonlyArray<Message.SaidMessage>
  /**
   * The deferred calls whose work goes on after the run (`atEnd: "detach"` of `Tool.deferred`), in the order of their start; absent if
   * there are none. The run never gets their results. A sub-agent lists its own in its `run-completed`.
   */
  readonly open?: ReadonlyArray<Extract<Waiting, { readonly type: "deferred" }>>
}

/** A run that waits for a decision or a larger budget; nothing of it is at work. */
export interface Suspended extends Answering {
  readonly _tag: "Suspended"
  /** The snapshot for `Agent.resume`. */
  readonly snapshot: Snapshot
  /** The messages that the run did not read; the resumed run reads them. Absent if there are none. */
  readonly unread?: ReadonlyArray<Message.SaidMessage>
}

/** The options of `run.say`: which run reads the message, and what it interrupts. */
interface SayOptions {
  /**
   * The id of the run that reads it: a sub-agent, or a part of a composition. By default the run that was started. Of several runs at work
   * with this id it is the one that has begun last.
   */
  readonly to?: string
  /**
   * `true` ends the model call under way, and skips the calls that have not begun; tools that run go on. `"tools"` interrupts these too. By
   * default the message waits for the next safe point.
   */
  readonly interrupt?: boolean | "tools"
  /** Withdraws all open requests, such as approvals: their calls are not run, and the run goes on. By default they stay open. */
  readonly supersede?: boolean
}

/** A started run: its events, its outcome and its interruption. `Agent.start` returns it. The run is interrupted when its scope closes. */
export interface Run<out O, out E> {
  /** Waits for the end of the run. */
  readonly outcome: Effect.Effect<Outcome<O>, E>
  /**
   * All events of the run from its beginning, for each reader. The stream ends with the run, without its failure. A reader that leaves stops
   * nothing. Called with options, it gives each event its `cursor`, and goes on at one: `run.events({ after: cursor })`.
   *
   * The run keeps 4,096 events or 4 MiB (`maxBufferedEvents` and `maxBufferedBytes` of its budget), and merges the deltas of finished model
   * calls before it drops the oldest events. A reader that begins late, or is slower than that, gets one `events-lost` event in the place
   * of what is gone. A reader with options fails instead, if the events behind its cursor are gone, unless `onGap` is `"state"`.
   */
  readonly events: Stream.Stream<AgentEvent.AgentEvent> & ReadEvents
  /** The transcript so far, the input at least. Calls that are not settled yet appear as if the run ended now. */
  readonly transcript: Effect.Effect<Message.Transcript>
  /** The usage of the run and its descendants so far. */
  readonly usage: Effect.Effect<Usage.Usage>
  readonly ledger: Effect.Effect<ReadonlyArray<Ledger.Entry>>
  /**
   * How many events the listeners of the run and of its descendants have lost. An event is lost if 16,384 others wait already,
   * if its listener has not handled it one second after the end of the run, or when the run was interrupted. Listeners that
   * live with a scope do not count here.
   */
  readonly lost: Effect.Effect<number>
  /**
   * Says something to the run while it is at work. Returns the id of the message as soon as the message waits in the inbox of the run. The
   * run reads it at its next safe point, after the calls of the last reply; if the model has answered by then, one more turn begins. A full
   * inbox refuses any message, and one that would interrupt or supersede ends nothing then.
   */
  readonly say: (
    message: string | Message.UserContent,
    options?: SayOptions
  ) => Effect.Effect<string, RunOverError | InboxFullError>
  /**
   * What the run and its sub-agents wait for just now: approvals, people who are asked about failed calls, deferred calls, each with its
   * deadline, and said messages that are not read yet. Of a suspended run it is what its snapshot waits for, see `Snapshot.waitingOf`.
   */
  readonly waiting: Effect.Effect<ReadonlyArray<Waiting>>
  /**
   * Waits for the end of the run, also by failure or interruption, and returns for each decision of the resumption whether it counted.
   * Empty without decisions, and if the resumption was refused.
   */
  readonly decisions: Effect.Effect<ReadonlyArray<Approval.DecisionReceipt>>
  /** Waits for the end of the run, and returns for each settlement of the resumption whether it counted. */
  readonly settlements: Effect.Effect<ReadonlyArray<SettlementReceipt>>
  /** Interrupts the run, and waits for its end. */
  readonly interrupt: Effect.Effect<void>
}

/** Reads the events of a run, each with its cursor. */
type ReadEvents = {
  (options: ReadOptions & { readonly onGap: "state" }): Stream.Stream<AgentEvent.AgentEvent>
  (options: ReadOptions): Stream.Stream<AgentEvent.AgentEvent, CursorExpiredError>
}

type Execute = (sink: Sink, mode: Mode) => Effect.Effect<unknown, unknown, unknown>

/** Starts a run in the present scope. */
export const start = (execute: Execute): Effect.Effect<Run<unknown, unknown>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const log = new EventLog()
    let started: Started | undefined
    let decisions: Decisions | undefined
    const running = execute((event) => log.push(event), {
      isStreamed: true,
      isSuspendable: true,
      isForked: true,
      limited: ({ maxBufferedBytes: bytes, maxBufferedEvents: events }) => log.limit({ events, bytes }),
      deciding: (value) => {
        decisions = value
      },
      started: (value) => {
        started = value
        if (value.from !== undefined) log.waits.resumed(value.from)
        wake()
      }
    })
    // building layers, or claiming a snapshot in a store, may take long
    let sleepers: Array<() => void> | undefined
    const wake = () => {
      for (const sleeper of sleepers ?? []) sleeper()
    }
    const beginning = Effect.andThen(
      Effect.callback<void>((resume) => void (sleepers ??= []).push(() => resume(Effect.void))),
      // the first event of the run comes before that of the message
      Effect.yieldNow
    )
    // what the run needs is in the type of `start`
    const fiber = yield* Effect.forkScoped(running as Effect.Effect<unknown, unknown>, {
      uninterruptible: true,
      startImmediately: true
    })
    fiber.addObserver(() => {
      log.end()
      wake()
    })
    const answers = () => (started === undefined ? [] : (decisions?.answers() ?? []))
    const receipts = () => (started === undefined ? [] : (decisions?.receipts() ?? []))
    return {
      outcome: Effect.map(Fiber.join(fiber), (value) => ({
        ...outcomeOf(value, started?.state ?? {}, log.returned),
        ...answersOf(decisions)
      })),
      say: (message, options) => {
        const saying = Effect.suspend(() => say(started?.run, message, options))
        return Effect.suspend(() =>
          started === undefined && fiber.pollUnsafe() === undefined ? Effect.andThen(beginning, saying) : saying
        )
      },
      events: readable(log),
      transcript: Effect.sync(() => started?.state.whole?.() ?? started?.state.transcript() ?? []),
      usage: Effect.sync(() => started?.run.ledger.usage ?? Usage.empty),
      ledger: Effect.sync(() => [...(started?.run.ledger.entries ?? [])]),
      lost: Effect.sync(() => started?.run.tree.lost ?? 0),
      waiting: Effect.sync(() => log.waits.all),
      decisions: Effect.map(Fiber.await(fiber), answers),
      settlements: Effect.map(Fiber.await(fiber), receipts),
      interrupt: Fiber.interrupt(fiber)
    }
  })

/** Says something to a run, or to one of its tree. */
const say = (
  run: RunContext.RunContext | undefined,
  given: string | Message.UserContent,
  options: SayOptions = {}
): Effect.Effect<string, RunOverError | InboxFullError> =>
  Effect.withFiber((fiber): Effect.Effect<string, RunOverError | InboxFullError> => {
    const whose = run === undefined ? "run.say" : `run.say of agent '${run.agent}'`
    const message = userMessage(whose, given)
    demand(`${whose}: the second argument`, "options", options, Predicate.isObject(options))
    const { interrupt, supersede = false, to: runId = run?.runId ?? "" } = options
    oneOf(`${whose}: interrupt`, interrupt, [true, false, "tools"])
    oneOf(`${whose}: supersede`, supersede, [true, false])
    demand(`${whose}: to`, "the id of a run", runId, Predicate.isString(runId))
    const id = RunContext.drawId(fiber)
    const said = { id, message, ...(supersede ? { supersede } : {}) }
    const limit = run?.tree.inbox?.add(fiber, runId, { said, interrupt })
    if (limit === undefined) return Effect.fail(RunOverError.make({ runId }))
    return limit === Infinity ? Effect.succeed(id) : Effect.fail(InboxFullError.make({ runId, limit }))
  })

const outcomeOf = (
  value: unknown,
  state: Pick<State, "endedBy" | "finish" | "left">,
  returned: ReadonlyArray<Message.SaidMessage> = []
): Outcome<unknown> => {
  if (value instanceof Suspension) {
    const { snapshot } = value
    return { _tag: "Suspended", snapshot, ...unreadOf([...(snapshot.inbox ?? []), ...returned]) }
  }
  return { _tag: "Completed", output: value, ...markOf(state), ...unreadOf(returned) }
}

const answersOf = (decided: Decisions | undefined): Answering => {
  const decisions = decided?.answers()
  const settlements = decided?.receipts()
  return { ...(decisions && { decisions }), ...(settlements && { settlements }) }
}

const unreadOf = (unread: ReadonlyArray<Message.SaidMessage>) => (unread.length === 0 ? {} : { unread })

/** A stream of all events, and the function for cursors. */
const readable = (log: EventLog): Run<unknown, unknown>["events"] => {
  const { stream } = log
  const read = (options: ReadOptions) => {
    demand("run.events", "given options", options, Predicate.isObject(options))
    oneOf("run.events: onGap", options.onGap, ["fail", "state"])
    return log.read(options)
  }
  const parts = { [Stream.TypeId]: stream[Stream.TypeId], channel: stream.channel, pipe: stream.pipe }
  return Object.assign(read as ReadEvents, parts)
}
