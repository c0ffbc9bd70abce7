/** The events of one run as lines of JSON: kept in a file, and read from any place by any number of readers. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** A line, and its number from 1 on, which is the cursor of a reader. */
export interface Numbered {
  readonly number: number
  readonly line: string
}

/** How many lines a reader takes at once. */
const most = 256

export class RunLog {
  readonly #lines: Array<string>
  readonly #append: (line: string) => void
  readonly #sleepers = new Set<() => void>()
  #isOver = false

  /** `append` keeps each further line. */
  constructor(lines: ReadonlyArray<string>, append: (line: string) => void) {
    this.#lines = [...lines]
    this.#append = append
  }

  get lines(): ReadonlyArray<string> {
    return this.#lines
  }

  push(line: string): void {
    this.#append(line)
    this.#lines.push(line)
    this.#wake()
  }

  /** No line follows. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** The lines after a number, until the end of the run. */
  after(number: number): Stream.Stream<Numbered> {
    return Stream.unfold(Math.max(0, number), (from) => this.#next(from)).pipe(Stream.flatMap(Stream.fromIterable))
  }

  #next(from: number): Effect.Effect<readonly [ReadonlyArray<Numbered>, number] | undefined> {
    return Effect.suspend(() => {
      const taken = this.#lines.slice(from, from + most).map((line, index) => ({ number: from + index + 1, line }))
      if (taken.length > 0) return Effect.succeed([taken, from + taken.length] as const)
      if (this.#isOver) return Effect.undefined
      return Effect.andThen(this.#changed, this.#next(from))
    })
  }

  readonly #changed = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void)
    this.#sleepers.add(wake)
    // Mutant `undefined` survives: to wake a reader that has left does nothing
    return Effect.sync(() => this.#sleepers.delete(wake))
  })

  #wake(): void {
    const sleepers = [...this.#sleepers]
    this.#sleepers.clear()
    for (const wake of sleepers) wake()
  }
}
