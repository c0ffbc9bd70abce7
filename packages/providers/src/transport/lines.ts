/** Text that comes in pieces, cut into lines: one JSON text each, as Ollama streams them. */

/** Ends with LF or CRLF; blank lines are none. The last line counts when the text ends, also without a line end. */
export class Lines {
  readonly #onLine: (line: string) => void
  /** Pieces of the line that has not ended yet; joined once, when it does. */
  #open: Array<string> = []

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  feed(text: string): void {
    let from = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#open.push(text.slice(from, end))
      from = end + 1
      this.end()
    }
    if (from < text.length) this.#open.push(text.slice(from))
  }

  /** The text is over. */
  end(): void {
    const line = this.#open.join("").trim()
    this.#open = []
    if (line !== "") this.#onLine(line)
  }
}
