/** The output of one run on its way to one reader: the newest value, when it is due, and no copy that the reader does not ask for. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Result from "effect/Result"

/** Reads a text piece by piece. */
export interface Reader {
  /** Takes the next piece; whether more is seen than before. */
  readonly push: (piece: string) => boolean
  /** A copy of what is seen so far. */
  readonly seen: () => unknown
}

/** Shows nothing. */
export const unseen: Reader = { push: () => false, seen: () => undefined }

/** A value is due when its text has grown by one part of so many since the last one: copies of all of them cost 17 texts. */
const growth = 16

interface Seen {
  readonly value: unknown
}

type Next = Pull.Pull<readonly [unknown, ...Array<unknown>], unknown>

export class Progress {
  /** Milliseconds after which a value is due that has not grown enough. */
  readonly #interval: number
  #reader = unseen
  /** Code units of the text so far, and of those that the last value has shown. */
  #length = 0
  #shownLength = 0
  #shownAt = -Infinity
  #shown: Seen | undefined
  /** Whether more is seen than was shown. */
  #hasNews = false
  /** What was due while the reader waited for it. */
  #handed: Seen | undefined
  #output: Seen | undefined
  #exit: Exit.Exit<unknown, unknown> | undefined
  /** Wakes the reader that waits. */
  #wake: (() => void) | undefined
  /** Whether the reader wakes by itself when the interval is over. */
  #isTimed = false
  /** Whether the reader was to be woken before it had begun to wait. */
  #isCalled = false

  constructor(interval: number) {
    this.#interval = interval
  }

  /** A text begins. The rest of the one before is not shown any more. */
  begin(reader: Reader): void {
    this.#reader = reader
    this.#length = 0
    this.#shownLength = 0
    this.#hasNews = false
  }

  /** A piece of the text came at this time. */
  add(piece: string, at: number): void {
    this.#length += piece.length
    if (this.#reader.push(piece)) this.#hasNews = true
    if (!this.#hasNews) return
    const isDue = this.#isDue(at)
    // while the reader is elsewhere, nothing is copied
    if (isDue && this.#wake !== undefined) this.#handed = this.#look(at)
    if (isDue || !this.#isTimed) this.#call()
  }

  /** The run has its output. */
  complete(value: unknown): void {
    this.#output = { value }
    this.#call()
  }

  /** The run is over. */
  end(exit: Exit.Exit<unknown, unknown>): void {
    this.#exit = exit
    this.#call()
  }

  /** The next value; ends as the run ends, after the last one. */
  readonly next: Next = Clock.clockWith((clock) => {
    const at = clock.currentTimeMillisUnsafe()
    this.#isCalled = false
    const seen = this.#take(at)
    if (seen !== undefined) return Effect.succeed([seen.value])
    if (this.#exit !== undefined) return Exit.isSuccess(this.#exit) ? Cause.done() : Effect.failCause(this.#exit.cause)
    this.#isTimed = this.#hasNews
    const duration = this.#isTimed ? this.#shownAt + this.#interval - at : Infinity
    const woken = duration === Infinity ? this.#waiting : Effect.timeoutOption(this.#waiting, duration)
    return Effect.flatMap(woken, () => this.next)
  })

  readonly #waiting = Effect.callback<void>((resume) => {
    if (this.#isCalled) return resume(Effect.void)
    const wake = () => resume(Effect.void)
    this.#wake = wake
    return Effect.sync(() => {
      this.#wake = undefined
    })
  })

  #call(): void {
    const wake = this.#wake
    this.#wake = undefined
    if (wake === undefined) this.#isCalled = true
    else wake()
  }

  #isDue(at: number): boolean {
    return (this.#length - this.#shownLength) * growth >= this.#shownLength || at - this.#shownAt >= this.#interval
  }

  #take(at: number): Seen | undefined {
    const handed = this.#handed
    const output = this.#output
    this.#handed = undefined
    if (handed !== undefined) return handed
    if (output !== undefined) {
      this.#output = undefined
      this.#hasNews = false
      return this.#shown !== undefined && areEqual(this.#shown.value, output.value) ? undefined : output
    }
    return this.#hasNews && (this.#exit !== undefined || this.#isDue(at)) ? this.#look(at) : undefined
  }

  #look(at: number): Seen {
    this.#hasNews = false
    this.#shownLength = this.#length
    this.#shownAt = at
    return (this.#shown = { value: this.#reader.seen() })
  }
}

/** A value too deep for the stack counts as changed: it is given once more. */
const areEqual = (one: unknown, other: unknown): boolean =>
  Result.getOrElse(
    Result.try(() => Equal.equals(one, other)),
    () => false
  )
