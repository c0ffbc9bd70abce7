/**
 * Removes too deeply nested values from a server's JSON text. The protocol's parsers recurse, so this runs before
 * them: `null` replaces a list or object that is too deep. The rest is still deeper than any bound, so the bound
 * refuses it.
 */
import type * as Bounds from "@kintsugi/core/Bounds"

/** Levels that the protocol adds around schemas and data. */
const around = 16

const codes = { quote: 0x22, backslash: 0x5c, leftBracket: 0x5b, rightBracket: 0x5d, leftBrace: 0x7b, rightBrace: 0x7d }

/** Processes one JSON text in pieces. */
export class Shallow {
  readonly #levels: number
  #depth = 0
  #isInString = false
  #isEscaped = false

  constructor({ depth }: Bounds.Bounds) {
    this.#levels = depth + around
  }

  take(text: string): string {
    const pieces: Array<string> = []
    // The start of the retained text; nothing is retained while the depth is too great.
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (code === codes.backslash) this.#isEscaped = true
        else if (code === codes.quote) this.#isInString = false
      } else if (code === codes.quote) this.#isInString = true
      else if (code === codes.leftBracket || code === codes.leftBrace) {
        if (++this.#depth === this.#levels + 1) pieces.push(text.slice(start, at), "null")
      } else if ((code === codes.rightBracket || code === codes.rightBrace) && this.#depth > 0) {
        if (--this.#depth === this.#levels) start = at + 1
      }
    }
    if (this.#depth <= this.#levels) pieces.push(text.slice(start))
    return pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("")
  }
}

/** A whole JSON text. */
export const shallow = (text: string, bounds: Bounds.Bounds): string =>
  text.length <= bounds.depth ? text : new Shallow(bounds).take(text)
