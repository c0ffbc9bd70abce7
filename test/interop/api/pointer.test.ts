/** References within an OpenAPI document, and the addresses of its servers. */
import { assert, describe, it } from "@effect/vitest"
import { field, References } from "../../../packages/interop/src/api/pointer.ts"
import { addressOf, isAllowed } from "../../../packages/interop/src/api/server.ts"
import { thrown } from "./_support/errors.ts"

const refused = (reason: string, pointer: string, what: string) => ({
  _tag: "ApiDocumentError",
  message: `OpenAPI document 'pets' at ${pointer}: ${what}`,
  api: "pets",
  pointer,
  reason
})

describe("a reference", () => {
  const root = {
    a: { "b/c": { "d~e": 1 }, "f g": 2, "100%": 3 },
    list: [{ x: 1 }],
    ref: { $ref: "#/a" },
    far: { $ref: "#/ref" },
    lost: { $ref: "#/none" },
    odd: { $ref: 5 },
    text: "text"
  }
  const references = new References("pets", root)

  it("leads to the part of its pointer, also with escapes [P1796]", () => {
    const found = (reference: string) => references.target(reference, "#/here")
    assert.deepStrictEqual(found("#"), { value: root, pointer: "#" })
    assert.deepStrictEqual(found("#/a/b~1c/d~0e"), { value: 1, pointer: "#/a/b~1c/d~0e" })
    assert.deepStrictEqual(found("#/a/f%20g"), { value: 2, pointer: "#/a/f g" })
    assert.deepStrictEqual(found("#/a/100%"), { value: 3, pointer: "#/a/100%" })
    assert.deepStrictEqual(found("#/list/0/x"), { value: 1, pointer: "#/list/0/x" })
  })

  it("out of the document, to nothing, or beyond 2,000 characters is refused where it stands, with its texts cut [P1796]", () => {
    for (const reference of ["http://a.test#/a", "other.yaml", "", "/a", "#a"]) {
      const what = `the reference '${reference}' leads out of the document, and is not followed`
      const error = thrown(() => references.target(reference, "#/here"))
      assert.deepStrictEqual(error, refused("reference", "#/here", what))
    }
    const nothing = (reference: string) => `the reference '${reference}' leads to nothing`
    for (const reference of ["#/none", "#/a/none/x", "#/text/length", "#/a/toString", "#/a/__proto__", "#/"]) {
      for (const pointer of ["#/here", "#/there"]) {
        const error = thrown(() => references.target(reference, pointer))
        assert.deepStrictEqual(error, refused("reference", pointer, nothing(reference)))
      }
    }
    const [longest, pointer] = [`#/${"a".repeat(1998)}`, "p".repeat(500)]
    const named = new References("n".repeat(201), { ["a".repeat(1998)]: 7, ["a".repeat(1999)]: 8 })
    assert.deepStrictEqual(named.target(longest, "#"), { value: 7, pointer: longest })
    assert.deepStrictEqual(
      thrown(() => named.target(`${longest}a`, `${pointer}p`)),
      {
        _tag: "ApiDocumentError",
        message: `OpenAPI document '${"n".repeat(200)}…' at ${pointer}…: the reference '#/${"a".repeat(483)}…`,
        api: "n".repeat(201),
        pointer: `${pointer}…`,
        reason: "reference"
      }
    )
  })

  it("of a part is followed to its object, over 32 references in a row [P1796]", () => {
    const part = (name: string) => field({ value: root, pointer: "#" }, name)
    assert.deepStrictEqual(references.object(part("far")), { value: root.a, pointer: "#/a" })
    assert.deepStrictEqual(references.object(part("odd")), { value: root.odd, pointer: "#/odd" })
    for (const name of ["text", "list", "none"]) assert.isUndefined(references.object(part(name)))
    assert.deepStrictEqual(
      thrown(() => references.object(part("lost"))),
      refused("reference", "#/lost", "the reference '#/none' leads to nothing")
    )
    const row = (length: number) => {
      const parts = Array.from({ length }, (_, index) => [`r${index}`, { $ref: `#/r${index + 1}` }])
      const document = { ...Object.fromEntries(parts), [`r${length}`]: { end: true } }
      return () => new References("pets", document).object({ value: document.r0, pointer: "#/r0" })
    }
    assert.deepStrictEqual(row(32)(), { value: { end: true }, pointer: "#/r32" })
    assert.deepStrictEqual(thrown(row(33)), refused("reference", "#/r0", "the reference leads to itself"))
  })
})

describe("an address", () => {
  const allowed = (url: string, ...hosts: ReadonlyArray<string>) => isAllowed(new URL(url), new Set(hosts))

  it("is allowed on a host of the list, without credentials, in plain text only where the list says so [P1797]", () => {
    assert.isTrue(allowed("https://a.test", "a.test"))
    assert.isTrue(allowed("https://a.test:444", "a.test:444"))
    assert.isTrue(allowed("http://a.test", "http://a.test"))
    assert.isTrue(allowed("https://a.test", "http://a.test"))
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      assert.isTrue(allowed(`http://${host}:81`, `${host}:81`))
      assert.isFalse(allowed(`ws://${host}:81`, `${host}:81`))
      assert.isFalse(allowed(`http://${host}:81`, host))
    }
    assert.isFalse(allowed("http://a.test", "a.test"))
    assert.isFalse(allowed("https://a.test:444", "a.test"))
    assert.isFalse(allowed("https://b.test", "a.test"))
    assert.isFalse(allowed("ftp://a.test", "a.test"))
    assert.isFalse(allowed("ftp://a.test", "http://a.test"))
    for (const user of ["u", "u:p", ":p"]) {
      assert.isFalse(allowed(`https://${user}@a.test`, "a.test"))
      assert.isFalse(allowed(`http://${user}@a.test`, "http://a.test"))
    }
  })

  const hosts = new Set(["a.test", "b.test"])
  const parts = (...values: ReadonlyArray<unknown>) => values.map((value, at) => ({ value, pointer: `#/${at}` }))
  const addressIn = (values: ReadonlyArray<unknown>, baseUrl?: string | URL) =>
    addressOf(parts(...values), { api: "pets", hosts, baseUrl })

  it("is the given one, else the first server of the nearest part, with the defaults of its variables [P1797]", () => {
    const server = (url: unknown, more: object = {}) => ({ servers: [{ url, ...more }, { url: "https://c.test" }] })
    assert.strictEqual(addressIn([{}, server("https://a.test/v1"), server("https://b.test")]).href, "https://a.test/v1")
    assert.strictEqual(addressIn([{ servers: [] }, server("https://b.test")]).href, "https://b.test/")
    for (const given of ["https://b.test/v2", new URL("https://b.test/v2")])
      assert.strictEqual(addressIn([server("https://a.test/v1")], given).href, "https://b.test/v2")
    const variables = { host: { default: "a" }, odd: { default: 5 }, text: "x", base: { default: "v{n}" } }
    assert.strictEqual(
      addressIn([server("https://{host}.test/{base}/{odd}/{text}/{toString}", { variables })]).href,
      "https://a.test/v%7Bn%7D/%7Bodd%7D/%7Btext%7D/%7BtoString%7D"
    )
    assert.strictEqual(addressIn([server("https://a.test/{n}")]).href, "https://a.test/%7Bn%7D")
    const long = (length: number) => ({ variables: { n: { default: "n".repeat(length) } } })
    assert.strictEqual(addressIn([server("https://a.test/{n}", long(2000))]).href.length, 2015)
    assert.strictEqual(addressIn([server("https://a.test/{n}", long(2001))]).href, "https://a.test/%7Bn%7D")
  })

  it("that cannot be used is refused, at the pointer of its server [P1797]", () => {
    const no = (text: string) => `the address '${text}' is no URL; set the option baseUrl`
    const servers = (url: unknown) => ({ servers: [{ url }] })
    const refusedIn = (values: ReadonlyArray<unknown>, pointer: string, what: string, baseUrl?: string) =>
      assert.deepStrictEqual(
        thrown(() => addressIn(values, baseUrl)),
        refused("host", pointer, what)
      )
    refusedIn([{}, {}], "#/servers", no(""))
    refusedIn([{}, servers("/v1")], "#/1/servers/0", no("/v1"))
    for (const url of [5, `https://a.test/${"x".repeat(2000)}`]) refusedIn([servers(url)], "#/0/servers/0", no(""))
    refusedIn([servers("https://c.test:81/x")], "#/0/servers/0", "the option hosts does not allow 'https://c.test:81'")
    refusedIn([servers("http://a.test")], "#/0/servers/0", "the option hosts does not allow 'http://a.test'")
    refusedIn(
      [servers("https://a.test")],
      "#/servers",
      "the option hosts does not allow 'https://d.test'",
      "https://d.test"
    )
    refusedIn([servers("https://a.test")], "#/servers", no("here"), "here")
    const longest = `https://a.test/${"x".repeat(1985)}`
    assert.strictEqual(addressIn([servers(longest)]).href, longest)
  })
})
