/** Which values a recording takes for secrets, and where it redacts them. */
import { assert, describe, it } from "@effect/vitest"
import { Secrets } from "../../../../packages/providers/src/testing/recording/secrets.ts"

const noted = (headers: Readonly<Record<string, string>>, ...hidden: ReadonlyArray<string>) => {
  const secrets = new Secrets()
  secrets.note(headers, (name) => hidden.includes(name))
  return secrets
}

/** Those of these texts that are redacted. */
const redacted = (secrets: Secrets, ...texts: ReadonlyArray<string>) =>
  texts.filter((text) => secrets.text(text) !== text)

describe("the value of a header", () => {
  it("is a secret without its scheme, and so is the password in it", () => {
    const basic = noted({ "x-door": `Basic ${btoa("ada:Tr0ub4dor&3x")}` }, "x-door")
    assert.deepStrictEqual(redacted(basic, "it is Tr0ub4dor&3x", btoa("ada:Tr0ub4dor&3x"), "ada"), [
      "it is Tr0ub4dor&3x",
      btoa("ada:Tr0ub4dor&3x")
    ])
    const bearer = noted({ "x-door": `Bearer ${btoa("some ordinary words")}` }, "x-door")
    assert.deepStrictEqual(redacted(bearer, btoa("some ordinary words"), "some ordinary words"), [
      btoa("some ordinary words")
    ])
    const encoded = btoa("ada:Tr0ub4dor&3x")
    const token = noted({ "x-door": `Bearer ${encoded}` }, "x-door")
    assert.deepStrictEqual(redacted(token, encoded, "it is Tr0ub4dor&3x"), [encoded])
    assert.deepStrictEqual(redacted(noted({ "x-door": "Basic not*base64" }, "x-door"), "not*base64", "base64"), [
      "not*base64"
    ])
  })

  it("is a secret in each of its cookies, without their names and without what has no name", () => {
    const cookies = noted({ cookie: "session=chocolate-with-nuts-42; abc123;a=b4d-c00kie-jar; b=xyz987" }, "cookie")
    assert.deepStrictEqual(
      redacted(cookies, "xxabc123yy", "session", "chocolate-with-nuts-42", "b4d-c00kie-jar", "_xyz987_"),
      ["chocolate-with-nuts-42", "b4d-c00kie-jar", "_xyz987_"]
    )
  })

  it("is private if its name is that of an account", () => {
    const names = [
      "organization",
      "openai-organisation",
      "x-org-id",
      "account",
      "x_project",
      "tenant",
      "my-workspace-name"
    ]
    const others = ["reorganization", "organizations", "accounts", "x-projector", "x-other"]
    assert.deepStrictEqual(
      [...names, ...others].filter(
        (name) => redacted(noted({ [name]: "the-one-of-Ada-0815" }), "the-one-of-Ada-0815").length > 0
      ),
      names
    )
    assert.deepStrictEqual(redacted(noted({ account: "short" }), "short"), [])
  })

  it("that is empty, or known, is no other secret", () => {
    const secrets = noted({ authorization: "", cookie: "" })
    assert.strictEqual(secrets.version, 0)
    secrets.noteValues([" pad "])
    const { version } = secrets
    assert.isAbove(version, 0)
    secrets.noteValues(["pad"])
    assert.strictEqual(secrets.version, version)
    assert.deepStrictEqual(redacted(secrets, "pad", "it is pad."), ["pad", "it is pad."])
  })
})

describe("a field of a body", () => {
  it("is redacted whole if it is a text and its name is that of a key", () => {
    const names = [
      "apikey",
      "apiKey",
      "api-key",
      "x-api-key",
      "x_api_key",
      "access_key",
      "secretKey",
      "private-key",
      "access_token",
      "idToken",
      "secret",
      "client_secret",
      "password",
      "passwd",
      "passphrase",
      "authorization"
    ]
    const others = ["token", "signature", "key", "secretary", "xyapi_key", "my_password_hint"]
    const fields = Object.fromEntries([...names, ...others].map((name) => [name, "words"]))
    const clean = new Secrets().json(fields)
    assert.deepStrictEqual(clean, { ...fields, ...Object.fromEntries(names.map((name) => [name, "<redacted>"])) })
    for (const field of ["", 5, null, ["words"], { a: "words" }]) {
      assert.deepStrictEqual(new Secrets().json({ secret: field }), { secret: field })
    }
  })
})

it("a secret that is written with escapes is redacted too", () => {
  const secrets = new Secrets()
  secrets.noteValues(["pässword-1"])
  const written = "it is p\\u00e4ssword-1."
  assert.include(secrets.text(written), "<redacted>")
  assert.notInclude(secrets.text(written), "ssword-1")
  const harmless = "it is \\u00e4 word."
  assert.strictEqual(secrets.text(harmless), harmless)
})
