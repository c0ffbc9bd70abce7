/**
 * Formats of keys that their issuers publish: prefix, alphabet and length. The list is that of the secret scanners of GitHub and
 * GitLab and of gitleaks, reduced to formats that no ordinary text has. Where a prefix says enough by itself, a key that was cut after 20
 * characters counts as well.
 */
import {
  type Alphabet,
  type AlphabetName,
  alphabets,
  isIn,
  isLetterOrDigit,
  type Range,
  type Runs
} from "./textRuns.ts"

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

const run = (alphabet: AlphabetName, least: number, most = least): Run => ({
  alphabet: alphabets[alphabet],
  least,
  most
})

const key = (prefix: string, alphabet: AlphabetName, least: number, most = least): Pattern => ({
  parts: [prefix, run(alphabet, least, most)],
  isMixed: false
})

const parts = (...all: ReadonlyArray<string | Run>): Pattern => ({ parts: all, isMixed: false })

const mixed = (...all: ReadonlyArray<string | Run>): Pattern => ({ parts: all, isMixed: true })

const any = Infinity

const published = (): ReadonlyArray<Pattern> => [
  // models
  mixed("sk-proj-", run("base64url", 20, any)),
  mixed("sk-svcacct-", run("base64url", 20, any)),
  mixed("sk-admin-", run("base64url", 20, any)),
  mixed("sk-ant-", run("base64url", 20, any)),
  key("sk-or-v1-", "hex", 64),
  key("sk-lf-", "base64url", 36),
  mixed("sk-", run("base62", 16, any)),
  mixed("gsk_", run("base62", 20, any)),
  mixed("xai-", run("base62", 20, any)),
  mixed("pplx-", run("base62", 20, any)),
  mixed("hf_", run("base62", 20, any)),
  key("api_org_", "base62", 34),
  key("r8_", "base62", 37),
  mixed("csk-", run("base62", 20, any)),
  key("nvapi-", "base64url", 60, any),
  mixed("tvly-", run("base64url", 28, any)),
  key("tgp_v1_", "base64url", 43),
  parts("lsv2_pt_", run("hex", 32), "_", run("hex", 10)),
  parts("lsv2_sk_", run("hex", 32), "_", run("hex", 10)),
  key("pcsk_", "base64url", 50, any),
  key("e2b_", "hex", 40),
  mixed("fw_", run("base62", 22, any)),
  mixed("pa-", run("base64url", 43)),
  // sources and packages
  mixed("ghp_", run("base62", 20, any)),
  mixed("gho_", run("base62", 20, any)),
  mixed("ghu_", run("base62", 20, any)),
  mixed("ghs_", run("base62", 20, any)),
  mixed("ghr_", run("base62", 20, any)),
  mixed("github_pat_", run("base64url", 22, any)),
  mixed("glpat-", run("dotted", 20, any)),
  key("glptt-", "hex", 40),
  mixed("gldt-", run("base64url", 20, any)),
  mixed("glrt-", run("dotted", 20, any)),
  mixed("glsoat-", run("base64url", 20, any)),
  mixed("npm_", run("base62", 36)),
  key("pypi-AgEIcHlwaS5vcmc", "base64url", 50, any),
  key("rubygems_", "hex", 48),
  mixed("cio", run("base62", 32)),
  mixed("oy2", run("lower", 43)),
  mixed("dckr_pat_", run("base64url", 27, any)),
  mixed("dckr_oat_", run("base64url", 27, any)),
  key("ATATT3", "base64url", 100, any),
  mixed("ATBB", run("base62", 32, any)),
  key("bkua_", "hex", 40),
  parts("CCIPAT_", run("base62", 20, 30), "_", run("hex", 40)),
  key("sgp_", "hex", 40),
  // clouds and hosts
  mixed("AKIA", run("upper", 16)),
  mixed("ASIA", run("upper", 16)),
  mixed("ABIA", run("upper", 16)),
  mixed("ACCA", run("upper", 16)),
  key("ABSK", "base64", 100, any),
  mixed("AIza", run("base64url", 35)),
  mixed("ya29.", run("base64url", 20, any)),
  mixed("GOCSPX-", run("base64url", 28)),
  mixed("1//0", run("base64url", 40, any)),
  key("AccountKey=", "base64", 44, 88),
  key("SharedAccessKey=", "base64", 43, 88),
  key("dop_v1_", "hex", 64),
  key("doo_v1_", "hex", 64),
  key("dor_v1_", "hex", 64),
  mixed("HRKU-", run("base64url", 36, any)),
  mixed("nfp_", run("base62", 36, any)),
  key("fo1_", "base64url", 43),
  key("fm2_", "base64", 100, any),
  mixed("rnd_", run("base62", 28, any)),
  mixed("sb_secret_", run("base64url", 22, any)),
  key("sbp_", "hex", 40),
  mixed("pscale_tkn_", run("dotted", 32, any)),
  mixed("pscale_pw_", run("dotted", 32, any)),
  key("dapi", "hex", 32),
  mixed("dp.pt.", run("base62", 40, any)),
  mixed("dp.st.", run("dotted", 40, any)),
  mixed("hvs.", run("base64url", 24, any)),
  mixed("hvb.", run("base64url", 24, any)),
  key("pul-", "hex", 40),
  mixed("tskey-auth-", run("base64url", 20, any)),
  mixed("tskey-api-", run("base64url", 20, any)),
  key("AGE-SECRET-KEY-1", "upper", 58),
  // money
  mixed("sk_live_", run("base62", 16, any)),
  mixed("sk_test_", run("base62", 16, any)),
  mixed("rk_live_", run("base62", 16, any)),
  mixed("rk_test_", run("base62", 16, any)),
  mixed("whsec_", run("base64", 24, any)),
  key("shpat_", "hex", 32),
  key("shpca_", "hex", 32),
  key("shppa_", "hex", 32),
  key("shpss_", "hex", 32),
  mixed("sq0atp-", run("base64url", 22)),
  mixed("sq0csp-", run("base64url", 43)),
  mixed("duffel_live_", run("base64url", 43)),
  // messages
  mixed("xoxb-", run("base64url", 20, any)),
  mixed("xoxp-", run("base64url", 20, any)),
  mixed("xoxa-", run("base64url", 20, any)),
  mixed("xoxr-", run("base64url", 20, any)),
  mixed("xoxs-", run("base64url", 20, any)),
  mixed("xoxe-", run("base64url", 20, any)),
  mixed("xapp-1-", run("base64url", 20, any)),
  parts("hooks.slack.com/services/T", run("base62", 8, 12), "/B", run("base62", 8, 12), "/", run("base62", 24)),
  parts("SG.", run("base64url", 22), ".", run("base64url", 43)),
  key("SK", "hex", 32),
  key("key-", "hex", 32),
  mixed("xkeysib-", run("base64url", 64, any)),
  mixed("M", run("base64url", 23, 27), ".", run("base64url", 6), ".", run("base64url", 27, 38)),
  mixed("N", run("base64url", 23, 27), ".", run("base64url", 6), ".", run("base64url", 27, 38)),
  mixed("O", run("base64url", 23, 27), ".", run("base64url", 6), ".", run("base64url", 27, 38)),
  parts(run("digits", 8, 10), ":AA", run("base64url", 33)),
  // tools
  parts("glsa_", run("base62", 32), "_", run("hex", 8)),
  mixed("glc_", run("base64", 32, any)),
  mixed("sntrys_", run("base64", 60, any)),
  key("sntryu_", "hex", 64),
  mixed("NRAK-", run("upper", 27)),
  parts("dt0c01.", run("upper", 24), ".", run("upper", 64)),
  key("lin_api_", "base62", 40),
  mixed("ntn_", run("base62", 46)),
  key("secret_", "base62", 43),
  mixed("figd_", run("base64url", 40, any)),
  parts("pat", run("base62", 14), ".", run("hex", 64)),
  parts("PMAK-", run("hex", 24), "-", run("hex", 34)),
  mixed("EAA", run("base62", 90, any)),
  // tokens that say what they are
  parts("eyJ", run("base64url", 8, any), ".", run("dotted", 8, any))
]

/** The patterns by the code of their first character. */
type Starts = ReadonlyArray<ReadonlyArray<Pattern>>

const startsOf = (patterns: ReadonlyArray<Pattern>): Starts => {
  const starts = Array.from({ length: 128 }, () => new Array<Pattern>())
  for (const pattern of patterns) {
    const [first] = pattern.parts
    if (typeof first === "string") starts[first.charCodeAt(0)]?.push(pattern)
    else if (first !== undefined) starts.forEach((those, code) => isIn(first.alphabet, code) && those.push(pattern))
  }
  return starts
}

let added: ReadonlyArray<Pattern> = []
let known: Starts | undefined

/** Adds a format; the function that comes back takes it out again. */
export const add = ({ alphabet, length, prefix }: KeyFormat): (() => void) => {
  const [least, most] = typeof length === "number" ? [length, length] : length
  const pattern = key(prefix, alphabet, least, most)
  added = [...added, pattern]
  known = undefined
  return () => {
    added = added.filter((one) => one !== pattern)
    known = undefined
  }
}

/** The keys in a text. `ends` are the ends of places that are replaced anyway: a key may begin there. */
export const keysIn = (runs: Runs, ends: ReadonlySet<number>): ReadonlyArray<Range> => {
  const starts = (known ??= startsOf([...published(), ...added]))
  const { text } = runs
  const found = blocksIn(text)
  for (let at = 0; at < text.length; at++) {
    const patterns = starts[text.charCodeAt(at)]
    if (patterns === undefined || patterns.length === 0 || !(isStart(text, at) || ends.has(at))) continue
    const end = Math.max(...patterns.map((pattern) => endOf(runs, pattern, at)))
    if (end < 0) continue
    found.push([at, end])
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

/** Whether a word begins: also behind an escape of JSON (`\n`) or of a URL (`%3D`). */
const isStart = (text: string, at: number): boolean =>
  at === 0 || !isLetterOrDigit(text.charCodeAt(at - 1)) || escape.test(text.slice(Math.max(0, at - 6), at))

const escape = /(?:\\[bfnrt]|\\u[\da-f]{4}|%[\da-f]{2})$/i

const begin = "-----BEGIN "
const end = "-----END "

/** Private keys as PEM. One without an end goes to the end of the text. */
const blocksIn = (text: string): Array<Range> => {
  const found: Array<Range> = []
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
    const label = text.slice(at + begin.length, at + begin.length + 40)
    if (!/^[A-Z\d ]{0,24}PRIVATE KEY/.test(label)) continue
    const ending = text.indexOf(end, at)
    const closed = ending < 0 ? -1 : text.indexOf("-----", ending + end.length)
    const to = closed < 0 ? text.length : closed + 5
    found.push([at, to])
    at = to - 1
  }
  return found
}
