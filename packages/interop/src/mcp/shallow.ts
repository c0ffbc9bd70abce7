/**
 * Shortens JSON of a server that is nested too deeply, before the recursive parsers of the protocol read it: `null` replaces a list or an
 * object beyond the limit. The result is still deeper than the bound for tools, so a later check refuses it.
 */
import type * as Bounds from "@kintsugi/core/Bounds"

/** The number of levels that protocol messages have around schemas and data. */
const around = 16

const codes = { quote: 0x22, backslash: 0x5c, leftBracket: 0x5b, rightBracket: 0x5d, leftBrace: 0x7b, rightBrace: 0x7d }

/** Shortens one JSON text, which comes in pieces. */
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
    // The start of the text to keep. Text is not kept while the depth is beyond the limit.
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

/** Shortens a whole JSON text. */
export const shallow = (text: string, bounds: Bounds.Bounds): string =>
  // Mutant `false` survives: speed only. A text has no more levels than characters
  text.length <= bounds.depth ? text : new Shallow(bounds).take(text)
