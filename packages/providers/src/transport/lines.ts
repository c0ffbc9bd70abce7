/** Cuts a text that arrives in pieces into lines. It reads each character once, however small the pieces are. */
import { Pieces } from "./pieces.ts"
import * as Size from "./Size.ts"

/** How lines end. `lf`: with LF; a CR before the LF stays in the line. `any`: with CR, LF or CRLF, as in server-sent events. */
export type LineEnds = "lf" | "any"

/** Whether a line that begins like this may have so many bytes. Once it returns `false`, no further line is passed on. */
export type Admits = (bytes: number, beginning: string) => boolean

/** Passes each line on, without its line end, and its bytes in UTF-8, as soon as the line is complete. */
export class Lines {
  readonly #onLine: (line: string, bytes: number) => void
  readonly #hasCr: boolean
  readonly #limit: Admits | undefined
  /** The bytes of the line that is not complete yet. */
  #size = 0
  /** The first characters of the unfinished line, from its first piece that is not blank. */
  #beginning = ""
  /** The text of the line that is not complete yet. */
  readonly #unfinished = new Pieces()
  /** Whether the last character was a CR. An LF right after it belongs to the same line end. */
  #isAfterCr = false

  constructor(onLine: (line: string, bytes: number) => void, ends: LineEnds = "lf", limit?: Admits) {
    this.#onLine = onLine
    this.#hasCr = ends === "any"
    this.#limit = limit
  }

  /** Reads a piece of the text. `sizeOf` measures a part of this piece: where each character is a byte, it need not look at them. */
  feed(text: string, sizeOf: (part: string) => number = Size.ofText): void {
    if (text === "") return
    let from = this.#isAfterCr && text.startsWith("\n") ? 1 : 0
    this.#isAfterCr = false
    let lf = text.indexOf("\n", from)
    let cr = this.#hasCr ? text.indexOf("\r", from) : -1
    while (lf !== -1 || cr !== -1) {
      // Mutant `cr <= lf` survives: no character is both
      const isCr = cr !== -1 && (lf === -1 || cr < lf)
      const end = isCr ? cr : lf
      this.#end(text.slice(from, end), sizeOf)
      from = isCr && lf === end + 1 ? end + 2 : end + 1
      this.#isAfterCr = isCr && from === text.length && lf !== end + 1
      // Each search starts behind the previous match.
      // Mutant `true` for `lf !== -1 && lf < from` survives: only speed
      if (lf !== -1 && lf < from) lf = text.indexOf("\n", from)
      if (isCr) cr = text.indexOf("\r", from)
    }
    if (from === text.length) return
    const rest = text.slice(from)
    if (!this.#admits(rest, sizeOf)) return
    if (this.#beginning === "") this.#beginning = rest.trimStart().slice(0, few)
    this.#unfinished.add(rest)
  }

  /** The bytes of the line that is not complete yet; 0 if the line is blank or a comment. */
  get begun(): number {
    return this.#beginning === "" || this.#beginning.startsWith(":") ? 0 : this.#size
  }

  /** Ends the text, and returns its last line if that had no line end. */
  rest(): string {
    return this.#unfinished.take()
  }

  #end(line: string, sizeOf: (part: string) => number): void {
    if (!this.#admits(line, sizeOf)) return
    const bytes = this.#size
    this.#size = 0
    this.#beginning = ""
    if (this.#unfinished.isEmpty) return this.#onLine(line, bytes)
    this.#unfinished.add(line)
    this.#onLine(this.#unfinished.take(), bytes)
  }

  /** Adds the bytes of a piece to the line. Returns whether the line is still within the limit. */
  #admits(piece: string, sizeOf: (part: string) => number): boolean {
    this.#size += sizeOf(piece)
    return this.#limit === undefined || this.#limit(this.#size, this.#beginning === "" ? piece : this.#beginning)
  }
}

/** How many characters of a line are kept to show how it begins. */
const few = 64
