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
  // twelve characters of three kinds are enough, of two kinds they are not
  for (const secret of ["abcdefghABC-", "abcdefgh-123", "ABCDEFGH1-23"]) {
    assert.strictEqual(of(secret)(`so ${secret} so`), "so <redacted> so")
    assert.strictEqual(of(secret.slice(1))(`so ${secret} so`), `so ${secret} so`)
  }
  for (const secret of ["abcdefghABCD", "abcdefgh1234", "ABCDEFGH-.-.", "12345678-.-."])
    assert.strictEqual(of(secret)(`so ${secret} so`), `so ${secret} so`)
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

it("a secret is found behind any escape of its characters, and nothing beside it [P202 P1331]", () => {
  const escapes: ReadonlyArray<readonly [character: string, escapes: ReadonlyArray<string>]> = [
    [
      "A",
      ["\\u0041", "\\\\u0041", `${"\\".repeat(8)}u0041`, "&#x41;", "&#X041;", "&#65;", "&#0000065;", "%41", "\\x41"]
    ],
    ["J", ["\\u004a", "\\u004A", "&#x4a;", "&#x4A;", "%4a", "%4A", "\\x4a"]],
    ["/", ["\\/", "\\\\/", "&#47;", "%2F"]],
    ["&", ["&amp;", "&AMP;", "\\u0026", "%26"]],
    ["<", ["&lt;", "&LT;", "\\u003c", "%3C"]],
    [">", ["&gt;", "\\u003e", "%3e"]],
    ['"', ["&quot;", "\\u0022", "%22", '\\"']],
    ["'", ["&apos;", "&#39;", "%27"]],
    ["\u{1F511}", ["&#x1f511;", "&#x01F511;", "&#128273;", "&#0128273;"]],
    ["\u{10FFFF}", ["&#x10ffff;", "&#1114111;"]]
  ]
  for (const [character, all] of escapes)
    for (const escape of all) {
      const redact = Redaction.of([`q7Lw${character}2Zr9Xk4T`])
      const secret = `q7Lw${escape}2Zr9Xk4T`
      assert.strictEqual(redact(`so ${secret} so`), "so <redacted> so", escape)
      const around = `${escape}so${escape}`
      assert.strictEqual(redact(`${around} ${secret} ${secret} ${around}`), `${around} <redacted> <redacted> ${around}`)
    }
})

it("what is no escape divides a secret [P202 P1331]", () => {
  for (const escape of [
    "\\u041",
    "\\u00g1",
    "\\x4",
    "\\xg1",
    "&#x0000041;",
    "&#xg1;",
    "&#00000065;",
    "&#x41",
    "&amp",
    "&am;",
    "%4",
    "%g1",
    "&#x110000;",
    "&#1114112;"
  ])
    for (const character of ["A", ""]) {
      const text = `so q7Lwabc${escape}def2Zr9 so`
      assert.strictEqual(Redaction.of([`q7Lwabc${character}def2Zr9`])(text), text, escape)
    }
})

it("a text of the greatest length is not cut, and one that its marks make longer is [P1331]", () => {
  assert.strictEqual(Redaction.foreign("abc", 3), "abc")
  assert.strictEqual(Redaction.foreign("abcd", 3), "abc…")
  assert.strictEqual(Redaction.foreign("/v1?sig=abcdefghij", 18), "/v1?sig=<redacted>")
  assert.strictEqual(Redaction.foreign("/v1?sig=abcdefghijk", 18), "/v1?sig=<redacted>")
  assert.strictEqual(Redaction.foreign("/v1?sig=abc&b=2345678", 21), "/v1?sig=<redacted>&b=…")
  assert.strictEqual(Redaction.foreign("/v1?sig=abc", 11), "/v1?sig=…")
  assert.strictEqual(Redaction.foreign("/v1?sig=abc&b=2", 22), "/v1?sig=<redacted>&b=2")
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
