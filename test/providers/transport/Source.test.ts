/** What of a secret can be found in foreign words. */
import { assert, describe, it } from "@effect/vitest"
import { Source } from "@kintsugi/providers"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { keeps } from "../_support/observers.ts"

const source = (...secrets: ReadonlyArray<string>): Source.Source => ({
  provider: "openai",
  model: "m",
  secrets: secrets.map((secret) => Redacted.make(secret))
})

const bytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text))
const url64 = (text: string) => btoa(bytes(text)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

/** A text that tells the secret to whoever reads it twice. */
const forms: ReadonlyArray<readonly [string, (secret: string) => string, (text: string) => string]> = [
  ["as it is", (secret) => secret, (text) => text],
  ["in JSON", (secret) => JSON.stringify(secret), (text) => text],
  ["in JSON in JSON", (secret) => JSON.stringify(JSON.stringify({ a: secret })), (text) => text],
  ["percent-encoded", encodeURIComponent, (text) => text],
  ["in a form", (secret) => new URLSearchParams({ a: secret }).toString(), (text) => text],
  ["in base64", (secret) => btoa(bytes(secret)), (text) => text],
  ["in base64 with Bearer", (secret) => btoa(bytes(`Bearer ${secret}`)), (text) => text],
  ["in base64 after a user", (secret) => btoa(bytes(`me:${secret}`)), (text) => text],
  ["in base64 for URLs", (secret) => url64(`x:${secret}`), (text) => text]
]

describe("a secret in foreign words [T8 P202]", () => {
  const secret = 'plantedKEY/abc+9=xyz"q\\é'

  for (const [what, write] of forms) {
    it(`is masked ${what} [T8 P202]`, () => {
      const text = `before ${write(secret)} after`
      const scrubbed = Source.scrub(source(secret), text)
      assert.match(scrubbed, /^before .*<redacted>.* after$/)
      for (const piece of [secret.slice(0, 10), write(secret).slice(12, 28)]) assert.notInclude(scrubbed, piece)
    })
  }

  it("is masked in every form, whatever it is and whatever stands around it [T8 P202]", () => {
    const around = fc.string({ unit: fc.constantFrom(" ", ":", "\n", "}"), maxLength: 5 })
    const secrets = fc.string({ minLength: 12, maxLength: 60 }).filter((text) => text.trim() === text)
    fc.assert(
      fc.property(secrets, fc.constantFrom(...forms), around, around, (secret, [, write], before, after) => {
        const written = write(secret)
        const text = before + written + after
        const scrubbed = Source.scrub(source(secret), text)
        assert.include(scrubbed, "<redacted>")
        // of base64, at most what its neighbours have a part in stays
        assert.isAtMost(scrubbed.replaceAll("<redacted>", "").length, text.length - secret.length + 2)
      })
    )
  })

  it("leaves no piece of itself, wherever it was cut [T8 P202]", () => {
    const secrets = fc.stringMatching(/^[A-Z0-9+/_-]{16,60}$/)
    fc.assert(
      fc.property(secrets, fc.nat(40), fc.nat(60), (secret, from, length) => {
        const piece = secret.slice(from, from + Math.max(8, length))
        fc.pre(piece.length >= 8)
        keeps([Source.scrub(source("another-one", secret), `"${piece}"... and ${piece}`)], piece)
      })
    )
  })

  it("is not what merely resembles it: words stay, and so does a text without it [T8 P202]", () => {
    const told = "the development server is a placeholder for abc"
    assert.strictEqual(Source.scrub(source("development-placeholder", "abc"), told), told)
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.strictEqual(Source.scrub(source("\u{1F511}-never-in-a-string"), text), text)
      })
    )
  })

  it("is searched for in a long text without delay, and not found behind what is quoted [T8 P202]", () => {
    const quoted = Source.quote(source(secret), `${"x".repeat(990)}${secret}`.padEnd(5_000_000, "-"))
    assert.isAtMost(quoted.length, 1001)
    keeps([quoted], secret)
  })
})
