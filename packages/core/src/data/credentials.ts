/** Places of foreign texts in which a credential stands: headers, user info of URLs, parameters, fields of JSON. */
import { alphabetOf, alphabets, isIn, isLetterOrDigit, isStart, type Range, type Runs } from "./keyFormats.ts"

const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join("")

const without = (characters: string) =>
  alphabetOf([...printable].filter((character) => !characters.includes(character)).join(""))

/** The characters of a name. */
const names = alphabets.dotted
/** A value in a header, up to a blank or a mark. */
const headerValue = without("\"'<>,;`\\{}")
const cookieValue = without("\"'<>`\\")
const parameterValue = without("\"'<>`\\&#;,()[]{}")
/** The characters of user info in a URL, with those of a password that is not escaped. */
const userInfo = without("\"'<>/@:?#`\\")
const unescaped = without("\"'<>`\\")
const credential = alphabetOf(`${printable.replaceAll(/[^\w.~+/=-]/g, "")}`)

/** Finds the credentials in a text. `isCut` says that the text was cut, so an unclosed credential at its end may be complete. */
export const credentialsIn = (runs: Runs, isCut: boolean): ReadonlyArray<Range> => {
  const { text } = runs
  const found: Array<Range> = []
  let behind = 0
  const add = (range: Range | undefined): void => {
    if (range === undefined || range[1] <= range[0]) return
    found.push(range)
    behind = Math.max(behind, range[1])
  }
  // Mutant `at <= text.length` survives: no character is behind the last one
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (at < behind) continue
    if (code === 58 || code === 61)
      add(code === 58 && text.startsWith("//", at + 1) ? userInfoAt(runs, at, isCut) : namedAt(runs, at))
    // Mutant `true` survives: speed only
    else if (code === 66 || code === 98) add(schemeAt(runs, at))
  }
  return found
}

/** Finds a scheme and a credential outside of a header, if the credential cannot be a word. */
const schemeAt = (runs: Runs, at: number): Range | undefined => {
  const { text } = runs
  if (!isStart(text, at)) return undefined
  const scheme = text.slice(at, at + 7).toLowerCase()
  const from = scheme.startsWith("bearer ") ? at + 7 : scheme.startsWith("basic ") ? at + 6 : -1
  // Mutant `false` survives: what begins before the text is no credential
  if (from < 0) return undefined
  const to = runs.end(credential, from)
  const value = text.slice(from, to)
  const isCredential = from === at + 6 ? isBasic(value) : value.length >= 16 && isMixed(value)
  return isCredential ? [from, to] : undefined
}

/** Whether a text is the base64 of `user:password`. */
const isBasic = (value: string): boolean => {
  if (value.length < 8) return false
  try {
    const pair = atob(value.replace(/\.$/, ""))
    return pair.includes(":") && /^[\x20-\x7e]*$/.test(pair)
  } catch {
    return false
  }
}

/** Whether a text mixes letters and digits as no ordinary word does. */
const isMixed = (value: string): boolean => /\d/.test(value.slice(0, 64)) && /[a-zA-Z]/.test(value.slice(0, 64))

const headers = /^(?:(?:proxy-)?authorization|(?:x-)?(?:[a-z]{1,10}-)?api-key|x-auth-token|(?:set-)?cookie)$/

/** Names of URL parameters whose values are always, or sometimes, credentials. */
const strictParameter =
  /^(?:api[-_]?key|(?:access|auth|refresh|id|session|security|x-amz-security)[-_]?token|(?:client[-_]?)?secret|passw(?:or)?d|pwd|sig|(?:x-(?:amz|goog)-)?signature|x-(?:amz|goog)-credential|(?:secret|private|subscription)[-_]?key)$/
const looseParameter = /^(?:key|token|auth|session(?:id)?|sid|credentials?|code)$/

/** Names of settings whose values are credentials; in prose these words may precede other values. */
const assigned =
  /^(?:(?:[a-z\d]{1,20}[-_]){0,3}(?:api[-_]?key|client[-_]?secret|passw(?:or)?d|secret[-_]?(?:access[-_]?)?key)|(?:access|auth|refresh)[-_]?token|passphrase|pwd)$/

/** Names of settings whose values are credentials only if they are as long as a key: a page has a `token` too. */
const assignedKey = /^(?:(?:[a-z\d]{1,20}[-_]){0,3}token|signature)$/
const keyLength = 12

/** Names of JSON fields whose values are credentials. */
const secretField =
  /^(?:api[-_]?key|(?:access|auth|refresh|id)[-_]?token|(?:client[-_]?)?secret|passw(?:or)?d|pwd|(?:secret|private|account|secret[-_]?access)[-_]?key|authorization)$/

/** Finds the credential of `name: value` or `name=value`; `at` is the index of the sign. */
const namedAt = (runs: Runs, at: number): Range | undefined => {
  const { text } = runs
  const isColon = text.charCodeAt(at) === 58
  const quote = quoteBefore(text, at)
  let from = at - quote.length
  while (isIn(names, text.charCodeAt(from - 1))) from--
  // the letter belongs to an escape, of a line feed for example
  if (text[from - 1] === "\\" && /[bfnrt]/.test(text[from] ?? "")) from++
  const name = text.slice(from, at - quote.length).toLowerCase()
  if (name === "" || (name === "pwd" && isPath(text, at + 1))) return undefined
  if (headers.test(name)) {
    const found = headerAt(runs, at + 1, name)
    if (found !== undefined) return found
  }
  if (isColon && quote !== "") {
    const field = secretField.test(name) || name === "token" ? fieldAt(text, at + 1, quote) : undefined
    return field !== undefined && name === "token" && !isKey(text.slice(...field)) ? undefined : field
  }
  const parameter = parameterAt(text, from, name)
  if (!isColon && parameter !== undefined) {
    const to = runs.end(parameterValue, at + 1)
    if (strictParameter.test(parameter)) return [at + 1, to]
    return looseParameter.test(parameter) && to - at > 8 && isMixed(text.slice(at + 1, to)) ? [at + 1, to] : undefined
  }
  const value = assigned.test(name) || (!isColon && assignedKey.test(name)) ? assignedAt(runs, at + 1) : undefined
  return value !== undefined && (assigned.test(name) || isKey(text.slice(...value))) ? value : undefined
}

const isKey = (value: string): boolean => value.length >= keyLength && isMixed(value)

/** Whether the value is a path: `pwd` is a folder as often as a password. */
const isPath = (text: string, at: number): boolean => /^ ?["']?(?:[/~]|[a-z]:[\\/])/i.test(text.slice(at, at + 6))

/** Whether a value only names a secret, as in a template or a program. */
const isReference = (value: string): boolean =>
  /^(?:\$[{(]|\{\{|<)/.test(value) ||
  (value.length <= 80 &&
    /^[a-z_$][\w$]*\.[\w$.]*$/i.test(value) &&
    /(?:key|token|secret|passw|pwd)\w{0,12}$/i.test(value))

/** The name of a parameter of a URL, of a form or of a connection string; `undefined` where no other one stands before it. */
const parameterAt = (text: string, from: number, name: string): string | undefined => {
  // Mutant `/(?:26|3b|3f)/` survives: no such name has these characters behind its first one
  if (text[from - 1] === "%" && /^(?:26|3b|3f)/.test(name)) return name.slice(2)
  // Mutant `"Stryker was here!"` survives: it has none of these characters
  return /[?&;]/.test(text[from - 1] ?? "") ? name : undefined
}

/** Finds the value that a setting or a log line assigns, if it cannot be a word. */
const assignedAt = (runs: Runs, at: number): Range | undefined => {
  const { text } = runs
  const from = at + (/^ ?["']?/.exec(text.slice(at, at + 2))?.[0].length ?? 0)
  const to = runs.end(parameterValue, from)
  const value = text.slice(from, to)
  return to - from >= 6 && isMixed(value) && !isReference(value) ? [from, to] : undefined
}

/** The quote before `at`, with the backslash of JSON within JSON. */
const quoteBefore = (text: string, at: number): string =>
  // Mutants `Math.min(0, at - 2)`, `/\\?["']/` survive: speed only, and no name has one letter
  /\\?["']$/.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? ""

/** Finds the credential in a header value, after its scheme if it has one. The value of an API key has none. */
const headerAt = (runs: Runs, at: number, name: string): Range | undefined => {
  const { text } = runs
  const from = at + (/^[ \t\\"'[]{0,5}/.exec(text.slice(at, at + 5))?.[0].length ?? 0)
  if (name.endsWith("cookie")) return [from, cookiesEnd(runs, from)]
  const to = runs.end(headerValue, from)
  const value = text.slice(from, to)
  const next = to + 1
  if (!name.endsWith("key") && /^[a-z][a-z\d-]{1,20}$/i.test(value) && text[to] === " ") {
    const end = runs.end(headerValue, next)
    const last = text.slice(next, end)
    return isPlaceholder(last) || (isWord(last) && text[end] === " ") ? undefined : [next, end]
  }
  return value.length >= 8 && isMixed(value) ? [from, to] : undefined
}

const isWord = (value: string): boolean => /^[a-z]{0,30}[.:)]?$/i.test(value)

const isPlaceholder = (value: string): boolean =>
  value.length < 6 || /^[$%]/.test(value) || /^(?:tokens?|auth\w{0,12}|required|credentials?|header)\W?$/i.test(value)

/** Cookies are pairs with a semicolon and a blank between them. */
const cookiesEnd = (runs: Runs, from: number): number => {
  const { text } = runs
  const to = pairsEnd(runs, from)
  return text.slice(from, Math.min(to, from + 256)).includes("=") ? to : from
}

const pairs = new WeakMap<Runs, Range>()

/** The end of the pairs that begin at `from` or before it; computed once per text. */
const pairsEnd = (runs: Runs, from: number): number => {
  const cached = pairs.get(runs)
  // Mutant `from <= cached[1]` survives: where they end, none begins
  if (cached !== undefined && cached[0] <= from && from < cached[1]) return cached[1]
  let to = runs.end(cookieValue, from)
  while (runs.text[to - 1] === ";" && runs.text[to] === " ") to = runs.end(cookieValue, to + 1)
  // Mutant `[]` survives: speed only. The end is computed once more
  pairs.set(runs, [from, to])
  return to
}

/** A JSON string up to its closing quote, unless it is a sentence or the name of a type. */
const fieldAt = (text: string, at: number, quote: string): Range | undefined => {
  const from = at + (/^[ \t]{0,2}/.exec(text.slice(at, at + 2))?.[0].length ?? 0)
  if (!text.startsWith(quote, from)) return undefined
  const start = from + quote.length
  let to = text.indexOf(quote, start)
  while (text[to - 1] === "\\") to = text.indexOf(quote, to + 1)
  const end = to < 0 ? text.length : to
  const value = text.slice(start, Math.min(end, start + 64))
  return value.length >= 6 && !/^[\w.-]*\s/.test(value) && /[^a-z]/i.test(value) && !isReference(value)
    ? [start, end]
    : undefined
}

/** The user info of a URL whose colon is at `at`: with a password, or as long as a token. */
const userInfoAt = (runs: Runs, at: number, isCut: boolean): Range | undefined => {
  const { text } = runs
  if (at === 0 || !isLetterOrDigit(text.charCodeAt(at - 1))) return undefined
  const from = at + 3
  // an address in brackets, or a path
  if (text[from] === "[" || /^file$/i.test(text.slice(Math.max(0, at - 4), at))) return undefined
  const to = runs.end(userInfo, from)
  if (text[to] === "@") {
    const user = text.slice(from, to)
    return user.length >= 12 && isMixed(user) ? [from, to] : undefined
  }
  if (text[to] !== ":" || isPort(text, to + 1)) return undefined
  const last = runs.end(unescaped, from)
  const sign = lastSign(runs, from, last)
  if (sign > to) return [from, sign]
  return isCut && last === text.length ? [from, last] : undefined
}

const isPort = (text: string, at: number): boolean => /^\d{1,5}(?:[/?#,\s]|$)/.test(text.slice(at, at + 6))

const signs = new WeakMap<Runs, { readonly to: number; readonly sign: number }>()

/** The index of the last `@` between `from` and `to`, the end of a run of characters; `from` if none is there. Searched once per run. */
const lastSign = (runs: Runs, from: number, to: number): number => {
  const cached = signs.get(runs)
  if (cached?.to === to) return cached.sign
  let sign = to - 1
  while (sign > from && runs.text[sign] !== "@") sign--
  // Mutant `{}` survives: speed only. It is searched once more
  signs.set(runs, { to, sign })
  return sign
}
