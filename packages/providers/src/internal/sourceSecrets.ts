/** The forms in which a secret may come back, and a search for all of them. */

/** Below this length a "secret" would blacken ordinary words. */
const shortest = 4

/** A piece of this length is masked wherever it stands: what quotes a secret may have cut it. */
const pieceLength = 8

const mark = "<redacted>"

/** Masks every secret in a text, and every piece of 8 characters or more of one, unless it is a word of small letters. */
export type Mask = (text: string) => string

export const mask = (secrets: ReadonlyArray<string>): Mask => {
  const forms = [...new Set(secrets.filter((secret) => secret.length >= shortest).flatMap(formsOf))]
  if (forms.length === 0) return (text) => text
  const whole = new RegExp(
    forms
      .toSorted((one, other) => other.length - one.length)
      .map(literally)
      .join("|"),
    "g"
  )
  const pieces = new Set(forms.flatMap(piecesOf))
  return (text) => withoutPieces(text.replaceAll(whole, mark), pieces)
}

const formsOf = (secret: string): ReadonlyArray<string> =>
  [secret, inJson(secret), inJson(inJson(secret)), inUrl(secret), inForm(secret), ...inBase64(secret)].filter(
    (form) => form.length >= shortest
  )

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
    // shorter ones are found by chance
    return inner.length < pieceLength ? [] : [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
  })

const piecesOf = (form: string): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, form.length - pieceLength + 1) }, (_, at) =>
    form.slice(at, at + pieceLength)
  ).filter((piece) => !/^[a-z]+$/.test(piece))

const withoutPieces = (text: string, pieces: ReadonlySet<string>): string => {
  if (pieces.size === 0) return text
  let kept = ""
  let from = 0
  for (let at = 0; at + pieceLength <= text.length; at++) {
    if (!pieces.has(text.slice(at, at + pieceLength))) continue
    let end = at + pieceLength
    while (end < text.length && pieces.has(text.slice(end - pieceLength + 1, end + 1))) end++
    kept += text.slice(from, at) + mark
    from = end
    at = end - 1
  }
  return kept + text.slice(from)
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
