/** Finds known values in texts, also pieces of them and values whose characters are escapes. */
import { unescaped } from "./escapes.ts"
import { merged, type Range } from "./keyFormats.ts"

/** The length of the indexed pieces of a secret: a text may quote a part of it. */
const pieceLength = 8

/** The least length of a match that consists of plain pieces only. */
const longStretch = 16

const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/]

/** How many kinds of characters a text has: small letters, capitals, digits and others. */
export const kindsIn = (text: string): number => kinds.filter((kind) => kind.test(text)).length

/** Whether a piece is unlikely in ordinary text: it has letters and digits, or characters of three kinds. */
const isStrong = (piece: string): boolean => (/\d/.test(piece) && /[a-zA-Z]/.test(piece)) || kindsIn(piece) >= 3

interface Piece {
  count: number
  readonly isStrong: boolean
  /** The forms that begin with this piece. */
  readonly forms: Array<string>
}

/** Finds the forms that were added, and their pieces, in one pass over a text. */
export class SecretIndex {
  readonly #pieces = new Map<string, Piece>()

  add(forms: ReadonlyArray<string>): void {
    for (const form of forms) {
      for (const piece of piecesOf(form)) {
        // Mutant `["Stryker was here"]` survives: only a secret with these words begins with them
        const entry = this.#pieces.get(piece) ?? { count: 0, isStrong: isStrong(piece), forms: [] }
        entry.count++
        this.#pieces.set(piece, entry)
      }
      this.#pieces.get(form.slice(0, pieceLength))?.forms.push(form)
    }
  }

  /** Removes forms that were added, each once. */
  remove(forms: ReadonlyArray<string>): void {
    for (const form of forms) {
      const first = this.#pieces.get(form.slice(0, pieceLength))
      // Mutant `first.forms` survives: a form that was added has its pieces
      first?.forms.splice(first.forms.indexOf(form), 1)
      for (const piece of piecesOf(form)) {
        const entry = this.#pieces.get(piece)
        if (entry !== undefined && --entry.count === 0) this.#pieces.delete(piece)
      }
    }
  }

  /** Ranges of the text that match, also where its characters are escapes. */
  in(text: string): ReadonlyArray<Range> {
    if (this.#pieces.size === 0) return []
    const found = this.#matches(text)
    const plain = unescaped(text)
    if (plain === undefined) return found
    const within = merged(this.#matches(plain.text))
    return [...found, ...within.map(([from, to]): Range => [plain.original(from), plain.original(to)])]
  }

  /** Ranges of indexed pieces that contain a strong piece or a whole form, or are too long for a match by chance. */
  #matches(text: string): ReadonlyArray<Range> {
    const found: Array<Range> = []
    let from = 0
    let length = 0
    let isCertain = false
    for (let at = 0; at + pieceLength <= text.length; at++) {
      const piece = this.#pieces.get(text.slice(at, at + pieceLength))
      if (piece === undefined) {
        if (isCertain || length >= longStretch) found.push([from, from + length])
        length = 0
        isCertain = false
        continue
      }
      if (length === 0) from = at
      length = at + pieceLength - from
      isCertain ||= piece.isStrong || piece.forms.some((form) => text.startsWith(form, at))
    }
    if (isCertain || length >= longStretch) found.push([from, from + length])
    return found
  }
}

const piecesOf = (form: string): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, form.length - pieceLength + 1) }, (_, at) => form.slice(at, at + pieceLength))
