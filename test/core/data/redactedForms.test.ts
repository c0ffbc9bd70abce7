/** Which values are redacted, in which forms, and where a text is cut. */
import { assert, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"

it("a value is redacted if it is long or varied, with its forms on wires [P1331]", () => {
  const of = (...secrets: ReadonlyArray<string>) => Redaction.of(secrets)
  const plain = "abcdefghijklmnopqrst"
  assert.strictEqual(of(plain)(`a ${plain} z`), "a <redacted> z")
  assert.strictEqual(of(plain.slice(1))(`a ${plain} z`), `a ${plain} z`)
  // the last 16 characters are too many for a match by chance, also at the end of a text
  assert.strictEqual(of(plain)(`so ${plain.slice(4)}`), "so <redacted>")
  assert.strictEqual(of(plain)(`so ${plain.slice(4)}.`), "so <redacted>.")
  assert.strictEqual(of(plain)(`so ${plain.slice(5)}`), `so ${plain.slice(5)}`)
  // 12 characters of two kinds may be a word
  assert.strictEqual(of("abcdef123456")("so abcdef123456"), "so abcdef123456")
  // characters of three kinds in a piece are no match by chance
  assert.strictEqual(of("aB-cD.eF_gH;")("so aB-cD.eF so"), "so <redacted> so")
  // a scheme is a word before one other
  assert.strictEqual(of("Bearer q7Lw2Zr9Xk4T")("it is Bearer q7Lw2Zr9Xk4T"), "it is Bearer <redacted>")
  assert.strictEqual(of("Correct horse-battery 9staple")("Correct horse-battery 9staple"), "<redacted>")
  const odd = 'pass "word" & 100% ü\n'
  for (const form of [
    JSON.stringify(odd),
    JSON.stringify(JSON.stringify(odd)),
    encodeURIComponent(odd),
    new URLSearchParams({ q: odd }).toString(),
    Buffer.from(odd).toString("hex"),
    Buffer.from(odd).toString("hex").toUpperCase(),
    Buffer.from(odd).toString("base64url")
  ])
    assert.include(of(odd)(`"${form}"`), Redaction.mark, form)
  assert.strictEqual(of(odd)(JSON.stringify({ odd: odd.trim() })), '{"odd":"<redacted>"}')
  assert.strictEqual(
    of(odd)(`q=${new URLSearchParams([["", odd.trim()]]).toString().slice(1)}&r=1`),
    "q=<redacted>&r=1"
  )
})

it("a text is cut behind a mark that fits, and before one that does not [P1331]", () => {
  const text = "so ghp_16C7e42F292c6912E7710c838347Ae178B4a and more"
  assert.strictEqual(Redaction.foreign(text), "so <redacted> and more")
  assert.strictEqual(Redaction.foreign(text, 13), "so <redacted>…")
  assert.strictEqual(Redaction.foreign("so it is", 8), "so it is")
  assert.strictEqual(Redaction.foreign("so it is", 7), "so it i…")
  assert.strictEqual(Redaction.foreign(text, 12), "so …")
})

it("a credential stands where its name says so, and a placeholder is none [P1331]", () => {
  for (const [text, redacted] of [
    ["https://x.org/?api-key=abc&y=1", "https://x.org/?api-key=<redacted>&y=1"],
    ["Authorization: Bearer authtoken", "Authorization: Bearer authtoken"],
    ["Authorization: Bearer tokens.", "Authorization: Bearer tokens."],
    ["Authorization: Bearer abcdefgh", "Authorization: Bearer <redacted>"]
  ] as const)
    assert.strictEqual(Redaction.foreign(text), redacted)
})
