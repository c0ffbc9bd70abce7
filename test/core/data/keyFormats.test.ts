/** Which runs of characters are keys: their prefixes, lengths and alphabets, and where they begin and end. */
import { assert, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { publishedKeys } from "./_support/publishedKeys.ts"

const { mark, own } = Redaction

/** Texts that stay. */
const stay = (...texts: ReadonlyArray<string>): void => {
  for (const text of texts) assert.strictEqual(own(text), text)
}

const letters = "abcdefghijklmnopqrstuvwxyz"

it("a published key alone is replaced as a whole, and so is one behind another [P1330]", () => {
  for (const [name, key] of publishedKeys) {
    assert.strictEqual(own(key), mark, name)
    assert.strictEqual(own(`${key} ${key}`), `${mark} ${mark}`, name)
  }
})

it("a key begins where a word begins, also behind an escape [P1330]", () => {
  const key = `ghp_${letters}`
  stay(`x${key}`, `0${key}`, `-x${key}`, `\\q${key}`, `%2g${key}`, `[1x${key}`)
  for (const before of ["", "-", "\\n", "\\u00e9", "\\x1B", "%3D", "=3D", "[1;32m", "[0m", " [32m"])
    assert.strictEqual(own(before + key), before + mark)
})

it("a key has the length and the characters of its format [P1330]", () => {
  const base62 = `${letters}${letters.toUpperCase()}0123456789`
  assert.strictEqual(own(`r8_${base62.slice(0, 37)}`), mark)
  stay(`r8_${base62.slice(0, 36)}`, `r8_${base62.slice(0, 38)}`)
  assert.strictEqual(own(`AccountKey=${base62.slice(0, 44)}`), mark)
  stay(`AccountKey=${base62.slice(0, 43)}`, `AccountKey=${base62}${base62.slice(0, 27)}`)
  assert.strictEqual(own(`AccountKey=${base62}${base62.slice(0, 26)}`), mark)
  assert.strictEqual(own(`AKIA${"A1".repeat(8)}`), mark)
  stay(`AKIA${"a1".repeat(8)}`, `AKIA${"A1".repeat(7)}A`, `AKIA${"A1".repeat(8)}A`)
  // only together with the prefix
  stay(
    `${"a1".repeat(11)}.${base62.slice(0, 43)}`,
    `12345678:AB${base62.slice(0, 33)}`,
    `1234567:AA${base62.slice(0, 33)}`
  )
  assert.strictEqual(own(`see 12345678:AA${base62.slice(0, 33)}.`), `see ${mark}.`)
})

it("a key of letters counts only where its prefix says enough [P1330]", () => {
  assert.strictEqual(own(`ghp_${letters}`), mark)
  stay(`sk-${letters}`, `sk-proj-${letters}`, `xapp-1-${letters}`, `pa-${letters}${letters.slice(0, 17)}`)
  assert.strictEqual(own(`xapp-1-${letters}1`), mark)
  assert.strictEqual(own(`sk-${"a".repeat(63)}1`), mark)
  stay(`sk-${"a".repeat(64)}1`)
})

const begin = ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" ")
const end = "-----END RSA PRIVATE KEY-----"
const base64 = "MIIEowIBAAKCAQEA"

it("a private key goes from its label to its end, or to the end of the text [P1330]", () => {
  for (const [text, redacted] of [
    [`a ${begin}\n${base64}\n${end} z`, `a ${mark} z`],
    [`a ${begin}\n${base64}\n${end} and ${begin}\n${base64}\n${end} z`, `a ${mark} and ${mark} z`],
    [`a ${begin}\n${base64}\n${end}${begin}\n${base64}\n${end}z`, `a ${mark}z`],
    [`a ${begin} stands before ${end} z`, `a ${mark} z`],
    [`a ${begin}\n${base64}`, `a ${mark}`],
    [`a ${begin}\\n${base64}`, `a ${mark}`],
    [`a ${begin}\r\n${base64}${base64}\nand on`, `a ${mark}`],
    [`a ${begin}\nMII`, `a ${mark}`],
    [`a ${begin}\nProc-Type: 4,ENCRYPTED\n`, `a ${mark}`],
    [`a ${begin.slice(0, -3)}`, `a ${mark}`],
    [`a ${begin}\n${base64}\n-----END RSA PRIVATE`, `a ${mark}`]
  ] as const)
    assert.strictEqual(own(text), redacted)
  stay(
    `a file that begins with ${begin} is no certificate`,
    `${begin}\nis the first line`,
    "-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEA\n-----END CERTIFICATE-----",
    `-----BEGIN a PRIVATE KEY-----\n${base64}\n`
  )
})

it("a format that was added ends alone [P1330]", () => {
  const removals = ["acme_", "bolt_"].map((prefix) => Redaction.add({ prefix, alphabet: "lower", length: [6, 8] }))
  const texts = ["acme_abcdef", "bolt_abcdefgh"]
  assert.deepStrictEqual(texts.map(own), [mark, mark])
  stay("acme_abcde", "acme_abcdefghi", "acme_ABCDEF")
  removals[0]?.()
  assert.deepStrictEqual(texts.map(own), ["acme_abcdef", mark])
  removals[1]?.()
  assert.deepStrictEqual(texts.map(own), texts)
})
