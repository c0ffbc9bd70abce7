/** A queue. It holds no reference to items that were taken. */
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

  /** Takes the oldest item; the queue must not be empty. */
  take(): A {
    if (this.#next === this.#taking.length) {
      this.#taking = this.#coming
      this.#coming = []
      this.#next = 0
    }
    // the index is below the length while the queue has items
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
