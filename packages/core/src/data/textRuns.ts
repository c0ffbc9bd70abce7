/** Runs of characters in a text, and the places in it that are replaced. Each character is looked at once per alphabet. */

/** From the first character of a place to the one behind it. */
export type Range = readonly [from: number, to: number]

/** The ASCII characters of an alphabet, as 1 at their codes. */
export type Alphabet = Uint8Array

export const alphabetOf = (characters: string): Alphabet => {
  const alphabet = new Uint8Array(128)
  for (const character of characters) alphabet[character.charCodeAt(0)] = 1
  return alphabet
}

const digits = "0123456789"
const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()
const word = digits + lower + upper

/** The alphabets of keys, by their usual names. `upper` has digits too, `base64` its filling `=`. */
export const alphabets = {
  digits: alphabetOf(digits),
  hex: alphabetOf(`${digits}abcdefABCDEF`),
  upper: alphabetOf(digits + upper),
  lower: alphabetOf(digits + lower),
  base62: alphabetOf(word),
  base64: alphabetOf(`${word}+/=`),
  base64url: alphabetOf(`${word}-_`),
  dotted: alphabetOf(`${word}-_.`)
}

export type AlphabetName = keyof typeof alphabets

export const isIn = (alphabet: Alphabet, code: number): boolean => alphabet[code] === 1

export const isLetterOrDigit = (code: number): boolean => isIn(alphabets.base62, code)

/** Whether a word begins: also behind an escape of JSON (`\\n`, `\\u0000`), of a mail or a URL (`=3D`, `%3D`), or of a terminal. */
export const isStart = (text: string, at: number): boolean =>
  at === 0 || !isLetterOrDigit(text.charCodeAt(at - 1)) || escape.test(text.slice(Math.max(0, at - 14), at))

const escape = /(?:\\[bfnrt]|\\u[\da-f]{4}|\\x[\da-f]{2}|[=%][\da-f]{2}|\[\d[\d;]{0,10}m)$/i

/** Where runs end in one text. */
export class Runs {
  readonly text: string
  readonly #last = new Map<Alphabet, Range>()

  constructor(text: string) {
    this.text = text
  }

  /** The end of the run of an alphabet that begins at `from`, or has begun before it. */
  end(alphabet: Alphabet, from: number): number {
    const known = this.#last.get(alphabet)
    if (known !== undefined && known[0] <= from && from <= known[1]) return known[1]
    let to = from
    while (to < this.text.length && isIn(alphabet, this.text.charCodeAt(to))) to++
    this.#last.set(alphabet, [from, to])
    return to
  }
}

/** Ranges in the order of their beginnings, those that touch or overlap as one. */
export const merged = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const all: Array<Range> = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], to)]
    else all.push([from, to])
  }
  return all
}
