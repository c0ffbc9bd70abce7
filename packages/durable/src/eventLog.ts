/** The log of a run's events, in the storage of its engine. Readers in any process read it. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Cause from "effect/Cause"
import type { WorkflowInstance } from "effect/workflow/WorkflowEngine"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { AgentEvent } from "@kintsugi/core"
import type { UnreadableStepError } from "./errors.ts"
import { type Batch, batchAt, encoded, type Of, undecoded, write } from "./logRows.ts"
import { isDelta, Marks } from "./marks.ts"
import type { Stop } from "./stop.ts"
import type { Written } from "./words.ts"

/** How long events are collected into a batch, and after how many deltas the batch is written at once. */
const interval = Duration.millis(250)
const mostDeltas = 32

/** How many times the write of the last batch is tried, and the longest pause between two tries: half a minute of an outage in all. */
const mostTries = 12
const longest = Duration.seconds(4)

/** How many events may wait while the storage does not answer. Beyond it, the run goes on without a log. */
const mostUnwritten = 4096

/** How much JSON the log of a run holds by default, in UTF-16 code units. */
const mostCharacters = 16 * 1024 * 1024

/** The parts of a replay that the log uses to write its batches. */
interface Replay extends Pick<Of, "executionId" | "engine"> {
  readonly direct: Of["engine"]
  readonly instance: WorkflowInstance["Service"]
  readonly clock: Clock.Clock
  readonly scope: Scope.Scope
  /** A random id of this process. */
  readonly incarnation: string
  readonly words: Written
  readonly stopping: Pick<Stop, "isSo">
}

/** The log of one run in one process. All replays of the run there share it. */
export class EventLog {
  readonly #limit: number
  #marks = new Marks()
  #unwritten: Array<AgentEvent.AgentEvent> = []
  /** The unwritten events that no replay emits again: they say what becomes of a text that a crash cut off. */
  readonly #unreplayed = new WeakSet<AgentEvent.AgentEvent>()
  #deltas = 0
  /** Whether the last unwritten event may be stored although the storage reported a failure. Then no text is appended to that event. */
  #isSealed = false
  /** The number of the next batch of the log. */
  #next = 0
  #epoch = 0
  /** The number of the next event, counted from 1 in each epoch. */
  #number = 1
  #characters = 0
  /** Whether the log takes batches: it has not reached its limit, no other process writes it, and the storage has not failed. */
  #isWritable = true
  #hasFailed = false
  /** Whether the log has the terminal event of the outermost run. No event comes after it. */
  #isOver = false
  /** `#some` is open while events wait to be written, and `#many` while enough deltas wait to write them at once. */
  readonly #some = Latch.makeUnsafe(false)
  readonly #many = Latch.makeUnsafe(false)
  readonly #one = Semaphore.makeUnsafe(1)

  constructor(limit = mostCharacters) {
    this.#limit = limit
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Called when a replay begins. It first writes the events that retract what a crash cut off. */
  begin(replay: Replay, wasBegun: boolean): Effect.Effect<void> {
    const beginning = Effect.gen({ self: this }, function* () {
      // no events wait yet, and the run waits for its storage in its next step anyway
      const of = ofReplay(replay, replay.engine)
      // if no earlier process has begun the run, no event is stored
      const isElsewhere = wasBegun && (this.#epoch === 0 || (yield* batchAt(of, this.#next)) !== undefined)
      if (isElsewhere) {
        this.#forget()
        yield* this.#load(of)
      } else yield* this.#flush(replay)
      if (this.#isOver) return
      this.#marks.begin()
      const at = yield* Clock.currentTimeMillis
      while (this.#isWritable) {
        this.#epoch++
        this.#number = 1
        const cutOff = this.#marks.cutOff(at, (runId) => !isElsewhere && replay.words.isAtWork(runId))
        // if another process had the run, a batch is written even without events: that process may still be alive, and finds this batch
        // when it writes
        if (cutOff.length === 0 && !isElsewhere) return
        if (yield* this.#write(of, replay, cutOff, "takeover")) {
          for (const event of cutOff) this.#marks.settle(event)
          return
        }
        yield* this.#load(of)
      }
    })
    // if the log cannot begin, the run goes on without it
    return Effect.catchCause(beginning, (cause) =>
      Cause.hasInterrupts(cause)
        ? Effect.interrupt
        : Effect.andThen(
            this.#leave(),
            Effect.logWarning(`Run '${replay.executionId}' goes on without a log`, ErrorCause.logged(cause))
          )
    )
  }

  /** Adds an event of a replay to the next batch if it is new. Returns whether it is new. */
  add(event: AgentEvent.AgentEvent): boolean {
    const fresh = this.#isOver ? undefined : this.#marks.newOf(event)
    if (fresh === undefined) return false
    this.#isOver = isEnd(fresh)
    this.#put(fresh)
    return true
  }

  /** Notes whether a run continues its text after a crash, or writes it anew. */
  continues(runId: string, isSo: boolean): void {
    this.#marks.continues(runId, isSo)
  }

  /** The text of a run that a crash cut off, if the model call that is about to begin decides what becomes of it. */
  cutOffOf(runId: string): string | undefined {
    return this.#marks.cutOffOf(runId)
  }

  /** Writes what becomes of a text that a crash cut off: it is kept, as a part of the text `kept`, or discarded. */
  settle(runId: string, at: number, kept: string | undefined): void {
    for (const event of this.#marks.settlement(runId, at, kept)) {
      this.#marks.settle(event)
      this.#unreplayed.add(event)
      this.#put(event)
    }
  }

  #put(event: AgentEvent.AgentEvent): void {
    // Mutant `false` survives: memory only. The next batch drops the events
    if (!this.#isWritable) return
    const last = this.#unwritten.at(-1)
    if (
      last !== undefined &&
      isDelta(event) &&
      isDelta(last) &&
      !this.#isSealed &&
      last.runId === event.runId &&
      last.type === event.type
    ) {
      this.#unwritten[this.#unwritten.length - 1] = { ...event, text: last.text + event.text }
    } else {
      this.#unwritten.push(event)
      this.#isSealed = false
    }
    if (isDelta(event)) this.#deltas++
    this.#some.openUnsafe()
    if (this.#deltas >= mostDeltas) this.#many.openUnsafe()
  }

  /** Writes batches while a replay is at work, and the rest at the end of the replay. */
  during<A, E, R>(replay: Replay, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const writing = Effect.gen({ self: this }, function* () {
      while (true) {
        yield* this.#some.await
        yield* Effect.raceFirst(replay.clock.sleep(interval), this.#many.await)
        yield* this.#flush(replay)
      }
    })
    return Effect.flatMap(Effect.forkChild(writing), (fiber) =>
      Effect.onExit(self, (exit) =>
        Effect.suspend(() => {
          fiber.interruptUnsafe()
          if (replay.scope.state._tag === "Closed") return Effect.void
          const isCut = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause) && !replay.stopping.isSo
          if (!isCut) return this.#last(replay, mostTries)
          const { abandoned, suspended } = replay.instance
          const once = this.#last(replay, 1)
          // a run that waits may have no other replay for days: what is left is written beside it, and holds nothing up
          return suspended && !abandoned
            ? Effect.andThen(once, Effect.forkIn(this.#last(replay, mostTries), replay.scope))
            : once
        })
      )
    )
  }

  /** Writes the last events of a run that its engine has ended. */
  end(replay: Replay, events: ReadonlyArray<AgentEvent.AgentEvent>): Effect.Effect<void> {
    return Effect.suspend(() => {
      for (const event of events) this.add(event)
      return this.#last(replay, mostTries)
    })
  }

  /** Writes the rest of the events. If the storage fails, it tries again, because no other batch follows. */
  #last(replay: Replay, tries: number, pause = interval): Effect.Effect<void> {
    return Effect.flatMap(this.#flush(replay), () =>
      this.#unwritten.length === 0 || tries <= 1
        ? Effect.void
        : Effect.flatMap(replay.clock.sleep(pause), () =>
            this.#last(replay, tries - 1, Duration.min(Duration.times(pause, 2), longest))
          )
    )
  }

  #leave(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#isWritable = false
      this.#unwritten = []
    })
  }

  #forget(): void {
    this.#marks = new Marks()
    this.#unwritten = []
    this.#deltas = 0
    this.#next = 0
    this.#epoch = 0
    this.#characters = 0
    this.#isWritable = true
    this.#isOver = false
  }

  /** Reads the stored batches that this log has not read yet. */
  #load(of: Of): Effect.Effect<void, UnreadableStepError> {
    return Effect.gen({ self: this }, function* () {
      for (let batch = yield* batchAt(of, this.#next); batch !== undefined; batch = yield* batchAt(of, this.#next)) {
        this.#next++
        this.#epoch = Math.max(this.#epoch, batch.epoch)
        this.#characters += JSON.stringify(batch).length
        if (batch.kind === "full") this.#isWritable = false
        for (const [index, json] of batch.events.entries()) {
          const event = undecoded(json)
          if (event === undefined) continue
          this.#isOver ||= isEnd(event)
          if (batch.kind === "takeover" || batch.unreplayed?.includes(index) === true) this.#marks.settle(event)
          else this.#marks.add(event)
          if (isDelta(event)) this.#marks.continues(event.runId, batch.continuing?.includes(event.runId) === true)
        }
      }
    })
  }

  #flush(replay: Replay): Effect.Effect<void> {
    const flushing = Effect.suspend(() => {
      const events = this.#unwritten
      this.#unwritten = []
      this.#deltas = 0
      this.#some.closeUnsafe()
      this.#many.closeUnsafe()
      if (events.length === 0 || !this.#isWritable) return Effect.void
      // what is not written stays in memory, and the run goes on
      return Effect.matchCauseEffect(this.#write(ofReplay(replay, replay.direct), replay, events), {
        onSuccess: (isDone) => (isDone ? Effect.void : this.#leave()),
        onFailure: (cause) => this.#failed(events, replay, cause)
      })
    })
    return this.#one.withPermit(Effect.uninterruptible(flushing))
  }

  #requeue(events: ReadonlyArray<AgentEvent.AgentEvent>): void {
    this.#isSealed ||= this.#unwritten.length === 0
    this.#unwritten = [...events, ...this.#unwritten]
    this.#some.openUnsafe()
  }

  /** Keeps the events of a failed write for the next batch. If too many wait, the log is given up. */
  #failed(
    events: ReadonlyArray<AgentEvent.AgentEvent>,
    { executionId }: Replay,
    cause: Cause.Cause<unknown>
  ): Effect.Effect<void> {
    this.#requeue(events)
    if (this.#unwritten.length > mostUnwritten) return this.#leave()
    if (this.#hasFailed) return Effect.void
    this.#hasFailed = true
    return Effect.logWarning(`The events of run '${executionId}' cannot be stored just now`, ErrorCause.logged(cause))
  }

  /** Writes a batch. Returns whether this batch is stored, and not one of another process under the same number. */
  #write(
    of: Of,
    { incarnation: writer, instance }: Replay,
    events: ReadonlyArray<AgentEvent.AgentEvent>,
    kind?: "takeover"
  ): Effect.Effect<boolean, UnreadableStepError> {
    return Effect.suspend(() => {
      const made = { writer, epoch: this.#epoch, first: this.#number }
      const storable = events.flatMap((event) => {
        const json = encoded(event)
        return json === undefined ? [] : [{ event, json }]
      })
      const unreplayed = storable.flatMap(({ event }, index) => (this.#unreplayed.has(event) ? [index] : []))
      const continuing = this.#marks.continuing(events)
      const whole: Batch = {
        ...made,
        events: storable.map(({ json }) => json),
        ...(kind === undefined ? {} : { kind }),
        ...(unreplayed.length === 0 ? {} : { unreplayed }),
        ...(continuing.length === 0 ? {} : { continuing })
      }
      const { length } = JSON.stringify(whole)
      const isFull = this.#characters + length > this.#limit
      const batch: Batch = isFull ? { ...made, events: [], kind: "full" } : whole
      return Effect.map(write(of, instance, this.#next, batch), (stored) => {
        if (stored === undefined || stored.writer !== writer || stored.epoch !== made.epoch) return false
        this.#next++
        this.#characters += length
        this.#number += stored.events.length
        if (stored.kind === "full") this.#isWritable = false
        // an earlier try has stored a part of these events, so the others wait for the next batch
        else if (stored.events.length < storable.length) {
          this.#requeue(storable.slice(stored.events.length).map(({ event }) => event))
        }
        return true
      })
    })
  }
}

/** Whether this is the terminal event of the outermost run. */
const isEnd = (event: AgentEvent.AgentEvent): boolean => event.parent === undefined && AgentEvent.isTerminal(event)

const ofReplay = ({ executionId, instance }: Replay, engine: Of["engine"]): Of => ({
  engine,
  executionId,
  workflow: instance.workflow
})
