/** A text that grows by pieces. Each piece needs memory besides its characters, so every so many are joined. */
export class Growing {
  #joined = ""
  #pieces: Array<string> = []
  /** The text of `#pieces`. */
  #last = ""

  get text(): string {
    return this.#joined + this.#last
  }

  add(piece: string): void {
    this.#last += piece
    if (this.#pieces.push(piece) < most) return
    this.#joined += this.#pieces.join("")
    this.#pieces = []
    this.#last = ""
  }
}

const most = 1024
