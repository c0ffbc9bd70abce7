/** A collection of numbers whose least one is found at once: a binary heap, so adding a number takes logarithmic time. */
export class Least {
  readonly #heap: Array<number> = []

  get first(): number | undefined {
    return this.#heap[0]
  }

  add(value: number): void {
    let at = this.#heap.push(value) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#at(parent) <= value) break
      this.#heap[at] = this.#at(parent)
      at = parent
    }
    this.#heap[at] = value
  }

  removeFirst(): void {
    const value = this.#heap.pop()
    const { length } = this.#heap
    // Mutant `false` for `value === undefined` survives: an empty heap has no length either
    if (value === undefined || length === 0) return
    let at = 0
    for (let child = 1; child < length; child = 2 * at + 1) {
      // Mutant `this.#at(child + 1) <= this.#at(child)` survives: of two equal numbers either may rise
      if (this.#at(child + 1) < this.#at(child)) child++
      // Mutant `value < this.#at(child)` survives: equal numbers may stand in any order
      if (value <= this.#at(child)) break
      this.#heap[at] = this.#at(child)
      at = child
    }
    this.#heap[at] = value
  }

  /** The number at an index; `Infinity` behind the last number, so that no comparison chooses it. */
  #at(index: number): number {
    return this.#heap[index] ?? Infinity
  }
}
