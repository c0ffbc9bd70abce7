/** Cuts a text that arrives in pieces into lines. Each character is read once, however small the pieces are. */
import { Pieces } from "./pieces.ts"
import * as Size from "./Size.ts"

/** How lines end. `lf`: with LF alone; the reader gets a CR before it. `any`: with CR, LF or CRLF, as lines of events do. */
export type LineEnds = "lf" | "any"

/** Whether a line with this beginning may have so many bytes. Nothing is emitted once a line is longer. */
export type Admits = (bytes: number, beginning: string) => boolean

/** Emits each line without its end, as soon as it is complete. */
export class Lines {
  readonly #onLine: (line: string) => void
  readonly #hasCr: boolean
  readonly #limit: Admits | undefined
  /** The bytes of the unfinished line. */
  #size = 0
  /** The first characters of its first piece that is not blank. */
  #beginning = ""
  /** The beginning of the unfinished line. */
  readonly #unfinished = new Pieces()
  /** The last character was a CR: an LF right behind it belongs to it. */
  #isAfterCr = false

  constructor(onLine: (line: string) => void, ends: LineEnds = "lf", limit?: Admits) {
    this.#onLine = onLine
    this.#hasCr = ends === "any"
    this.#limit = limit
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
    if (from === text.length) return
    const rest = text.slice(from)
    if (!this.#admits(rest)) return
    if (this.#beginning === "") this.#beginning = rest.trimStart().slice(0, few)
    this.#unfinished.add(rest)
  }

  /** The bytes of the unfinished line, unless it is blank or a comment. */
  get begun(): number {
    return this.#beginning === "" || this.#beginning.startsWith(":") ? 0 : this.#size
  }

  /** Ends the text. Returns the unfinished line. */
  rest(): string {
    return this.#unfinished.take()
  }

  #end(line: string): void {
    if (!this.#admits(line)) return
    this.#size = 0
    this.#beginning = ""
    if (this.#unfinished.isEmpty) return this.#onLine(line)
    this.#unfinished.add(line)
    this.#onLine(this.#unfinished.take())
  }

  /** Whether the line is within the limit with this piece. */
  #admits(piece: string): boolean {
    if (this.#limit === undefined) return true
    this.#size += Size.ofText(piece)
    return this.#limit(this.#size, this.#beginning === "" ? piece : this.#beginning)
  }
}

/** So many characters show how a line begins. */
const few = 64
