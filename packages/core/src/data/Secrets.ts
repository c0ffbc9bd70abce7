/**
 * Secrets in texts: those that are known by what they look like or are called, and those whose value is known.
 */

type Pattern = readonly [RegExp, string]

const hidden = "<redacted>"

/** Credentials that show by themselves, whatever stands around them. */
const shapes: ReadonlyArray<Pattern> = [
  [/\b(bearer)\s+(?!tokens?\b|auth)[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  [/\b(basic)\s+(?=[\w+/=]*[\d=])[\w+/=]{8,}/gi, `$1 ${hidden}`],
  [
    /\b(?:sk|pk|rk|gsk|csk|pplx|xai|hf|r8|fw|tvly|nvapi|glpat|gh[opsur]|github_pat|xox[a-z]|key(?=[-_][\w-]*\d))[-_][\w-]{8,}/gi,
    hidden
  ],
  [/\bAIza[\w-]{20,}/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z\d]{12,}/g, hidden],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, hidden],
  [/(\b[a-z][a-z\d+.-]*:\/\/)(?:[^\s/@]+|[^\s/@:"'<>]*:(?!\d+(?:\/|$))[^\s"'<>]*)@/gi, `$1${hidden}@`]
]

const names =
  "api[-_ ]?key|x-api-key|access[-_ ]?key|access[-_ ]?token|token|secret|password|passwd|pwd|signature|session|credential"

/** Credentials that show by what they are called. In prose a word after a colon is none: one with a digit may be. */
const called: ReadonlyArray<Pattern> = [
  [/((?:set-)?cookie["']?\s*:\s*["']?)[^\n"']+/gi, `$1${hidden}`],
  [/(authorization["']?\s*[:=]\s*["']?)(?:bearer|basic|token|digest|apikey|key)\s+[^\s"',;]+/gi, `$1${hidden}`],
  [/(authorization["']?\s*[:=]\s*["']?)(?!<)(?=[^\s"',;]*\d)[^\s"',;]{4,}/gi, `$1${hidden}`],
  [new RegExp(`((?:${names}|\\bkey)=["']?)[^\\s"',;&]+`, "gi"), `$1${hidden}`],
  [new RegExp(`((?:${names})["']\\s*:\\s*["'])[^"']+`, "gi"), `$1${hidden}`],
  [new RegExp(`((?:${names})\\s*:\\s*["']?)(?!<)(?=[^\\s"',;&]*\\d)[^\\s"',;&]{6,}`, "gi"), `$1${hidden}`],
  [/(\b[a-z][a-z\d+.-]*:\/\/[^\s?#"'<>]+)\?[^\s"'<>]*/gi, `$1?${hidden}`]
]

const replaced = (text: string, patterns: ReadonlyArray<Pattern>): string => {
  let masked = text
  for (const [pattern, replacement] of patterns) masked = masked.replace(pattern, replacement)
  return masked
}

/** Whether a text can hold any of it: most texts are short sentences without the least sign. */
const suspicious =
  /[-_=]\w|:\/\/|AIza|AKIA|ASIA|eyJ|bearer|basic|cookie|authorization|key|token|secret|passw|pwd|signature|session|credential/i

/** Masks credentials that show by themselves. */
export const maskShapes = (text: string): string => (suspicious.test(text) ? replaced(text, shapes) : text)

/** Masks credentials that show by themselves or by what they are called. */
export const maskAll = (text: string): string =>
  suspicious.test(text) ? replaced(replaced(text, shapes), called) : text

/** Below this length a "secret" would blacken ordinary words. */
const shortest = 4

/** A piece of this length is masked wherever it stands: what quotes a secret may have cut it. */
const pieceLength = 8

/** Masks every secret in a text, and every piece of 8 characters or more of one, unless it is a word of small letters. */
export type Mask = (text: string) => string

/**
 * A mask for secrets whose values are known, in the forms in which they may come back: as they are, escaped for JSON or a URL, in
 * base64. Values shorter than 4 characters are left out.
 */
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
  return (text) => withoutPieces(text.replaceAll(whole, hidden), pieces)
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
    kept += text.slice(from, at) + hidden
    from = end
    at = end - 1
  }
  return kept + text.slice(from)
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
