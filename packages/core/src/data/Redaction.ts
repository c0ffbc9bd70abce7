/**
 * Takes secrets out of texts, by evidence: the known value of a `Redacted`, a key in the exact format of its issuer, and in foreign texts
 * also a credential in its syntactic place. Ordinary words and identifiers stay. The work is linear in the length of a text.
 *
 * Errors, events, spans, logs, snapshots, recordings, pages and texts for models all use this module.
 */
import * as Redacted from "effect/Redacted"
import { placesIn } from "./credentialPlaces.ts"
import { add, type KeyFormat, keysIn } from "./keyFormats.ts"
import { formsOf, KnownSecrets } from "./knownSecrets.ts"
import { merged, type Range, Runs } from "./textRuns.ts"

export {
  /**
   * Adds a format of keys to those that this process replaces, and returns a function that takes it out again.
   *
   * @example
   * ```ts
   * import * as Redaction from "@kintsugi/core/Redaction"
   *
   * Redaction.add({ prefix: "acme_", alphabet: "base62", length: 32 })
   * Redaction.own(`no access with acme_${"a1".repeat(16)}`) // => "no access with <redacted>"
   * ```
   */
  add,
  type KeyFormat
}

/** Stands in the place of a secret. */
export const mark = "<redacted>"

/** Foreign texts are cut to this many UTF-16 units unless a caller says otherwise. */
const usual = 1000

/** A secret that begins before the cut is searched this far behind it. */
const beyond = 4096

/** Replaces secrets in a text. */
export type Redactor = (text: string) => string

/**
 * A text that this program wrote, a renderer or a reason for example: known values and keys are replaced, everything else stays as it
 * is, and nothing is cut.
 */
export const own: Redactor = (text) => replaced(text, rangesIn(new Runs(text), false, false), Infinity)

/**
 * A text from elsewhere, a message of a server for example: credentials in their syntactic places are replaced too. At most `max` UTF-16
 * units and a mark where the text was cut; `Infinity` cuts nothing.
 */
export const foreign = (text: string, max = usual): string => {
  const isCut = text.length > max + beyond
  const runs = new Runs(isCut ? text.slice(0, max + beyond) : text)
  return replaced(runs.text, rangesIn(runs, true, isCut), max)
}

const rangesIn = (runs: Runs, isForeign: boolean, isCut: boolean): ReadonlyArray<Range> => {
  const places = [...values.in(runs.text), ...(isForeign ? placesIn(runs, isCut) : [])]
  return merged([...places, ...keysIn(runs, new Set(places.map(([, to]) => to)))])
}

/** The text with its mark in each range, cut at `max`, but never within a mark. */
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
  if (at < least) shown += text.slice(at, least)
  return shown.length <= max && Math.max(at, least) >= text.length ? shown : `${cut(shown, max)}…`
}

/** Never in the middle of a character. */
const cut = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")

const values = new KnownSecrets()

const held = new WeakSet<Redacted.Redacted>()

const gone = new FinalizationRegistry<ReadonlyArray<string>>((forms) => values.remove(forms))

/**
 * Makes the value of a `Redacted` known: no text of this process shows it, whole, in a piece of 8 characters, or escaped for JSON, a URL or
 * base64, as long as the `Redacted` is in memory. `parts` are the secrets in it, where they are not all of it. Values of fewer than 12
 * characters of three kinds, or 20 of any kind, are left out: ordinary words would go with them.
 */
export const know = (
  secret: Redacted.Redacted,
  parts: ReadonlyArray<string> = [String(Redacted.value(secret))]
): void => {
  if (held.has(secret)) return
  held.add(secret)
  const forms = parts.flatMap(formsOf)
  values.add(forms)
  gone.register(secret, forms)
}

/** A redactor for values that only its caller knows. */
export const of = (secrets: ReadonlyArray<string>): Redactor => {
  const known = new KnownSecrets()
  known.add([...new Set(secrets)].flatMap(formsOf))
  return (text) => replaced(text, merged(known.in(text)), Infinity)
}
