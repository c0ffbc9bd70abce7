/** Secrets whose values are known, in the forms in which they come back: as they are, escaped for JSON or a URL, in base64. */
import type { Range } from "./textRuns.ts"

/** A piece of this length is found wherever it stands: a text that quotes a secret may have cut it. */
const pieceLength = 8

/** A stretch of plain pieces has to be as long as this. */
const longStretch = 16

const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/]

const kindsIn = (text: string): number => kinds.filter((kind) => kind.test(text)).length

/** A shorter or plainer value would be found in ordinary words: 12 characters of three kinds, or 20 of any kind. */
const isTelling = (value: string): boolean => value.length >= 20 || (value.length >= 12 && kindsIn(value) >= 3)

/** Whether no ordinary text has this piece by chance: it has letters and digits, or characters of three kinds. */
const isStrong = (piece: string): boolean => (/\d/.test(piece) && /[a-zA-Z]/.test(piece)) || kindsIn(piece) >= 3

/** The forms of a value, none for one that is too short or too plain. The scheme before a credential is a word. */
export const formsOf = (secret: string): ReadonlyArray<string> => {
  const value = secret.trim().replace(/^[A-Za-z]{1,20} +(?=\S{1,4096}$)/, "")
  return isTelling(value)
    ? [...new Set([value, inJson(value), inJson(inJson(value)), inUrl(value), inForm(value), ...inBase64(value)])]
    : []
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const inUrl = (text: string): string => encodeURIComponent(text.toWellFormed())

const inForm = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/**
 * What is the same in every text that was encoded and holds the secret: three bytes become four characters, so that there
 * are three ways to stand in it, and the characters at its ends depend on its neighbours.
 */
const inBase64 = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const bytes = [...Array.from({ length: before }, () => 0), ...new TextEncoder().encode(secret)]
    const encoded = btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""))
    const inner = encoded.slice(Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3))
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
  })

interface Piece {
  count: number
  readonly isStrong: boolean
  /** The forms that begin with this piece. */
  readonly forms: Array<string>
}

/** Finds the forms that were added, and their pieces, in one pass over a text. */
export class KnownSecrets {
  readonly #pieces = new Map<string, Piece>()

  add(forms: ReadonlyArray<string>): void {
    for (const form of forms) {
      for (const piece of piecesOf(form)) {
        const entry = this.#pieces.get(piece) ?? { count: 0, isStrong: isStrong(piece), forms: [] }
        entry.count++
        this.#pieces.set(piece, entry)
      }
      this.#pieces.get(form.slice(0, pieceLength))?.forms.push(form)
    }
  }

  remove(forms: ReadonlyArray<string>): void {
    for (const form of forms) {
      const first = this.#pieces.get(form.slice(0, pieceLength))
      const place = first?.forms.indexOf(form) ?? -1
      if (place >= 0) first?.forms.splice(place, 1)
      for (const piece of piecesOf(form)) {
        const entry = this.#pieces.get(piece)
        if (entry !== undefined && --entry.count === 0) this.#pieces.delete(piece)
      }
    }
  }

  /** Stretches of known pieces that hold a strong one or a whole form, or are longer than a few words that are in one by chance. */
  in(text: string): ReadonlyArray<Range> {
    if (this.#pieces.size === 0) return []
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
