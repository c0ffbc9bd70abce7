/** Cuts a text that arrives in pieces into lines. Each character is read once, however small the pieces are. */
import { Pieces } from "./pieces.ts"

/** How lines end. `lf`: with LF alone; the reader gets a CR before it. `any`: with CR, LF or CRLF, as lines of events do. */
export type LineEnds = "lf" | "any"

/** Emits each line without its end, as soon as it is complete. */
export class Lines {
  readonly #onLine: (line: string) => void
  readonly #hasCr: boolean
  /** The beginning of the unfinished line. */
  readonly #unfinished = new Pieces()
  /** The last character was a CR: an LF right behind it belongs to it. */
  #isAfterCr = false

  constructor(onLine: (line: string) => void, ends: LineEnds = "lf") {
    this.#onLine = onLine
    this.#hasCr = ends === "any"
  }

  feed(text: string): void {
    if (text === "") return
    let from = this.#isAfterCr && text.startsWith("\n") ? 1 : 0
    this.#isAfterCr = false
    let lf = text.indexOf("\n", from)
    let cr = this.#hasCr ? text.indexOf("\r", from) : -1
    while (lf !== -1 || cr !== -1) {
      const isCr = cr !== -1 && (lf === -1 || cr < lf)
      const end = isCr ? cr : lf
      this.#end(text.slice(from, end))
      from = isCr && lf === end + 1 ? end + 2 : end + 1
      this.#isAfterCr = isCr && from === text.length && lf !== end + 1
      // Each search starts behind the previous hit.
      if (lf !== -1 && lf < from) lf = text.indexOf("\n", from)
      if (isCr) cr = text.indexOf("\r", from)
    }
    if (from < text.length) this.#unfinished.add(text.slice(from))
  }

  /** Ends the text. Returns the unfinished line. */
  rest(): string {
    return this.#unfinished.take()
  }

  #end(line: string): void {
    if (this.#unfinished.isEmpty) return this.#onLine(line)
    this.#unfinished.add(line)
    this.#onLine(this.#unfinished.take())
  }
}
