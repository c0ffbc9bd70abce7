/** What waits in the order in which it came. What has been taken does not stay. */
export class Backlog<A> {
  #taking: Array<A> = []
  #next = 0
  #coming: Array<A> = []

  get size(): number {
    return this.#taking.length - this.#next + this.#coming.length
  }

  add(value: A): void {
    this.#coming.push(value)
  }

  /** The one that has waited longest; there has to be one. */
  take(): A {
    if (this.#next === this.#taking.length) {
      this.#taking = this.#coming
      this.#coming = []
      this.#next = 0
    }
    // the index is below the length while something waits
    return this.#taking[this.#next++] as A
  }

  /** Takes everything. */
  clear(): ReadonlyArray<A> {
    const all = [...this.#taking.slice(this.#next), ...this.#coming]
    this.#taking = []
    this.#coming = []
    this.#next = 0
    return all
  }
}
