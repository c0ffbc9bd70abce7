/** Cuts bytes into lines, within bounds. */
import { type Bounds, tooMuch } from "./bounds.ts"

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

/**
 * Cuts bytes into lines. A line may end as on any system, and a piece of bytes may end anywhere. Each byte is read once. A byte that is not
 * UTF-8 becomes a replacement character.
 */
export class Splitter {
  readonly #bounds: Bounds
  readonly #take: (line: string) => void
  readonly #decoder = new TextDecoder()
  /** The bytes of the line that has not ended, in a buffer with room for more; `#length` is how many there are. */
  #held = new Uint8Array(1024)
  #length = 0
  /** The number of bytes of all lines. */
  #size = 0
  #lines = 0
  #isBehindReturn = false
  /** Whether one of the bytes is zero, which no text has. */
  hasZero = false

  constructor(bounds: Bounds, take: (line: string) => void) {
    this.#bounds = bounds
    this.#take = take
  }

  /** Takes a piece of bytes. Returns a complaint if a line or the whole exceeds its bound. */
  push(bytes: Uint8Array): string | undefined {
    const { maxLine, maxSize } = this.#bounds
    this.hasZero ||= bytes.includes(0)
    this.#size += bytes.length
    if (this.#size > maxSize) return tooMuch("it", maxSize, "max-size")
    const tooLong = () => tooMuch(`its line ${this.#lines + 1}`, maxLine, "max-line")
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === lineFeed && this.#isBehindReturn) from = at + 1
      else if (byte === lineFeed || byte === carriageReturn) {
        if (!this.#hold(bytes.subarray(from, at))) return tooLong()
        this.#give()
        from = at + 1
      }
      this.#isBehindReturn = byte === carriageReturn
    }
    return this.#hold(bytes.subarray(from)) ? undefined : tooLong()
  }

  /** Gives the last line, if no line end follows it. */
  end(): void {
    if (this.#length > 0) this.#give()
  }

  /** Adds bytes to the line that has not ended. Returns whether the line is within its bound. */
  #hold(piece: Uint8Array): boolean {
    const length = this.#length + piece.length
    if (length > this.#bounds.maxLine) return false
    // Mutant `length >= this.#held.length` survives: only room that no byte needs yet
    if (length > this.#held.length) {
      const held = new Uint8Array(Math.max(length, 2 * this.#held.length))
      held.set(this.#held.subarray(0, this.#length))
      this.#held = held
    }
    this.#held.set(piece, this.#length)
    this.#length = length
    return true
  }

  #give(): void {
    const line = this.#length === 0 ? "" : this.#decoder.decode(this.#held.subarray(0, this.#length))
    this.#length = 0
    this.#lines++
    this.#take(line)
  }
}
