/** Reads the log of a durable run's events, in any process. */
import type * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import * as DoorError from "@kintsugi/core/DoorError"
import { type UnknownRunError, type UnreadableStepError } from "./errors.ts"
import { demanding, isOver } from "./knowing.ts"
import { type Batch, batchAt, decoded, type Of, textOf } from "./logRows.ts"

/** The pause before a reader looks for the next batch again: 250 ms at first, up to 5 s while the run emits nothing. */
const first = Duration.millis(250)
const longest = Duration.seconds(5)

/** A workflow, and whether its runs have a log of events. */
interface Logged {
  readonly workflow: Workflow.Any
  readonly hasEvents: boolean
}

/** The options of `Durable.events`. */
interface EventsOptions {
  /** The cursor of the last event that was read. By default the reader begins at the first event. */
  readonly after?: string
  /**
   * What happens if the log has no event with the cursor `after`. By default the stream fails with `CursorExpiredError`. With `"state"` it
   * begins with an `events-lost` event, which has the conversation with which the run began, and all events of the run follow.
   */
  readonly onGap?: "fail" | "state"
}

type EventsError = UnknownRunError | UnreadableStepError | DoorError.RunLostError | DoorError.CursorExpiredError

/**
 * The events of a run, readable from any process. The stored events come first, and then each event as it comes, with words while they are
 * written. Each event has a `cursor`, with which a reader goes on after it. The stream ends with the run. A reader that leaves stops
 * nothing.
 *
 * What a crash cut off is retracted by `attempt-discarded`, and the events of a replay are not repeated. The log holds 16 Mi characters by default: the
 * stream of a run that exceeds it fails with `CursorExpiredError` there. The workflow has no log with the option `events: false`: then this dies.
 */
export const events = (
  { hasEvents, workflow }: Logged,
  executionId: string,
  options: EventsOptions = {}
): Stream.Stream<AgentEvent.AgentEvent, EventsError, WorkflowEngine> =>
  Stream.callback<AgentEvent.AgentEvent, EventsError, WorkflowEngine>(
    (queue) => {
      const reading = Effect.gen(function* () {
        const wrong = wrongIn(options)
        if (wrong !== undefined) return yield* Effect.die(new TypeError(`Durable.events: ${wrong}`))
        const { after, onGap } = options
        if (!hasEvents) {
          return yield* Effect.die(
            new TypeError(`Durable.events: Durable.workflow of '${workflow._tag}' has events: false`)
          )
        }
        yield* demanding(workflow, executionId)
        const engine = yield* WorkflowEngine
        const of = { engine, workflow, executionId }
        const reader = new Reader(of, queue, after)
        yield* Effect.catchTag(reader.all, "CursorExpiredError", (error) =>
          onGap === "state" && !reader.isFound ? new Reader(of, queue, undefined, true).all : Effect.fail(error)
        )
      })
      return Queue.into(reading, queue)
    },
    { bufferSize: 256, strategy: "suspend" }
  )

/** Says what is wrong with the options of a caller in JavaScript; `undefined` if they are valid. */
const wrongIn = (options: unknown): string | undefined => {
  if (!Predicate.isObject(options)) return "the third argument must be options"
  const { onGap } = options
  return [undefined, "fail", "state"].includes(onGap as undefined) ? undefined : "onGap must be 'fail' or 'state'"
}

/** The cursor before the first event of a run. */
const oldestOf = (runId: string): string => Cursor.of({ runId, epoch: "1", number: 0 })

/** The position for a text that is no cursor. */
const unknown = { runId: "", epoch: "", number: 0 }

/** The types of the events that end a run. */
const ends: ReadonlySet<string> = new Set<AgentEvent.AgentEvent["type"]>([
  "run-completed",
  "run-failed",
  "run-interrupted",
  "run-suspended"
])

class Reader {
  readonly #of: Of
  readonly #queue: Queue.Queue<AgentEvent.AgentEvent, EventsError | Cause.Done>
  /** The id of the outermost run, which emits the first event. */
  #runId: string | undefined
  /** The position of the cursor after which the reader goes on; `undefined` if it begins at the first event. */
  readonly #position: ReturnType<typeof Cursor.read>
  /** Whether the event of the cursor was found in the log. */
  #isFound: boolean
  /** Whether the stream must begin with an `events-lost` event. */
  #isLost: boolean

  constructor(
    of: Of,
    queue: Queue.Queue<AgentEvent.AgentEvent, EventsError | Cause.Done>,
    after: string | undefined,
    isLost = false
  ) {
    this.#of = of
    this.#isLost = isLost
    this.#queue = queue
    this.#position = after === undefined ? undefined : (Cursor.read(after) ?? unknown)
    this.#isFound = after === undefined
  }

  get isFound(): boolean {
    return this.#isFound
  }

  get all(): Effect.Effect<void, EventsError> {
    return Effect.gen({ self: this }, function* () {
      let pause = first
      let wasOver = false
      for (let nth = 0; ;) {
        const batch = yield* batchAt(this.#of, nth)
        if (batch !== undefined) {
          if (yield* this.#give(batch)) return
          pause = first
          nth++
          continue
        }
        if (!this.#isFound && (nth > 0 || wasOver)) return yield* this.#unfound
        // the run was over before this look for a batch, so no other batch follows
        if (wasOver) return yield* this.#end(nth)
        wasOver = yield* isOver(this.#of.engine, this.#of.workflow, this.#of.executionId)
        if (wasOver) continue
        yield* Effect.sleep(pause)
        pause = Duration.min(Duration.times(pause, 2), longest)
      }
    })
  }

  /** Emits the events of a batch that come after the cursor. Returns whether the run ends in this batch. */
  #give(batch: Batch): Effect.Effect<boolean, EventsError> {
    return Effect.gen({ self: this }, function* () {
      const events: Array<AgentEvent.AgentEvent> = []
      let isEnd = false
      for (const [index, json] of batch.events.entries()) {
        // read without decoding the whole event, which may lie before the cursor
        const runId = textOf(json, "runId")
        this.#runId ??= runId
        const number = batch.first + index
        if (this.#isBehind(this.#runId, batch.epoch, number)) {
          if (!this.#isFound) return yield* this.#unfound
          const cursor = Cursor.of({ runId: this.#runId, epoch: String(batch.epoch), number })
          const event = decoded(json)
          if (event !== undefined) events.push(...this.#lost(event), { ...event, cursor })
        }
        isEnd ||= runId === this.#runId && ends.has(textOf(json, "type"))
      }
      if (isEnd && !this.#isFound) return yield* this.#unfound
      yield* Queue.offerAll(this.#queue, events)
      if (batch.kind === "full")
        return yield* this.#expired("expired", "The log of the run is full, and has no more events")
      return isEnd
    })
  }

  /** The `events-lost` event for the beginning of the stream, if the reader has lost its place. */
  #lost({ agent, at, runId, turn, ...event }: AgentEvent.AgentEvent): ReadonlyArray<AgentEvent.AgentEvent> {
    if (!this.#isLost) return []
    this.#isLost = false
    const transcript = event.type === "run-start" ? event.transcript : []
    return [{ type: "events-lost", runId, agent, turn, at, transcript, cursor: oldestOf(runId) }]
  }

  /** Whether the event with this number comes after the cursor. */
  #isBehind(runId: string, epoch: number, number: number): boolean {
    if (this.#position === undefined) return true
    const before = Number(this.#position.epoch)
    if (this.#position.runId !== runId) return true
    if (epoch === before && (number === this.#position.number || this.#position.number === 0)) this.#isFound = true
    return epoch > before || (epoch === before && number > this.#position.number)
  }

  /**
   * Ends the stream of a run that is over without a terminal event in its log. The run may have been stopped from outside. If a batch
   * follows the missing one, a row of the log is gone, and the stream fails.
   */
  #end(nth: number): Effect.Effect<void, EventsError> {
    const { executionId } = this.#of
    return Effect.flatMap(batchAt(this.#of, nth + 1), (next) => {
      if (next !== undefined)
        return Effect.fail(DoorError.RunLostError.make({ executionId, what: "some of its events" }))
      return Effect.void
    })
  }

  /** Fails, because the log has no event with the cursor of the reader. */
  get #unfound(): Effect.Effect<never, DoorError.CursorExpiredError> {
    const { runId } = this.#position ?? unknown
    if (this.#position === unknown) return this.#expired("malformed")
    return this.#expired(this.#runId === undefined || runId === this.#runId ? "unknown" : "other-run")
  }

  #expired(
    reason: NonNullable<DoorError.CursorExpiredError["reason"]>,
    what?: string
  ): Effect.Effect<never, DoorError.CursorExpiredError> {
    const oldest = this.#runId === undefined ? "" : oldestOf(this.#runId)
    return Effect.fail(DoorError.CursorExpiredError.make({ oldest, reason, ...(what === undefined ? {} : { what }) }))
  }
}
