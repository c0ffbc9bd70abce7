/**
 * JSON text of a server without what is nested too deeply. The parsers of the protocol recurse, so this stands before them: in the
 * place of a list or an object that is too deep is `null`. What is left is still deeper than any bound, and is refused by it.
 */
import type * as Bounds from "@kintsugi/core/Bounds"

/** The protocol puts schemas and data into a few levels of its own. */
const around = 16

const codes = { quote: 0x22, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d }

/** One JSON text, in pieces. */
export class Shallow {
  readonly #levels: number
  #depth = 0
  #isInString = false
  #isEscaped = false

  constructor({ depth }: Bounds.Bounds) {
    this.#levels = depth + around
  }

  take(text: string): string {
    const kept: Array<string> = []
    // where what is kept begins; nothing is kept while it is too deep
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (code === codes.backslash) this.#isEscaped = true
        else if (code === codes.quote) this.#isInString = false
      } else if (code === codes.quote) this.#isInString = true
      else if (code === codes.openList || code === codes.openObject) {
        if (++this.#depth === this.#levels + 1) kept.push(text.slice(start, at), "null")
      } else if ((code === codes.closeList || code === codes.closeObject) && this.#depth > 0) {
        if (--this.#depth === this.#levels) start = at + 1
      }
    }
    if (this.#depth <= this.#levels) kept.push(text.slice(start))
    return kept.length === 1 ? (kept[0] ?? "") : kept.join("")
  }
}

/** A whole JSON text. */
export const shallow = (text: string, bounds: Bounds.Bounds): string =>
  text.length <= bounds.depth ? text : new Shallow(bounds).take(text)
