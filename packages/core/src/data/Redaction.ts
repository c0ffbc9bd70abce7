/**
 * Redacts secrets in texts. It finds the known values of a `Redacted`, keys in the exact formats of their issuers, and in foreign texts
 * also credentials in their syntactic places. Ordinary words and identifiers stay. The time is linear in the length of a text.
 *
 * Errors, events, spans, logs, snapshots, recordings, pages and texts for models all use this module.
 */
import * as Redacted from "effect/Redacted"
import { credentialsIn } from "./credentials.ts"
import { add, keysIn, merged, type Range, Runs } from "./keyFormats.ts"
import { kindsIn, SecretIndex } from "./secretIndex.ts"

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

/** Whether a value is long and varied enough to be no ordinary word: 12 characters of three kinds, or 20 of any kind. */
const isTelling = (value: string): boolean => value.length >= 20 || (value.length >= 12 && kindsIn(value) >= 3)

/** The scheme before a credential is a word. */
const withoutScheme = (secret: string): string => secret.trim().replace(/^[A-Za-z]{1,20} +(?=\S{1,4096}$)/, "")

/** The forms of a value, none for one that is too short or too plain. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const value = withoutScheme(secret)
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
