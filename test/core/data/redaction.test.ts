/** What is taken out of texts, and what stays. */
import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import * as fc from "fast-check"
import { ordinaryTexts } from "./_support/ordinaryTexts.ts"
import { publishedKeys } from "./_support/publishedKeys.ts"

const surroundings: ReadonlyArray<readonly [where: string, around: (key: string) => string]> = [
  ["a sentence", (key) => `The server refused ${key}, and then ended.`],
  ["a setting", (key) => `first line\nSERVICE_TOKEN='${key}'\nlast line`],
  ["JSON", (key) => JSON.stringify({ error: { message: `line one\n${key}\nline three` } })],
  ["a URL", (key) => `https://example.org/v1/items?page=2&t=${key}&x=1`],
  ["brackets", (key) => `refused (${key})`],
  ["a terminal", (key) => `\u001b[32m${key}\u001b[0m refused`],
  ["a terminal in JSON", (key) => JSON.stringify(`\u001b[1;32m${key}\u001b[0m refused`)],
  ["bytes", (key) => `b'\\x00${key}'`],
  ["a mail", (key) => `https://example.org/?t=3D${key} `]
]

const shows = (text: string, secret: string): string | undefined => {
  for (let at = 0; at + 8 <= secret.length; at++) {
    const piece = secret.slice(at, at + 8)
    if (text.includes(piece)) return piece
  }
  return undefined
}

describe("redaction", () => {
  it("leaves at least 300 ordinary texts as they are [P1331]", () => {
    assert.isAtLeast(new Set(ordinaryTexts).size, 300)
    const changed = ordinaryTexts.filter((text) => Redaction.own(text) !== text || Redaction.foreign(text) !== text)
    assert.deepStrictEqual(
      changed.map((text) => [text, Redaction.foreign(text)]),
      []
    )
    const all = ordinaryTexts.join("\n")
    assert.strictEqual(Redaction.foreign(all, Infinity), all)
  })

  it("knows at least 60 published formats of keys, wherever a key stands [P1330 P1331]", () => {
    assert.isAtLeast(publishedKeys.length, 60)
    for (const [name, key] of publishedKeys) {
      for (const [where, around] of surroundings) {
        const text = around(key)
        for (const redact of [Redaction.own, Redaction.foreign]) {
          const redacted = redact(text)
          assert.isUndefined(shows(redacted, key), `${name} in ${where}: ${redacted}`)
          assert.include(redacted, Redaction.mark)
        }
      }
    }
  })

  it("finds credentials behind escapes, in lists and in settings [P1331]", () => {
    const secret = "q7Lw2Zr9Xk4Tm8Vb"
    for (const text of [
      JSON.stringify(`sent:\nAuthorization: Token ${secret}`),
      JSON.stringify(`sent:\nCookie: sid=${secret}`),
      JSON.stringify(`sent:\nBearer ${secret}`),
      `{"headers":{"Authorization":["Token ${secret}"]}}`,
      `AWS4-HMAC-SHA256 SignedHeaders=host, Signature=${secret}${secret}`,
      `AWS_SECRET_ACCESS_KEY=${secret}`,
      `{"SecretAccessKey":"${secret}"}`,
      `GITHUB_TOKEN=${secret}`,
      `DB_PASSWORD=${secret}`,
      `https://example.org/v1?page=1&subscription-key=${secret}`,
      `{"token":"${secret}"}`
    ]) {
      const redacted = Redaction.foreign(text)
      assert.isUndefined(shows(redacted, secret), redacted)
      assert.include(redacted, Redaction.mark)
    }
  })

  it("shows no 8 characters of a key wherever the text is cut [P1331]", () => {
    for (const [name, key] of publishedKeys) {
      for (let max = 0; max <= key.length + 30; max++) {
        const text = Redaction.foreign(`no access with ${key} here`, max)
        assert.isUndefined(shows(text, key), `${name} cut at ${max}: ${text}`)
        assert.isAtMost(text.length, max + 1)
      }
    }
  })

  it("shows no 8 characters of a key that begins before a cut and ends far behind it [P1331]", () => {
    for (const key of [`${["-----BEGIN", "PRIVATE KEY-----"].join(" ")}\n`, "https://user:", "eyJ0123456789."]) {
      const secret = "aB3dE5gH7jK9".repeat(1000)
      const text = Redaction.foreign(`before ${key}${secret}@behind`, 100)
      assert.isUndefined(shows(text, secret), text)
      assert.match(text, /^before .*<redacted>/s)
    }
  })

  const pieces = fc.oneof(
    fc.constantFrom(...publishedKeys.map(([, key]) => key), ...ordinaryTexts),
    fc.constantFrom(
      " ",
      "\n",
      "@",
      "://",
      ":",
      "=",
      "?",
      "&key=",
      "password=",
      "Authorization: ",
      "Bearer ",
      "-",
      '"',
      "\\",
      "…"
    ),
    fc.string({ unit: "grapheme", maxLength: 6 })
  )
  const texts = fc.array(pieces, { maxLength: 8 }).map((all) => all.join(""))

  it("is idempotent, and the rest of its output is in the input [P1331]", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(40, 200, Infinity), (text, max) => {
        const redacted = Redaction.foreign(text, max)
        assert.strictEqual(Redaction.foreign(redacted, max), redacted)
        assert.strictEqual(Redaction.own(Redaction.own(text)), Redaction.own(text))
        let at = 0
        for (const rest of redacted.replace(/…$/, "").split(Redaction.mark)) {
          at = text.indexOf(rest, at)
          assert.isAtLeast(at, 0)
        }
      })
    )
  })

  it.each([
    ["a header", "Authorization: Token hunter2hunter2", "hunter2"],
    ["a header in JSON", '{"authorization":"Bearer abcdefghijklmnop"}', "abcdefgh"],
    ["a header of a proxy", "Proxy-Authorization: Basic aHVudGVyMjpodW50ZXIy", "aHVudGVy"],
    ["a header with a key", "x-api-key: hunter2hunter2", "hunter2"],
    ["a cookie", "Cookie: session=hunter2; theme=dark", "hunter2"],
    ["a bearer token", "sent Bearer abcdefgh12345678 to it", "abcdefgh"],
    ["a name and a password in base64", "sent Basic dXNlcjpwYXNz to it", "dXNlcjpw"],
    ["user info", "https://admin:hunter2@host/path", "hunter2"],
    ["user info with a slash", "postgres://u:p/a@ss@host/db", "p/a@ss"],
    ["a token as user", "https://abcdefgh12345678@host/path", "abcdefgh"],
    ["a parameter", "GET https://host/path?x=1&api_key=hunter2", "hunter2"],
    ["a signature", "https://host/path?X-Amz-Signature=abcdef", "abcdef"],
    ["an escaped parameter", "next=%2Fcb%3Fa=1%26access_token=hunter2", "hunter2"],
    ["a key as a parameter", "GET /v1beta/models?key=hunter2hunter2", "hunter2"],
    ["a connection string", "Server=db;Password=opensesame;Timeout=5", "opensesame"],
    ["a setting", "password=hunter2 user=ann", "hunter2"],
    ["a field of JSON", '{"password":"open sesame 1"}', "never"],
    ["a field of JSON with a quote", String.raw`{"password":"open\"ses2ame"}`, "ses2ame"],
    ["JSON within JSON", String.raw`{"body":"{\"client_secret\":\"hunter2\"}"}`, "hunter2"]
  ])("replaces a credential of a foreign text in its place: %s [P1331]", (_, text, secret) => {
    for (const around of [text, `request failed (${text})`, `first line\n${text}\nlast line`])
      assert.notInclude(Redaction.foreign(around), secret)
  })

  it("keeps syntactic credentials in a text of the program, and does not cut it [P1330]", () => {
    const text = `use https://host/path?api_key=hunter2hunter2 and password=hunter2 ${"x".repeat(20_000)}`
    assert.strictEqual(Redaction.own(text), text)
  })

  it("takes a format of the program's own, and gives it back [P1331]", () => {
    const key = `acme_${"a1B2".repeat(8)}`
    assert.strictEqual(Redaction.own(key), key)
    const remove = Redaction.add({ prefix: "acme_", alphabet: "base62", length: [30, 40] })
    assert.strictEqual(Redaction.own(`with ${key}.`), "with <redacted>.")
    assert.strictEqual(Redaction.own("acme_customers"), "acme_customers")
    assert.strictEqual(Redaction.own(`${key}a1B2a1B2a1B2`), `${key}a1B2a1B2a1B2`)
    remove()
    assert.strictEqual(Redaction.own(key), key)
  })
})
