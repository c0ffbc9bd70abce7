/** A text in pieces, which `take` joins. Adding a piece costs only the length of that piece. */

/** How many pieces are kept before they are joined. Each piece needs memory besides its characters. */
const most = 1024

export class Pieces {
  #joined: Array<string> = []
  #last: Array<string> = []

  get isEmpty(): boolean {
    return this.#last.length === 0 && this.#joined.length === 0
  }

  add(piece: string): void {
    this.#last.push(piece)
    // Mutants `false`, `this.#last.length >= most` survive: memory only
    if (this.#last.length < most) return
    this.#joined.push(this.#last.join(""))
    this.#last = []
  }

  /** Returns the whole text and clears it. */
  take(): string {
    const [only = ""] = this.#last
    const isOne = this.#joined.length === 0 && this.#last.length <= 1
    const text = isOne ? only : this.#joined.join("") + this.#last.join("")
    this.#joined = []
    this.#last = []
    return text
  }
}
