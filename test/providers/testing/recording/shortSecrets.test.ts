/** Secrets that are as short as words, in the file of a recording. */
import { assert, describe, it } from "@effect/vitest"
import { Secrets } from "../../../../packages/providers/src/testing/recording/secrets.ts"
import { requestOf } from "../../../../packages/providers/src/testing/recording/tape.ts"

describe("a short secret", () => {
  const noted = (...headers: ReadonlyArray<Readonly<Record<string, string>>>) => {
    const secrets = new Secrets()
    for (const header of headers) secrets.note(header, () => false)
    return secrets
  }

  it("is redacted wherever it occurs, also within words, if it has letters and digits, with its forms [P202]", () => {
    const secrets = noted({ authorization: "Bearer sk-1234" }, { "x-api-key": "hunter2" })
    const hex = Buffer.from("hunter2").toString("hex")
    assert.strictEqual(
      secrets.text(`sk-1234, hunter2, ${btoa("sk-1234")}, ${hex}.`),
      "<redacted>, <redacted>, <redacted>==, <redacted>.".replace("==", btoa("sk-1234").slice(9))
    )
    assert.strictEqual(secrets.text("xxhunter2yy, hunter"), "xx<redacted>yy, hunter")
    for (const ordinary of ["123456", "abcdef", "ab 123"]) {
      const within = `xx${ordinary}yy`
      assert.strictEqual(noted({ "x-api-key": ordinary }).text(within), within)
    }
    const bits = ["sk", "-1", "234"].map((text) => ({ text }))
    assert.deepStrictEqual(secrets.json(bits), [{ text: "<redacted>" }, { text: "" }, { text: "" }])
  })

  it("that may be a word stays, unless it is named as a secret [P202]", () => {
    const text = "ollama knows k and k1, and EMPTY"
    const secrets = noted({ authorization: "Bearer ollama" }, { "x-api-key": "k1" }, { "x-key": "EMPTY" })
    assert.strictEqual(secrets.text(text), text)
    const before = secrets.version
    secrets.noteValues(["ollama", "k1"])
    assert.isAbove(secrets.version, before)
    assert.strictEqual(secrets.text(text), "<redacted> knows k and <redacted>, and EMPTY")
  })

  it("in the query of a URL is left out by its name, and redacted in the answer [P202]", () => {
    const secrets = new Secrets()
    const url = new URL("http://a.test/v1?code=summer26&v=1")
    secrets.noteParameters(url)
    assert.strictEqual(requestOf(secrets, { method: "GET", url, body: "" }).path, "/v1?v=1")
    assert.strictEqual(secrets.text("no summer26 here"), "no <redacted> here")
  })
})
