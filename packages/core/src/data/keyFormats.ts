/**
 * Formats of keys that their issuers publish: prefix, alphabet and length. The list is that of the secret scanners of GitHub and
 * GitLab and of gitleaks, reduced to formats that no ordinary text has. Where a prefix says enough by itself, a key that was cut after 20
 * characters counts as well.
 *
 * They are runs of characters in a text, as are other places in it that are replaced. Each character is looked at once per alphabet.
 */
/** A range of a text: from its first character to the one after its last. */
export type Range = readonly [from: number, to: number]

/** The ASCII characters of an alphabet, as 1 at their codes. */
type Alphabet = Uint8Array

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

type AlphabetName = keyof typeof alphabets

export const isIn = (alphabet: Alphabet, code: number): boolean => alphabet[code] === 1

export const isLetterOrDigit = (code: number): boolean => isIn(alphabets.base62, code)

/** Whether a word begins: also behind an escape of JSON (`\\n`, `\\u0000`), of a mail or a URL (`=3D`, `%3D`), or of a terminal. */
export const isStart = (text: string, at: number): boolean =>
  !isLetterOrDigit(text.charCodeAt(at - 1)) || escape.test(text.slice(Math.max(0, at - 14), at))

const escape = /(?:\\[bfnrt]|\\u[\da-f]{4}|\\x[\da-f]{2}|[=%][\da-f]{2}|\[\d[\d;]{0,10}m)$/i

/** The ends of the character runs in one text. */
export class Runs {
  readonly text: string
  readonly #last = new Map<Alphabet, Range>()

  constructor(text: string) {
    this.text = text
  }

  /** The end of the run of characters of an alphabet that covers `from`. */
  end(alphabet: Alphabet, from: number): number {
    const cached = this.#last.get(alphabet)
    // Mutants `false`, `cached[0] > from`, `from < cached[1]` survive: speed only. The end is computed once more
    if (cached !== undefined && cached[0] <= from && from <= cached[1]) return cached[1]
    let to = from
    while (isIn(alphabet, this.text.charCodeAt(to))) to++
    // Mutant `[]` survives: speed only. The end is computed once more
    this.#last.set(alphabet, [from, to])
    return to
  }
}

/** Sorts ranges, and joins those that touch or overlap. */
export const merged = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const all: Array<Range> = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], to)]
    else all.push([from, to])
  }
  return all
}

/** A format of keys: `prefix` and then `length` characters of an alphabet, exactly as many or between two bounds. */
export interface KeyFormat {
  readonly prefix: string
  readonly alphabet: AlphabetName
  readonly length: number | readonly [least: number, most: number]
}

interface Run {
  readonly alphabet: Alphabet
  readonly least: number
  readonly most: number
}

/** Literal text and runs in their order. `isMixed`: a digit has to be among the first 64 characters. */
interface Pattern {
  readonly parts: ReadonlyArray<string | Run>
  readonly isMixed: boolean
}

/**
 * The table of formats: the part after the prefix, and the prefixes. A run of characters stands in braces: an alphabet and a length. After
 * `!` a digit has to be among the first 64 characters.
 */
const published: Readonly<Record<string, string>> = {
  "{base64url 20+}!":
    "sk-proj- sk-svcacct- sk-admin- sk-ant- ya29. tskey-auth- tskey-api- xoxb- xoxp- xoxa- xoxc- xoxd- xoxr- xoxs- xoxe- xapp-1-",
  "{hex 64}": "sk-or-v1- dop_v1_ doo_v1_ dor_v1_ sntryu_",
  "{base64url 36}": "sk-lf-",
  "{base62 16+}": "sk_live_ sk_test_ rk_live_ rk_test_",
  "{base62 17+}!": "sk-",
  "{base62 20+}!": "gsk_ xai- pplx- csk- LTAI",
  "{base62 20+}": "ghp_ gho_ ghu_ ghs_ ghr_",
  "{base62 32+}!": "hf_ ATBB",
  "{base62 34}": "api_org_",
  "{base62 37}": "r8_",
  "{base64url 60+}": "nvapi-",
  "{base64url 28+}!": "tvly-",
  "{base64url 43}": "tgp_v1_ fo1_ sq0csp- duffel_live_",
  "{hex 32}_{hex 10}": "lsv2_pt_ lsv2_sk_",
  "{base64url 50+}": "pcsk_ pypi-AgEIcHlwaS5vcmc",
  "{hex 40}": "shippo_live_ e2b_ glptt- bkua_ sgp_ sbp_ pul-",
  "{base62 22+}!": "fw_",
  "{base64url 43}!": "pa-",
  "{base64url 22+}!": "github_pat_ sb_secret_",
  "{dotted 20+}": "glpat- glrt-",
  "{base64url 20+}": "gldt- glsoat- glft- glcbt- glimt- glagent- gloas- glffct- GR1348941",
  "{base62 36}!": "npm_",
  "{hex 48}": "rubygems_ sk_",
  "{base62 32}!": "cio",
  "{lower 43}!": "oy2",
  "{base64url 27+}!": "dckr_pat_ dckr_oat_",
  "{base64url 100+}": "ATATT3 ATCTT3 ops_eyJ",
  "{base62 20-30}_{hex 40}": "CCIPAT_",
  "{upper 16}": "AKIA ASIA ABIA ACCA",
  "{base64 100+}": "ABSK fm2_",
  "{base64url 35}!": "AIza",
  "{base64url 28}!": "GOCSPX-",
  "{base64url 40+}!": "1//0 figd_",
  "{base64 44-88}": "AccountKey=",
  "{base64 43-88}": "SharedAccessKey=",
  "{base64url 36+}!": "HRKU-",
  "{base62 36+}!": "nfp_",
  "{base62 28+}": "rnd_",
  "{dotted 32+}!": "pscale_tkn_ pscale_pw_",
  "{hex 32}": "dapi shpat_ shpca_ shppa_ shpss_ SK key- fc-",
  "{base62 40+}!": "dp.pt.",
  "{dotted 40+}!": "dp.st.",
  "{base64url 24+}!": "hvs. hvb.",
  "{upper 58}": "AGE-SECRET-KEY-1",
  "{base64 24+}!": "whsec_",
  "{base64url 22}": "sq0atp-",
  "{base62 8-12}/B{base62 8-12}/{base62 24}": "hooks.slack.com/services/T",
  "{base62 8-12}/A{base62 8-12}/{digits 15-20}/{base62 20-28}": "hooks.slack.com/workflows/T",
  "{digits 17-20}/{base64url 60-72}": "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
  "{base64url 22}.{base64url 43}": "SG.",
  "{base64url 64+}!": "xkeysib- xsmtpsib-",
  "{base64url 22-26}.{base64url 6}.{base64url 27-38}!": "MD MT Mj Mz ND NT Nj Nz OD OT",
  "{digits 8-10}:AA{base64url 33}": "",
  "{base62 32}_{hex 8}": "glsa_",
  "{base64 32+}!": "glc_",
  "{base64 60+}_{base64 43}": "sntrys_",
  "{base64 60+}!": "sntrys_",
  "{base62 16}_{hex 40}": "sgp_",
  "{base62 8}_{base62 24}": "re_",
  "{base62 16}_{base62 20+}": "vercel_blob_rw_",
  "{upper 27}!": "NRAK-",
  "{upper 24}.{upper 64}": "dt0c01.",
  "{base62 40}": "lin_api_",
  "{base62 46}!": "ntn_",
  "{base62 43}": "secret_ phx_",
  "{base62 14}.{hex 64}": "pat",
  "{hex 24}-{hex 34}": "PMAK-",
  "{base62 90+}!": "EAA",
  "{base64url 8+}.{dotted 8+}": "eyJ"
}

/** `{hex 32}`, `{hex 8-12}`, or `{hex 20+}` for 20 and more. */
const runOf = (written: string): Run => {
  // one of the table's names
  const [alphabet, length = ""] = written.split(" ") as [AlphabetName, string]
  const [least, most = least] = length.replace("+", "-Infinity").split("-")
  return { alphabet: alphabets[alphabet], least: Number(least), most: Number(most) }
}

const patternsOf = ([following, prefixes]: readonly [string, string]): ReadonlyArray<Pattern> => {
  const parts = following.replace("!", "").split(/[{}]/)
  const rest = parts.map((part, index) => (index % 2 === 0 ? part : runOf(part))).filter((part) => part !== "")
  return prefixes.split(" ").map((prefix) => ({
    parts: prefix === "" ? rest : [prefix, ...rest],
    isMixed: following.endsWith("!")
  }))
}

/** The patterns by the code of their first character. */
type Starts = ReadonlyArray<ReadonlyArray<Pattern>>

const startsOf = (patterns: ReadonlyArray<Pattern>): Starts => {
  const starts = Array.from({ length: 128 }, () => new Array<Pattern>())
  for (const pattern of patterns) {
    const [first] = pattern.parts
    if (typeof first === "string") starts[first.charCodeAt(0)]?.push(pattern)
    // Mutant `isIn(first.alphabet, code) || those.push(pattern)` survives: speed only. More characters are tried
    else if (first !== undefined) starts.forEach((those, code) => isIn(first.alphabet, code) && those.push(pattern))
  }
  return starts
}

let added: ReadonlyArray<Pattern> = []
let startsOfAll: Starts | undefined

/** Adds a format of keys. The function that it returns removes the format. */
export const add = ({ alphabet, length, prefix }: KeyFormat): (() => void) => {
  const [least, most] = typeof length === "number" ? [length, length] : length
  const pattern = { parts: [prefix, { alphabet: alphabets[alphabet], least, most }], isMixed: false }
  added = [...added, pattern]
  startsOfAll = undefined
  return () => {
    added = added.filter((one) => one !== pattern)
    startsOfAll = undefined
  }
}

/** The keys in a text. `ends` are the ends of places that are replaced anyway: a key may begin there. */
export const keysIn = (runs: Runs, ends: ReadonlySet<number>): ReadonlyArray<Range> => {
  const starts = (startsOfAll ??= startsOf([...Object.entries(published).flatMap(patternsOf), ...added]))
  const { text } = runs
  const found = blocksIn(text)
  // a replaced range ends a word
  let behind = -1
  for (let at = 0; at < text.length; at++) {
    const patterns = starts[text.charCodeAt(at)]
    if (patterns === undefined || patterns.length === 0 || !(isStart(text, at) || ends.has(at) || at === behind))
      continue
    const end = Math.max(...patterns.map((pattern) => endOf(runs, pattern, at)))
    if (end < 0) continue
    found.push([at, end])
    behind = end
    at = end - 1
  }
  return found
}

/** Where a key that begins at `from` ends; -1 if none begins there. */
const endOf = (runs: Runs, { isMixed, parts }: Pattern, from: number): number => {
  const { text } = runs
  let at = from
  let inner = from
  let rest = parts.length
  for (const part of parts) {
    rest--
    if (typeof part === "string") {
      if (!text.startsWith(part, at)) return -1
      at += part.length
      if (rest === parts.length - 1) inner = at
      continue
    }
    const length = runs.end(part.alphabet, at) - at
    if (length < part.least || (rest === 0 && length > part.most)) return -1
    at += Math.min(length, part.most)
  }
  return !isMixed || /\d/.test(text.slice(inner, Math.min(at, inner + 64))) ? at : -1
}

const begin = "-----BEGIN "
const end = "-----END "

/** Whether a PEM label begins a key: base64, a header or the end of the text follows. A sentence may also mention the label. */
const isOpened =
  /^[A-Z\d ]{0,36}(?:-{0,5}|-----(?:\s|\\[nr]){1,8}(?:[A-Za-z\d+/=]{0,15}|[A-Za-z\d+/=]{16}[^]*|[A-Z][\w-]{0,20}:[^]*))$/

/** Private keys as PEM. One without an end goes to the end of the text. */
const blocksIn = (text: string): Array<Range> => {
  const found: Array<Range> = []
  // each end is looked for once
  let closed = 0
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
    const rest = text.slice(at + begin.length, at + begin.length + 120)
    if (!/^[A-Z\d ]{0,24}PRIVATE KEY/.test(rest)) continue
    // Mutant `true` survives: speed only. The end is searched once more
    if (closed <= at) closed = endFrom(text, at)
    if (closed === Infinity && !isOpened.test(rest)) continue
    const to = Math.min(closed, text.length)
    found.push([at, to])
    at = to - 1
  }
  return found
}

/** Where the block ends that is open at `at`; `Infinity` if none of the text does. */
const endFrom = (text: string, at: number): number => {
  const ending = text.indexOf(end, at)
  const closed = ending < 0 ? -1 : text.indexOf("-----", ending + end.length)
  return closed < 0 ? Infinity : closed + 5
}
