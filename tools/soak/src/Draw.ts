/** Random choices that a seed repeats. */

export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1, without 1: Tommy Ettinger's mulberry32. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<A>(one: A, ...others: ReadonlyArray<A>): A {
    return [one, ...others][this.int(0, others.length)] ?? one
  }

  /** Nothing, or what is made. */
  maybe<A>(probability: number, make: () => A): A | undefined {
    return this.chance(probability) ? make() : undefined
  }

  times<A>(count: number, make: (index: number) => A): ReadonlyArray<A> {
    return Array.from({ length: count }, (_, index) => make(index))
  }
}
