/** A text in pieces, joined when it is taken: to add a piece costs no more than the piece is long. */

/** So many are joined to one, as each piece takes memory of its own besides its characters. */
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

  /** The whole text; nothing of it stays. */
  take(): string {
    const text = this.#joined.join("") + this.#last.join("")
    this.#joined = []
    this.#last = []
    return text
  }
}
