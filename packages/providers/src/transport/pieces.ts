/** A text in pieces, joined on `take`: adding a piece costs only the length of that piece. */

/** After this many pieces they are joined, because each piece needs memory besides its characters. */
const most = 1024

export class Pieces {
  #joined: Array<string> = []
  #last: Array<string> = []

  get isEmpty(): boolean {
    return this.#last.length === 0 && this.#joined.length === 0
  }

  add(piece: string): void {
    this.#last.push(piece)
    if (this.#last.length < most) return
    this.#joined.push(this.#last.join(""))
    this.#last = []
  }

  /** Returns the whole text and clears it. */
  take(): string {
    const text = this.#joined.join("") + this.#last.join("")
    this.#joined = []
    this.#last = []
    return text
  }
}
