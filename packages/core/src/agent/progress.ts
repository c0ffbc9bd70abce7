/**
 * The partial output of one run for one reader. It keeps the newest value and when it is due, and copies only values that the reader asks
 * for.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Result from "effect/Result"

/** Reads a text piece by piece. */
export interface Reader {
  /** Takes the next piece of text. Returns whether the value shows more now. */
  readonly push: (piece: string) => boolean
  /** A copy of the value so far. */
  readonly seen: () => unknown
}

/** A reader of text without a partial value. */
export const unseen: Reader = { push: () => false, seen: () => undefined }

/** A value is due when its text has grown by this fraction, a sixteenth. So all copies together cost at most 17 times the text. */
const growth = 16

interface Seen {
  readonly value: unknown
}

type Next = Pull.Pull<readonly [unknown, ...Array<unknown>], unknown>

export class Progress {
  /** Milliseconds after which a value is due, even if its text has grown less. */
  readonly #interval: number
  #reader = unseen
  /** The length of the text so far, and of the text in the last shown value. */
  #length = 0
  #shownLength = 0
  #shownAt = -Infinity
  #shown: Seen | undefined
  /** Whether the value shows more than the last one. */
  #hasNews = false
  /** The value that became due while the reader waited. */
  #handed: Seen | undefined
  #output: Seen | undefined
  #exit: Exit.Exit<unknown, unknown> | undefined
  /** Wakes the reader that waits. */
  #wake: (() => void) | undefined
  /** Whether a timer wakes the reader at the end of the interval. */
  #isTimed = false
  /** Whether a value became due before the reader began to wait. */
  // Mutant `true` survives: the first `next` sets it
  #isCalled = false

  constructor(interval: number) {
    this.#interval = interval
  }

  /** A new text begins. The earlier text is not shown any more. */
  begin(reader: Reader): void {
    this.#reader = reader
    this.#length = 0
    this.#shownLength = 0
    this.#hasNews = false
  }

  /** Takes a piece of text that came at this time. */
  add(piece: string, at: number): void {
    this.#length += piece.length
    if (this.#reader.push(piece)) this.#hasNews = true
    if (!this.#hasNews) return
    const isDue = this.#isDue(at)
    // while the reader is elsewhere, nothing is copied
    if (isDue && this.#wake !== undefined) this.#handed = this.#look(at)
    // Mutant `true` survives: a reader that is woken too early waits once more
    if (isDue || !this.#isTimed) this.#call()
  }

  /** Takes the final output of the run. */
  complete(value: unknown): void {
    this.#output = { value }
    this.#call()
  }

  /** Ends the values. */
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

/** Whether two values differ. A value that is too deep for the stack counts as changed, so the reader gets it once more. */
const areEqual = (one: unknown, other: unknown): boolean =>
  Result.getOrElse(
    Result.try(() => Equal.equals(one, other)),
    () => false
  )
