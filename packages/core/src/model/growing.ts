/** A text that grows piece by piece. Each piece costs memory beyond its characters, so 1,024 pieces are joined at a time. */
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
    // Mutants `this.#pieces.push(piece) >= most`, `this.#pieces.push(piece) <= most`, `true` survive: memory only
    if (this.#pieces.push(piece) < most) return
    this.#joined += this.#pieces.join("")
    this.#pieces = []
    this.#last = ""
  }
}

const most = 1024
