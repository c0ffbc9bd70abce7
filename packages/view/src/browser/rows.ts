/** A list whose rows are elements only while they are near the screen, and all on paper. All rows have the same height. */

/** How many rows are made on each side of what is seen. */
const spare = 4
/** How many rows are printed. */
const printed = 1500

export class Rows {
  readonly body: HTMLElement
  /** Whether the list is on paper, where all rows are made. */
  isPrinted = false
  readonly #scroller: HTMLElement
  readonly #make: (index: number) => HTMLElement
  readonly #made = new Map<number, HTMLElement>()
  #count = 0
  #height = 26
  #isDue = false

  constructor(scroller: HTMLElement, body: HTMLElement, make: (index: number) => HTMLElement) {
    this.body = body
    this.#scroller = scroller
    this.#make = make
    const later = () => this.later()
    scroller.addEventListener("scroll", later)
    addEventListener("scroll", later)
    new ResizeObserver(later).observe(scroller)
  }

  get made(): ReadonlyMap<number, HTMLElement> {
    return this.#made
  }

  /** Makes all rows anew, because they or their number have changed. */
  renew(count: number): void {
    const focused = [...this.#made].find(([, row]) => row === document.activeElement)?.[0]
    this.#count = count
    this.#made.clear()
    this.body.replaceChildren()
    this.fill()
    if (focused !== undefined) this.#made.get(Math.min(focused, count - 1))?.focus({ preventScroll: true })
  }

  /** Makes the missing rows with the next frame. */
  later(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.fill()
    })
  }

  /** Makes the rows that are missing near the screen, and removes the rows that are far from it. */
  fill(): void {
    const height = this.isPrinted ? 20 : matchMedia("(max-width:700px)").matches ? 36 : 26
    const isOther = height !== this.#height
    this.#height = height
    const room = `${height * (this.isPrinted ? Math.min(printed, this.#count) : this.#count)}px`
    // a style that is set again would be laid out again
    if (this.body.style.height !== room) this.body.style.height = room
    const [from, to] = this.#seen()
    for (const [index, row] of this.#made)
      // the row with the focus stays, so that keys still reach it
      if ((index < from || index >= to) && row !== document.activeElement) {
        row.remove()
        this.#made.delete(index)
      }
    for (let index = from; index < to; index++) {
      const existing = this.#made.get(index)
      const row = existing ?? this.#make(index)
      if (existing === undefined || isOther) row.style.top = `${index * height}px`
      if (existing !== undefined) continue
      this.#made.set(index, row)
      this.#insert(index, row)
    }
  }

  /** Inserts a row so that the order of the elements is the order of the rows. */
  #insert(index: number, row: HTMLElement): void {
    this.body.insertBefore(row, this.#next(index) ?? null)
  }

  #next(index: number): HTMLElement | undefined {
    let found: number | undefined
    // Mutant `other <= found` survives: no two rows have the same index
    for (const other of this.#made.keys()) if (other > index && (found === undefined || other < found)) found = other
    return found === undefined ? undefined : this.#made.get(found)
  }

  #seen(): readonly [from: number, to: number] {
    if (this.isPrinted) return [0, Math.min(printed, this.#count)]
    const room = this.body.getBoundingClientRect()
    const frame = this.#scroller.getBoundingClientRect()
    const [top, bottom] = [Math.max(frame.top, 0), Math.min(frame.bottom, innerHeight)]
    const from = Math.max(0, Math.floor((top - room.top) / this.#height) - spare)
    const to = Math.min(this.#count, Math.ceil((bottom - room.top) / this.#height) + spare)
    return [Math.min(from, Math.max(0, this.#count - 1)), to]
  }

  /** Whether the page scrolls, and not the list: so it is on a narrow screen. */
  get isInPage(): boolean {
    return this.#scroller.scrollHeight <= this.#scroller.clientHeight
  }

  /** Scrolls to a row, and makes it. */
  reveal(index: number, isCentred = false): HTMLElement | undefined {
    const top = index * this.#height
    const { clientHeight, scrollTop } = this.#scroller
    const room = this.body.getBoundingClientRect().top
    if (this.isInPage) {
      const y = room + top
      if (y < 0 || y + this.#height > innerHeight) scrollBy(0, y - innerHeight / 3)
      this.fill()
      return this.#made.get(index)
    }
    const head = room - this.#scroller.getBoundingClientRect().top + scrollTop
    if (top < scrollTop || top + this.#height + head > scrollTop + clientHeight)
      this.#scroller.scrollTop =
        isCentred || Math.abs(top - scrollTop) > 2 * clientHeight
          ? top - clientHeight / 2
          : top < scrollTop
            ? top
            : top + this.#height + head - clientHeight
    this.fill()
    return this.#made.get(index)
  }
}
