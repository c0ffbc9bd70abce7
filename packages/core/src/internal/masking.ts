/** What looks like a credential, and how it is masked. */

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

export const maskShapes = (text: string): string => (suspicious.test(text) ? replaced(text, shapes) : text)

export const maskAll = (text: string): string =>
  suspicious.test(text) ? replaced(replaced(text, shapes), called) : text
