/** Which characters of a text are a published key: prefix, alphabet and length, exactly. */
import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { Redacted } from "effect"
import { charactersOf, publishedKeys } from "./_support/publishedKeys.ts"
import { uniqueSecret } from "./_support/uniqueSecret.ts"

/** In a text of the program, the key between `«` and `»` is redacted, and nothing else. */
const reads = (written: string): void => {
  const text = written.replaceAll(/[«»]/g, "")
  assert.strictEqual(Redaction.own(text), written.replaceAll(/«[^»]*»/g, Redaction.mark), text)
}

type Alphabet = Parameters<typeof charactersOf>[0]

/** Prefixes, and the characters behind them: at least so many, and at most so many. `digit`: one of them is a digit. */
const formats: ReadonlyArray<
  readonly [prefixes: string, alphabet: Alphabet, least: number, most: number, has?: "digit"]
> = [
  ["sk-proj- sk-svcacct- sk-admin- sk-ant- ya29. tskey-auth- tskey-api-", "base64url", 20, Infinity, "digit"],
  ["xoxb- xoxp- xoxa- xoxc- xoxd- xoxr- xoxs- xoxe- xapp-1-", "base64url", 20, Infinity, "digit"],
  ["sk-or-v1- dop_v1_ doo_v1_ dor_v1_ sntryu_", "hex", 64, 64],
  ["sk-lf-", "base64url", 36, 36],
  ["sk_live_ sk_test_ rk_live_ rk_test_", "base62", 16, Infinity],
  ["sk-", "base62", 17, Infinity, "digit"],
  ["gsk_ xai- pplx- csk- LTAI", "base62", 20, Infinity, "digit"],
  ["ghp_ gho_ ghu_ ghs_ ghr_", "base62", 20, Infinity],
  ["hf_ ATBB", "base62", 32, Infinity, "digit"],
  ["api_org_", "base62", 34, 34],
  ["r8_", "base62", 37, 37],
  ["nvapi-", "base64url", 60, Infinity],
  ["tvly-", "base64url", 28, Infinity, "digit"],
  ["tgp_v1_ fo1_ sq0csp- duffel_live_", "base64url", 43, 43],
  ["pcsk_ pypi-AgEIcHlwaS5vcmc", "base64url", 50, Infinity],
  ["shippo_live_ e2b_ glptt- bkua_ sgp_ sbp_ pul-", "hex", 40, 40],
  ["fw_", "base62", 22, Infinity, "digit"],
  ["pa-", "base64url", 43, 43, "digit"],
  ["github_pat_ sb_secret_", "base64url", 22, Infinity, "digit"],
  ["glpat- glrt-", "dotted", 20, Infinity],
  ["gldt- glsoat- glft- glcbt- glimt- glagent- gloas- glffct- GR1348941", "base64url", 20, Infinity],
  ["npm_", "base62", 36, 36, "digit"],
  ["rubygems_ sk_", "hex", 48, 48],
  ["cio", "base62", 32, 32, "digit"],
  ["oy2", "lower", 43, 43, "digit"],
  ["dckr_pat_ dckr_oat_", "base64url", 27, Infinity, "digit"],
  ["ATATT3 ATCTT3 ops_eyJ", "base64url", 100, Infinity],
  ["AKIA ASIA ABIA ACCA", "upper", 16, 16],
  ["ABSK fm2_", "base64", 100, Infinity],
  ["AIza", "base64url", 35, 35, "digit"],
  ["GOCSPX-", "base64url", 28, 28, "digit"],
  ["1//0 figd_", "base64url", 40, Infinity, "digit"],
  ["AccountKey=", "base64", 44, 88],
  ["SharedAccessKey=", "base64", 43, 88],
  ["HRKU-", "base64url", 36, Infinity, "digit"],
  ["nfp_", "base62", 36, Infinity, "digit"],
  ["rnd_", "base62", 28, Infinity],
  ["pscale_tkn_ pscale_pw_", "dotted", 32, Infinity, "digit"],
  ["dapi shpat_ shpca_ shppa_ shpss_ SK key- fc-", "hex", 32, 32],
  ["dp.pt.", "base62", 40, Infinity, "digit"],
  ["dp.st.", "dotted", 40, Infinity, "digit"],
  ["hvs. hvb.", "base64url", 24, Infinity, "digit"],
  ["AGE-SECRET-KEY-1", "upper", 58, 58],
  ["whsec_", "base64", 24, Infinity, "digit"],
  ["sq0atp-", "base64url", 22, 22],
  ["xkeysib- xsmtpsib-", "base64url", 64, Infinity, "digit"],
  ["glc_", "base64", 32, Infinity, "digit"],
  ["sntrys_", "base64", 60, Infinity, "digit"],
  ["NRAK-", "upper", 27, 27, "digit"],
  ["lin_api_", "base62", 40, 40],
  ["ntn_", "base62", 46, 46, "digit"],
  ["secret_ phx_", "base62", 43, 43],
  ["EAA", "base62", 90, Infinity, "digit"]
]

const lettersOf: Readonly<Record<Alphabet, string>> = {
  base62: "abcdefgh",
  base64: "abc+/fgh",
  base64url: "abc-e_gh",
  dotted: "ab.d-f_h",
  hex: "abcdef",
  lower: "abcdefgh",
  upper: "ABCDEFGH",
  digits: ""
}

/** A key of several runs: each in braces, an alphabet and a length. */
const keyOf = (written: string): string =>
  written.replaceAll(/\{(\w+) (\d+)\}/g, (_, alphabet: Alphabet, length: string) =>
    charactersOf(alphabet, Number(length))
  )

const joined = [
  "lsv2_pt_{hex 32}_{hex 10}",
  "lsv2_sk_{hex 32}_{hex 10}",
  "CCIPAT_{base62 20}_{hex 40}",
  "CCIPAT_{base62 30}_{hex 40}",
  "hooks.slack.com/services/T{base62 8}/B{base62 8}/{base62 24}",
  "hooks.slack.com/services/T{base62 12}/B{base62 12}/{base62 24}",
  "hooks.slack.com/workflows/T{base62 8}/A{base62 8}/{digits 15}/{base62 20}",
  "hooks.slack.com/workflows/T{base62 12}/A{base62 12}/{digits 20}/{base62 20}",
  "discord.com/api/webhooks/{digits 17}/{base64url 60}",
  "discordapp.com/api/webhooks/{digits 20}/{base64url 60}",
  "SG.{base64url 22}.{base64url 43}",
  ..."MD MT Mj Mz ND NT Nj Nz OD OT".split(" ").map((prefix) => `${prefix}{base64url 22}.{base64url 6}.{base64url 27}`),
  "MD{base64url 26}.{base64url 6}.{base64url 27}",
  "{digits 8}:AA{base64url 33}",
  "{digits 10}:AA{base64url 33}",
  "glsa_{base62 32}_{hex 8}",
  "sgp_{base62 16}_{hex 40}",
  "re_{base62 8}_{base62 24}",
  "vercel_blob_rw_{base62 16}_{base62 20}",
  "dt0c01.{upper 24}.{upper 64}",
  "pat{base62 14}.{hex 64}",
  "PMAK-{hex 24}-{hex 34}",
  "eyJ{base64url 8}.{dotted 8}"
].map(keyOf)

describe("published formats", () => {
  for (const [prefixes, alphabet, least, most, has] of formats)
    it(`${prefixes} stand before characters of ${alphabet}, ${least} to ${most} [P1330 P1331]`, () => {
      for (const prefix of prefixes.split(" ")) {
        reads(`refused «${prefix}${charactersOf(alphabet, least)}», so`)
        if (most > least) reads(`refused «${prefix}${charactersOf(alphabet, Math.min(most, least + 40))}», so`)
        reads(`refused ${prefix}${charactersOf(alphabet, least - 1)}, so`)
        if (most < Infinity) reads(`refused ${prefix}${charactersOf(alphabet, most + 1)}, so`)
        const letters = lettersOf[alphabet].repeat(20)
        const isKey = has === undefined
        reads(`refused ${isKey ? "«" : ""}${prefix}${letters.slice(0, least)}${isKey ? "»" : ""}, so`)
      }
    })

  it("of several runs need each of them in its length [P1330 P1331]", () => {
    for (const key of joined) {
      reads(`refused «${key}», so`)
      reads(`refused x${key}, so`)
      reads(`refused ${key.slice(0, -1)}, so`)
    }
  })

  it("are redacted from the first character to the last [P1330 P1331]", () => {
    for (const [, key] of publishedKeys) reads(`refused «${key}», so`)
  })
})

describe("a key in a text", () => {
  const key = keyOf("sk_live_{base62 24}")

  it("begins where a word begins, also behind an escape [P1331]", () => {
    for (const before of [
      "",
      " ",
      "é",
      "_",
      "\\b",
      "\\n",
      "\\T",
      "\\u0041",
      "\\uABCD",
      "\\x1f",
      "=3D",
      "%2f",
      "[m",
      "[0m",
      "\u001b[1;31m",
      "[12345678901m"
    ].flatMap((start) => [start, `so it has ${start}`]))
      reads(before.endsWith("[m") ? `${before}${key}` : `${before}«${key}» so`)
    for (const before of [
      "x",
      "0",
      "\\a",
      "\\u041",
      "\\u00g1",
      "\\xg1",
      "\\x1",
      "=3G",
      "=g3",
      "=3",
      "%g1",
      "[xm",
      "[1,2m",
      "[1234567890123m"
    ])
      for (const start of [before, `so it has ${before}`]) reads(`${start}${key} so`)
  })

  it("begins where another range ends [P1331]", () => {
    const first = keyOf("dop_v1_{hex 64}")
    reads(`so «${first}${key}» so`)
    const held = Redacted.make(uniqueSecret())
    const text = `so ${Redacted.value(held)}${key}`
    assert.strictEqual(Redaction.own(text), text)
    Redaction.know(held)
    assert.strictEqual(Redaction.own(text), `so ${Redaction.mark}`)
    assert.strictEqual(Redacted.value(held).length, 38)
  })

  it("of a format of one length is added and removed alone [P1331]", () => {
    const one = keyOf("one_{hex 12}")
    const two = keyOf("two_{upper 12}")
    const removeOne = Redaction.add({ prefix: "one_", alphabet: "hex", length: 12 })
    const removeTwo = Redaction.add({ prefix: "two_", alphabet: "upper", length: [12, 13] })
    reads(`«${one}» ${one}a ${one.slice(0, -1)} «${two}» «${two}A» ${two}AB ${two.slice(0, -1)}`)
    removeOne()
    reads(`${one} «${two}»`)
    removeTwo()
    reads(`${one} ${two}`)
  })
})

describe("a private key as PEM", () => {
  // no text of this file is a label
  const label = (of: string) => `-----BEGIN ${of}PRIVATE ${"KEY"}`
  const close = `-----END PRIVATE ${"KEY"}-----`
  const body = charactersOf("base64", 64)

  it("goes to its end, with any label and body [P1330 P1331]", () => {
    for (const of of ["", "RSA ", "EC2 ", `${"A".repeat(24)}`]) reads(`so «${label(of)}-----\n${body}\n${close}» so`)
    for (const of of ["Rsa ", "A".repeat(25)]) reads(`so ${label(of)}-----\n${body}\n${close} so`)
    reads(`so «${label("")}----- hidden, ${close}» so`)
    reads(`so «${label("")}-----\n${body}\n${close}${label("")}-----\n${body}\n${close}» so`)
    reads(`so «${label("")}-----\n${body}\n${close}» so «${label("")}-----\n${body}\n${close}» so`)
  })

  it("without an end goes to the end of the text, if it is one [P1330 P1331]", () => {
    for (const rest of [
      "",
      "-",
      "-----",
      "-----\n",
      "-----\n".padEnd(13, "\n"),
      "-----\\n",
      "-----\\r\\n",
      `-----\n${body.slice(0, 15)}`,
      `-----\n${body.slice(0, 16)} and more`,
      `-----\n${body}\n${body}\n`,
      `-----\r\n${body}\n-----END`,
      "-----\nProc-Type: 4,ENCRYPTED",
      "-----\nX: y",
      `-----\nX${"-y".repeat(10)}: z`
    ]) {
      reads(`so «${label("")}${rest}»`)
      reads(`so «${label("")} BLOCK${rest}»`)
    }
    for (const rest of [
      "------",
      " is a label",
      `-----${body}`,
      "-----\n".padEnd(14, "\n"),
      "-----\\t",
      `-----\n${body.slice(0, 15)} and more`,
      "-----\nproc-type: 4",
      "-----\nProc Type: 4",
      `-----\nX${"-y".repeat(10)}z: z`,
      "A".repeat(40)
    ])
      reads(`so ${label("")}${rest}`)
    reads(`so ${label("")} is a label, and «${label("")}-----\n${body}\n»`)
  })
})
