/** Text that comes in pieces, cut into lines. Each character is looked at once, however small the pieces are. */
import { Pieces } from "./pieces.ts"

/** How lines end: with LF alone, so that a CR before it is left to the reader; or with CR, LF or CRLF, as lines of events do. */
export type LineEnds = "lf" | "any"

/** Hands on each line without its end, as soon as that is there. */
export class Lines {
  readonly #onLine: (line: string) => void
  readonly #hasCr: boolean
  /** What has come of the line that has not ended yet. */
  readonly #open = new Pieces()
  /** The last character was a CR: a LF that comes next belongs to it. */
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
      // each is sought only beyond the one before it
      if (lf !== -1 && lf < from) lf = text.indexOf("\n", from)
      if (isCr) cr = text.indexOf("\r", from)
    }
    if (from < text.length) this.#open.add(text.slice(from))
  }

  /** The text is over: the line that has not ended. */
  rest(): string {
    return this.#open.take()
  }

  #end(line: string): void {
    if (this.#open.isEmpty) return this.#onLine(line)
    this.#open.add(line)
    this.#onLine(this.#open.take())
  }
}
