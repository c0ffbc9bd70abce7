/**
 * Redacts secrets in texts. It finds the known values of a `Redacted`, keys in the exact formats of their issuers, and in foreign texts
 * also credentials in their syntactic places. Ordinary words and identifiers stay. The time is linear in the length of a text.
 *
 * Errors, events, spans, logs, snapshots, recordings, pages and texts for models all use this module.
 */
import * as Redacted from "effect/Redacted"
import { credentialsIn } from "./credentials.ts"
import { unescaped } from "./escapes.ts"
import { add, keysIn, merged, type Range, Runs } from "./keyFormats.ts"

export {
  /**
   * Adds a format of keys to those that this process redacts. The returned function removes it.
   *
   * @example
   * ```ts
   * import * as Redaction from "@kintsugi/core/Redaction"
   *
   * Redaction.add({ prefix: "acme_", alphabet: "base62", length: 32 })
   * Redaction.own(`no access with acme_${"a1".repeat(16)}`) // => "no access with <redacted>"
   * ```
   */
  add
}

/** The text in place of a secret. */
export const mark = "<redacted>"

/** Foreign texts are cut to this many UTF-16 units unless a caller says otherwise. */
const usual = 1000

/** How far behind the cut a secret that begins before it is searched. */
const beyond = 4096

/** Redacts a text. */
type Redactor = (text: string) => string

/** Redacts known values and keys in a program's own text. An example is the text of a renderer, or a reason. It cuts nothing. */
export const own: Redactor = (text) => replaced(text, rangesIn(new Runs(text), false, false), Infinity)

/**
 * Redacts a foreign text, such as a server's message. Credentials in their syntactic places are redacted too. The text is cut to `max`
 * UTF-16 units, 1,000 by default, and `…`; `Infinity` cuts nothing.
 */
export const foreign = (text: string, max = usual): string => {
  const isCut = text.length > max + beyond
  const runs = new Runs(isCut ? text.slice(0, max + beyond) : text)
  return replaced(runs.text, rangesIn(runs, true, isCut), max)
}

const rangesIn = (runs: Runs, isForeign: boolean, isCut: boolean): ReadonlyArray<Range> => {
  const ranges = [...values.in(runs.text), ...(isForeign ? credentialsIn(runs, isCut) : [])]
  return merged([...ranges, ...keysIn(runs, new Set(ranges.map(([, to]) => to)))])
}

/** The text with the mark in place of each range, cut at `max`, but never inside a mark. */
const replaced = (text: string, ranges: ReadonlyArray<Range>, max: number): string => {
  const least = Math.min(text.length, max)
  let shown = ""
  let at = 0
  for (const [from, to] of ranges) {
    if (from >= least) break
    shown += text.slice(at, from)
    if (shown.length + mark.length > max) return `${cut(shown, max)}…`
    shown += mark
    at = to
  }
  shown += text.slice(at, least)
  return shown.length <= max && Math.max(at, least) >= text.length ? shown : `${cut(shown, max)}…`
}

/** Never in the middle of a character. */
const cut = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")

/** The length of the indexed pieces of a secret: a text may quote a part of it. */
const pieceLength = 8

/** The least length of a match that consists of plain pieces only. */
const longStretch = 16

const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/]

/** How many kinds of characters a text has: small letters, capitals, digits and others. */
const kindsIn = (text: string): number => kinds.filter((kind) => kind.test(text)).length

/** Whether a piece is unlikely in ordinary text: it has letters and digits, or characters of three kinds. */
const isStrong = (piece: string): boolean => (/\d/.test(piece) && /[a-zA-Z]/.test(piece)) || kindsIn(piece) >= 3

/** Whether a value is long and varied enough to be no ordinary word: 12 characters of three kinds, or 20 of any kind. */
const isTelling = (value: string): boolean => value.length >= 20 || (value.length >= 12 && kindsIn(value) >= 3)

/** The scheme before a credential is a word. */
const withoutScheme = (secret: string): string => secret.trim().replace(/^[A-Za-z]{1,20} +(?=\S{1,4096}$)/, "")

/** The forms of a value, none for one that is too short or too plain. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const value = withoutScheme(secret)
  // Mutant `["Stryker was here"]` survives: only a text with these words would show it
  return isTelling(value) ? encoded(value) : []
}

/** The forms of a value that is too short or too plain for `know`. Encoded forms count only if they cannot be an ordinary word. */
const shortFormsOf = (secret: string): ReadonlyArray<string> => {
  const value = withoutScheme(secret)
  return encoded(value).filter((form) => !mark.includes(form) && (form === value || form.length >= 6))
}

const encoded = (value: string): ReadonlyArray<string> => [
  ...new Set([
    value,
    inBytes(value),
    inJson(value),
    inJson(inJson(value)),
    inUrl(value),
    inForm(value),
    ...inBase64(value),
    inHex(value),
    inHex(value).toUpperCase()
  ])
]

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const inUrl = (text: string): string => encodeURIComponent(text.toWellFormed())

const inForm = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/** The UTF-8 bytes, one character for each: so are they read from the escapes of a URL. */
const inBytes = (secret: string): string =>
  Array.from(new TextEncoder().encode(secret), (byte) => String.fromCharCode(byte)).join("")

const inHex = (secret: string): string =>
  [...new TextEncoder().encode(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * The parts of the base64 text that every encoding of the secret contains. Three bytes become four characters, so there are three
 * alignments, and the characters at both ends depend on the neighbours of the secret.
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

/**
 * Finds the forms that were added, and their pieces, in one pass over a text.
 *
 * @internal
 */
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

const values = new SecretIndex()

const held = new WeakSet<Redacted.Redacted>()

const gone = new FinalizationRegistry<ReadonlyArray<string>>((forms) => values.remove(forms))

/**
 * Registers a secret value, so that texts never show it. While the `Redacted` is in memory, this module redacts its value, pieces of 8
 * characters of it, and its forms in JSON, HTML, a URL, base64 and hex. If only parts of the value are secret, `parts` names them. A value needs
 * 12 characters of three kinds or 20 of any kind; a shorter one is ignored, because ordinary words would be redacted too.
 */
export const know = (
  secret: Redacted.Redacted,
  parts: ReadonlyArray<string> = [String(Redacted.value(secret))]
): void => {
  // Mutant `false` survives: memory only. The value is added once more, and removed as often
  if (held.has(secret)) return
  // Mutant `;` survives: memory only, as above
  held.add(secret)
  const forms = parts.flatMap(formsOf)
  values.add(forms)
  gone.register(secret, forms)
}

/**
 * Makes a function that redacts these values, without registering them. It redacts the same forms as `know`. With `short` it also redacts
 * values that are too short or too plain for `know`, wherever they occur. Use that for a text that is published, and values that are known
 * to be secrets.
 */
export const of = (secrets: ReadonlyArray<string>, { short = false }: { readonly short?: boolean } = {}): Redactor => {
  const index = new SecretIndex()
  const all = [...new Set(secrets)]
  index.add(all.flatMap(formsOf))
  // Mutant `["Stryker was here"]` survives: only a text with these words is another one
  const shortForms = short ? all.flatMap(shortFormsOf) : []
  return (text) =>
    replaced(text, merged([...index.in(text), ...shortForms.flatMap((form) => rangesOf(form, text))]), Infinity)
}

const rangesOf = (form: string, text: string): ReadonlyArray<Range> => {
  const found: Array<Range> = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
    found.push([at, at + form.length])
  return found
}
