/** Which texts show a secret whose value is known. */
import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { keeps } from "../../providers/_support/observers.ts"
import { uniqueSecret } from "./_support/uniqueSecret.ts"

const bytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text))
const url64 = (text: string) => btoa(bytes(text)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

/** Texts from which a reader can get the secret. */
const forms: ReadonlyArray<readonly [string, (secret: string) => string, (text: string) => string]> = [
  ["as it is", (secret) => secret, (text) => text],
  ["in JSON", (secret) => JSON.stringify(secret), (text) => text],
  ["in JSON in JSON", (secret) => JSON.stringify(JSON.stringify({ a: secret })), (text) => text],
  ["percent-encoded", encodeURIComponent, (text) => text],
  ["in a form", (secret) => new URLSearchParams({ a: secret }).toString(), (text) => text],
  ["in base64", (secret) => btoa(bytes(secret)), (text) => text],
  ["in base64 with Bearer", (secret) => btoa(bytes(`Bearer ${secret}`)), (text) => text],
  ["in base64 after a user", (secret) => btoa(bytes(`me:${secret}`)), (text) => text],
  ["in base64 for URLs", (secret) => url64(`x:${secret}`), (text) => text],
  ["in hex", (secret) => Buffer.from(secret).toString("hex"), (text) => text],
  ["in hex, in capitals", (secret) => Buffer.from(secret).toString("hex").toUpperCase(), (text) => text]
]

const hex4 = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, "0")
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Texts of servers that write some characters as escapes. */
const escaped: ReadonlyArray<readonly [string, (secret: string) => string]> = [
  ["with slashes escaped", (secret) => JSON.stringify(secret).replaceAll("/", "\\/")],
  ["in JSON of ASCII", (secret) => JSON.stringify(secret).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${hex4(unit)}`)],
  [
    "in JSON for HTML",
    (secret) => JSON.stringify(secret).replaceAll(/[<>&'+]/g, (unit) => `\\u${hex4(unit).toUpperCase()}`)
  ],
  [
    "in JSON in JSON of ASCII",
    (secret) => JSON.stringify(JSON.stringify(secret).replaceAll(/[^ -~]|[+/]/g, (unit) => `\\u${hex4(unit)}`))
  ],
  [
    "as codes of JSON",
    (secret) =>
      secret
        .split("")
        .map((unit) => `\\u${hex4(unit)}`)
        .join("")
  ],
  ["in HTML", (secret) => secret.replaceAll(/[&<>"']/g, (unit) => entities[unit] ?? "")],
  [
    "as codes of HTML",
    (secret) => Array.from(secret, (character) => `&#x${character.codePointAt(0)?.toString(16)};`).join("")
  ],
  [
    "percent-encoded in small letters",
    (secret) => encodeURIComponent(secret).replaceAll(/%../g, (byte) => byte.toLowerCase())
  ],
  ["percent-encoded twice", (secret) => encodeURIComponent(encodeURIComponent(secret))],
  [
    "percent-encoded twice in small letters",
    (secret) => encodeURIComponent(secret).replaceAll(/%../g, (byte) => `%25${byte.slice(1).toLowerCase()}`)
  ],
  [
    "as bytes of a log",
    (secret) => Array.from(Buffer.from(secret), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
  ],
  [
    "with odd bytes as those of a log, in capitals, in JSON",
    (secret) =>
      JSON.stringify(bytes(secret).replaceAll(/[^ a-z\d]/gi, (unit) => `\\x${hex4(unit).slice(2).toUpperCase()}`))
  ]
]

describe("a known value with escapes", () => {
  // a backslash before an escape has several readings
  const secrets = fc
    .string({ unit: "binary", minLength: 20, maxLength: 60 })
    .map((text) => `k9/+&"é${text}`.toWellFormed().replaceAll(/[\\\p{Cc}\s]/gu, "_"))
  for (const [what, write] of escaped)
    it(`is replaced ${what}, and nothing beside it [P202 P1331]`, () => {
      fc.assert(
        fc.property(secrets, fc.constantFrom("", "&amp; \\u0041 %41 \\/ "), (secret, other) => {
          const around = (text: string) => `${other}before: ${text} after ${other}`
          const scrubbed = Redaction.of([secret])(around(write(secret)))
          assert.match(
            scrubbed.slice(other.length, scrubbed.length - other.length),
            /^before: [\\"]*<redacted>[\\"]* after $/
          )
          assert.isTrue(scrubbed.startsWith(other) && scrubbed.endsWith(other))
        })
      )
    })

  it("leaves escapes of other texts as they are [P202 P1331]", () => {
    const text = 'C:\\u0041 a\\/b &amp;&#0;&#99999999;&#x110000;&lt;%zz%41 \\\\\\"x'
    assert.strictEqual(Redaction.of(["plantedKEY/abc+9=xyz"])(text), text)
  })
})

describe("a known value", () => {
  const secret = 'plantedKEY/abc+9=xyz"q\\é'

  for (const [what, write] of forms) {
    it(`is replaced ${what} [T8 P202 P1331]`, () => {
      const text = `before ${write(secret)} after`
      const scrubbed = Redaction.of([secret])(text)
      assert.match(scrubbed, /^before .*<redacted>.* after$/)
      for (const piece of [secret.slice(0, 10), write(secret).slice(12, 28)]) assert.notInclude(scrubbed, piece)
    })
  }

  it("is replaced in every form, within any text [T8 P202 P1331]", () => {
    const around = fc.string({ unit: fc.constantFrom(" ", ":", "\n", "}"), maxLength: 5 })
    // a word before a secret is its scheme, which stays
    const hasScheme = (text: string) => /^[A-Za-z]{1,20} +\S+$/.test(text)
    const secrets = fc
      .string({ minLength: 20, maxLength: 60 })
      .filter((text) => text.trim() === text && !hasScheme(text))
    fc.assert(
      fc.property(secrets, fc.constantFrom(...forms), around, around, (secret, [, write], before, after) => {
        const written = write(secret)
        const text = before + written + after
        const scrubbed = Redaction.of([secret])(text)
        assert.include(scrubbed, "<redacted>")
        // of base64, at most what its neighbours have a part in stays
        assert.isAtMost(scrubbed.replaceAll("<redacted>", "").length, text.length - secret.length + 2)
      })
    )
  })

  it("leaves no piece of 8 characters, wherever another text has cut it [T8 P202 P1331]", () => {
    const secrets = fc.stringMatching(/^(?:[A-Z]{1,3}[0-9]{1,3}[+/_-]?){6,20}$/).filter(({ length }) => length >= 20)
    fc.assert(
      fc.property(secrets, fc.nat(40), fc.nat(60), (secret, from, length) => {
        const piece = secret.slice(from, from + Math.max(8, length))
        fc.pre(piece.length >= 8)
        keeps([Redaction.of(["another-one-of-20-chars", secret])(`"${piece}"... and ${piece}`)], piece)
      })
    )
  })

  it("is not what merely resembles it: words stay, and so does a text without it [T8 P202 P1331]", () => {
    const ordinary = "the development server is a placeholder for abc, password and Admin-2024"
    const secrets = ["development-placeholder", "abc", "password", "Admin-2024", "shortsecret"]
    assert.strictEqual(Redaction.of(secrets)(ordinary), ordinary)
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.strictEqual(Redaction.of(["\u{1F511}-never-in-a-string"])(text), text)
      })
    )
  })

  it("is replaced however short or plain it is where that is asked for, in each form that is no word [P202]", () => {
    const redact = Redaction.of(["sk-1234", "hunter2-k1", "Bearer summer", "plain-password", " ", ""], { short: true })
    for (const secret of ["sk-1234", "hunter2-k1", "summer", "plain-password"]) {
      for (const [what, write] of forms) {
        const text = redact(`a ${write(secret)} b`)
        assert.match(text, /^a .*<redacted>.* b$/, what)
        assert.notInclude(text, write(secret))
      }
    }
    assert.strictEqual(redact("Bearer is a word; so is hunter."), "Bearer is a word; so is hunter.")
    // forms of a value of two letters are found in words
    const tiny = Redaction.of(["k1", "act"], { short: true })
    assert.strictEqual(tiny(`k1k1 ${btoa("k1")}, act`), `<redacted> ${btoa("k1")}, act`)
    assert.strictEqual(tiny(tiny("k1 and k1")), "<redacted> and <redacted>")
  })

  it("of a Redacted is shown by no text of the process, foreign or its own, nor are its parts [P1331]", () => {
    const held = Redacted.make(uniqueSecret())
    const part = uniqueSecret()
    const texts = () => [Redacted.value(held), part].map((secret) => `it says ${secret}.`)
    assert.deepStrictEqual(texts().map(Redaction.own), texts())
    Redaction.know(held, [Redacted.value(held), part])
    Redaction.know(held)
    for (const redact of [Redaction.own, Redaction.foreign])
      for (const text of texts()) assert.strictEqual(redact(text), "it says <redacted>.")
    assert.strictEqual(Redacted.value(held).length, 38)
  })
})
