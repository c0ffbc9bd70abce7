/**
 * The lines of work of one execution: each run is a line, and so is each tool call. Within a line, one step follows the other; different
 * lines go on beside each other. So the counts, random numbers and times of a line are the same in every replay, whichever line is faster.
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Random from "effect/Random"
import type * as RunContext from "@kintsugi/core/RunContext"
import { seeded } from "./random.ts"

/** A wait until an instant, by the recorded time of a line. */
interface Timer {
  readonly target: number
  readonly reached: Deferred.Deferred<void>
}

/** The line of work of one run or of one tool call, with its own time, counts and random numbers. */
export class Line {
  readonly key: string
  readonly random: Random.Random
  /** This line and its ancestors, the nearest first. */
  readonly #chain: ReadonlyArray<Line>
  readonly #timers = new Set<Timer>()
  readonly #counts = new Map<string, number>()
  /** `#own`: when the last result of this line came. `#nested`: the same, with the results of the lines within it. */
  #own: number
  #nested: number
  /** How many steps are under way in this line and in the lines within it. */
  #underWay = 0
  #isLive: boolean

  constructor(key: string, executionId: string, parent: Line | undefined, at = parent?.time ?? 0) {
    this.key = key
    this.random = seeded(`${executionId}/${key}`)
    this.#chain = parent === undefined ? [this] : [this, ...parent.#chain]
    this.#own = at
    this.#nested = at
    this.#isLive = parent?.isLive ?? false
  }

  /** The time of the last result. While a step of this line is under way, the results of lines within it do not count. */
  get time(): number {
    if (this.#underWay === 0) this.#own = Math.max(this.#own, this.#nested)
    return this.#own
  }

  /** Whether the replay of this line has caught up, so that it does something for the first time. */
  get isLive(): boolean {
    return this.#isLive
  }

  live(): void {
    for (const line of this.#chain) line.#isLive = true
  }

  /** Notes that a result came at this time. */
  advance(at: number): void {
    this.#own = Math.max(this.#own, at)
    for (const line of this.#chain) line.#nested = Math.max(line.#nested, at)
  }

  begin(): void {
    for (const line of this.#chain) line.#underWay++
  }

  end(): void {
    for (const line of this.#chain) line.#underWay--
  }

  /** Counts the uses of a name in this line, from 1. */
  next(name: string): number {
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    return count
  }

  /** The earliest instant for which this line or an ancestor waits; `Infinity` if none of them waits. */
  get until(): number {
    let first = Infinity
    for (const line of this.#chain) for (const { target } of line.#timers) first = Math.min(first, target)
    return first
  }

  /** Advances the time to this instant. Waits of this line and of its ancestors that end by then are over. */
  reach(at: number): void {
    this.advance(at)
    for (const line of this.#chain) {
      for (const timer of line.#timers) {
        if (timer.target > at) continue
        line.#own = Math.max(line.#own, timer.target)
        line.#timers.delete(timer)
        Deferred.doneUnsafe(timer.reached, Effect.void)
      }
    }
  }

  /**
   * Waits by the time of the line. A step that is under way ends the wait in time, and records that. Without such a step the real clock
   * ends the wait, once the replay has caught up.
   */
  sleep(duration: Duration.Duration, real: Clock.Clock): Effect.Effect<void> {
    return Effect.suspend(() => {
      const target = this.time + Duration.toMillis(duration)
      const timer: Timer = { target, reached: Deferred.makeUnsafe() }
      this.#timers.add(timer)
      const left = Math.max(0, target - real.currentTimeMillisUnsafe())
      // never longer than the duration: the time of the line may come from a process whose clock was ahead
      const rest = Duration.min(Duration.millis(left), duration)
      const alone = Effect.flatMap(real.sleep(rest), () => {
        if (!this.#isLive || this.#underWay > 0) return Deferred.await(timer.reached)
        this.reach(target)
        return Effect.void
      })
      return Effect.ensuring(
        Effect.raceFirst(Deferred.await(timer.reached), alone),
        Effect.sync(() => this.#timers.delete(timer))
      )
    })
  }
}

/** The lines of one replay, by the ids of runs and the keys of calls. */
export class Lines {
  readonly #executionId: string
  readonly #all = new Map<string, Line>()
  // Mutant `false` survives: no fiber waits for a latch that was not closed
  readonly #calm = Latch.makeUnsafe(true)
  /** How many steps are at work. A step that waits for a person, or for a long time, does not count. */
  #busy = 0
  /** The line for everything outside of runs. */
  readonly root: Line

  constructor(executionId: string) {
    this.#executionId = executionId
    this.root = new Line("", executionId, undefined)
  }

  /** The line of a run or, within a tool call, the line of that call. */
  of(run: RunContext.RunContext | undefined): Line {
    if (run === undefined) return this.root
    return run.callKey === undefined ? this.#ofRun(run) : this.call(run.callKey, run)
  }

  /** The line of a tool call. It begins now, unless it exists already. */
  call(key: string, run: RunContext.RunContext, at?: number): Line {
    return this.#get(key, () => this.#ofRun(run), at)
  }

  /** Counts the effect as work while it lasts; `calm` waits until there is none. */
  busy<A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        if (this.#busy++ === 0) this.#calm.closeUnsafe()
      }),
      () => self,
      () =>
        Effect.sync(() => {
          if (--this.#busy === 0) this.#calm.openUnsafe()
        })
    )
  }

  /**
   * Waits until nothing has been at work for a while. The engine suspends an execution as soon as one of its fibers waits and no activity
   * is under way. So without this wait it could suspend while another fiber is between two activities.
   */
  readonly calm: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    // Mutant `quiet <= 20` survives: only a yield more
    for (let quiet = 0; quiet < 20; quiet++) {
      if (this.#busy > 0) {
        yield* this.#calm.await
        quiet = 0
      }
      yield* Effect.yieldNow
    }
  })

  #ofRun({ parent, parentCallKey, runId }: RunContext.RunContext): Line {
    // the run or the tool call that started this run has a line already
    return this.#get(runId, () => this.#all.get(parentCallKey ?? parent?.runId ?? "") ?? this.root)
  }

  #get(key: string, parentOf: () => Line, at?: number): Line {
    const existing = this.#all.get(key)
    if (existing !== undefined) return existing
    const line = new Line(key, this.#executionId, parentOf(), at)
    this.#all.set(key, line)
    return line
  }
}
