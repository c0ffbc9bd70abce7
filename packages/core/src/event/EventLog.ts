/** Keeps the latest events of a run for its readers: each reads at its own pace, early or late, from the beginning or from a cursor. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type * as Message from "../data/Message.ts"
import { CursorExpiredError } from "../errors/DoorError.ts"
import type * as AgentEvent from "./AgentEvent.ts"
import * as Cursor from "./Cursor.ts"
import { drawId } from "./ids.ts"
import { EventBuffer, type Limits } from "./buffer.ts"
import { Waits } from "./waits.ts"
import { whole } from "./withoutBytes.ts"

/** How a reader of events goes on. */
export interface ReadOptions {
  /** The `cursor` of the last event that it has. By default it begins at the first event. */
  readonly after?: string | undefined
  /**
   * What a reader gets if its events are gone, or its cursor is not one of the run: a failure (`fail`), or one `events-lost` event with the
   * state so far (`state`).
   */
  readonly onGap?: "fail" | "state"
}

/** How many events a reader takes at once. */
const most = 256

type Batch = readonly [AgentEvent.AgentEvent, ...Array<AgentEvent.AgentEvent>]

export class EventLog {
  readonly #buffer = new EventBuffer()
  /** The readers that have read everything. */
  readonly #sleepers = new Set<() => void>()
  #epoch: string | undefined
  #isOver = false
  readonly waits = new Waits()
  /** The messages that no run has read; absent if there are none. */
  returned: Array<Message.SaidMessage> | undefined

  /** Sets how much the log keeps from here on. */
  limit(limits: Limits): void {
    this.#buffer.limits = limits
  }

  push(event: AgentEvent.AgentEvent): void {
    if (event.type === "message-returned") (this.returned ??= []).push({ id: event.id, message: whole(event.message) })
    this.waits.add(event)
    this.#buffer.push(event)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** All events from the first one. A reader that is too late or too slow begins with `events-lost`. */
  readonly stream: Stream.Stream<AgentEvent.AgentEvent> = Stream.fromPull(
    // it never asks for a cursor that could be gone
    Effect.sync(() => this.#pull({ onGap: "state" }, undefined) as Pull.Pull<Batch>)
  )

  /** All events after a cursor. Each event has its own cursor. */
  read(options: ReadOptions): Stream.Stream<AgentEvent.AgentEvent, CursorExpiredError> {
    return Stream.fromPull(
      Effect.withFiber((fiber) => Effect.succeed(this.#pull(options, (this.#epoch ??= drawId(fiber)))))
    )
  }

  /** One reader: takes the next events, or waits for them. Without an epoch, events get no cursor. */
  #pull({ after, onGap = "fail" }: ReadOptions, epoch: string | undefined): Pull.Pull<Batch, CursorExpiredError> {
    const buffer = this.#buffer
    /** The number of the last event that it has; `undefined` if that is none of these. */
    let position: number | undefined
    let reason: CursorExpiredError["reason"]
    let hasBegun = false
    const next: Pull.Pull<Batch, CursorExpiredError> = Effect.suspend(() => {
      if (buffer.latest === 0 && !this.#isOver) return Effect.andThen(this.#changed, next)
      const gone = buffer.gone?.number ?? 0
      // without a cursor, a reader that comes late may begin with the state
      let mayMiss = onGap === "state"
      if (!hasBegun) {
        const found = after === undefined ? 0 : this.#positionOf(after, epoch)
        if (Predicate.isString(found)) reason = found
        else position = found
        mayMiss ||= after === undefined
      }
      hasBegun = true
      const isThere = position !== undefined && position >= gone
      if (!isThere && !mayMiss) {
        const oldest = this.#cursorOf(gone, epoch)
        return Effect.fail(CursorExpiredError.make({ oldest, ...(reason === undefined ? {} : { reason }) }))
      }
      const state = isThere ? undefined : buffer.lost()
      const found = buffer.after(isThere ? (position ?? gone) : gone, most)
      position = found.at(-1)?.number ?? position ?? gone
      const [first, ...rest] = [
        ...(state === undefined ? [] : [this.#marked(state, gone, epoch)]),
        ...found.map(({ event, number }) => this.#marked(event, number, epoch))
      ]
      if (first !== undefined) return Effect.succeed([first, ...rest] as const)
      return this.#isOver ? Cause.done() : Effect.andThen(this.#changed, next)
    })
    return next
  }

  /** The number that a cursor of this run and this epoch names, if its event was emitted; otherwise what is wrong with it. */
  #positionOf(after: string, epoch: string | undefined): number | NonNullable<CursorExpiredError["reason"]> {
    const { latest, runId } = this.#buffer
    const read = Cursor.read(after)
    if (read === undefined) return "malformed"
    // a run that never began has no id
    if (runId !== "" && read.runId !== runId) return "other-run"
    if (read.epoch !== epoch) return "expired"
    return read.number <= latest ? read.number : "unknown"
  }

  #cursorOf(number: number, epoch = ""): string {
    const { runId } = this.#buffer
    return runId === "" ? "" : Cursor.of({ runId, epoch, number })
  }

  #marked(event: AgentEvent.AgentEvent, number: number, epoch: string | undefined): AgentEvent.AgentEvent {
    return epoch === undefined ? event : { ...event, cursor: this.#cursorOf(number, epoch) }
  }

  /** Waits for one more event, or for the end. */
  readonly #changed: Effect.Effect<void> = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    this.#sleepers.add(wake)
    return Effect.sync(() => this.#sleepers.delete(wake))
  })

  #wake(): void {
    // Mutant `false` survives: speed only
    if (this.#sleepers.size === 0) return
    const sleepers = [...this.#sleepers]
    this.#sleepers.clear()
    for (const wake of sleepers) wake()
  }
}
