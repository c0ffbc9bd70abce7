/** Splits a text, piece by piece, into the reasoning between `<think>` and `</think>` at its beginning, and the rest. */
import * as Size from "../../transport/Size.ts"

export interface Piece {
  readonly type: "text-delta" | "reasoning-delta"
  readonly text: string
}

const opening = "<think>"
const closing = "</think>"

/**
 * Splits the reasoning from a text. Tags count only at the very beginning, because a later text may quote them. Blanks around the tags are
 * removed. Reasoning without a closing tag lasts until the end of the text.
 */
export class ThinkTags {
  #state: "beginning" | "thinking" | "between" | "answering" = "beginning"
  /** The blanks at the very beginning. They are removed if a tag follows. */
  readonly #blanks: Array<string> = []
  /** The bytes of the blanks at the beginning. */
  #size = 0
  /** The end of the text so far, if it may be part of a tag. */
  #held = ""

  /** The bytes of the text that is held back. */
  get size(): number {
    return this.#state === "beginning" ? this.#size + this.#held.length : this.#held.length
  }

  push(text: string): ReadonlyArray<Piece> {
    switch (this.#state) {
      case "beginning":
        return this.#begin(text)
      case "thinking":
        return this.#think(this.#held + text)
      case "between":
        return this.#answer(text)
      case "answering":
        return piece("text-delta", text)
    }
  }

  /** Ends the text, and returns the text that was held back. */
  end(): ReadonlyArray<Piece> {
    if (this.#state === "beginning") return piece("text-delta", this.#unopened())
    const held = this.#held
    this.#held = ""
    return piece(this.#state === "thinking" ? "reasoning-delta" : "text-delta", held)
  }

  #begin(text: string): ReadonlyArray<Piece> {
    const begun = this.#held === "" ? text.trimStart() : this.#held + text
    if (begun.startsWith(opening)) {
      this.#state = "thinking"
      return this.#think(begun.slice(opening.length))
    }
    if (this.#held === "") {
      const blanks = text.slice(0, text.length - begun.length)
      this.#blanks.push(blanks)
      this.#size += Size.ofText(blanks)
    }
    this.#held = begun
    if (opening.startsWith(begun)) return []
    this.#state = "answering"
    return piece("text-delta", this.#unopened())
  }

  /** Returns the text that was held back as a possible opening tag, with the blanks before it. */
  #unopened(): string {
    const text = this.#blanks.join("") + this.#held
    this.#held = ""
    return text
  }

  #think(text: string): ReadonlyArray<Piece> {
    const end = text.indexOf(closing)
    if (end === -1) {
      const held = heldBack(text)
      this.#held = text.slice(text.length - held)
      return piece("reasoning-delta", text.slice(0, text.length - held))
    }
    this.#state = "between"
    this.#held = ""
    return [...piece("reasoning-delta", text.slice(0, end)), ...this.#answer(text.slice(end + closing.length))]
  }

  #answer(text: string): ReadonlyArray<Piece> {
    const begun = text.trimStart()
    if (begun !== "") this.#state = "answering"
    return piece("text-delta", begun)
  }
}

const piece = (type: Piece["type"], text: string): ReadonlyArray<Piece> => (text === "" ? [] : [{ type, text }])

/** How many characters at the end of a text without the closing tag may be its beginning. */
const heldBack = (text: string): number => {
  // Mutant `Math.max(closing.length, text.length)` survives: speed only. No longer end is a beginning of the tag
  let length = Math.min(closing.length, text.length)
  while (!closing.startsWith(text.slice(text.length - length))) length--
  return length
}
