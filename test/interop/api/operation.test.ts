/** The operations of an OpenAPI document, as requests and models need them. */
import { assert, describe, it } from "@effect/vitest"
import * as Operation from "../../../packages/interop/src/api/operation.ts"
import { type Json, References } from "../../../packages/interop/src/api/pointer.ts"
import { fieldsOf, thrown } from "./_support/errors.ts"

const bounds = { depth: 100, nodes: 1000, bytes: 1_000_000 }

const servers = [{ url: "https://api.pets.test" }]

const settingsOf = (root: Json, headers: ReadonlyArray<string> = []): Operation.Settings => {
  const references = new References("pets", root)
  return {
    api: "pets",
    references,
    bounds,
    total: { what: "The document", limit: 1000, nodes: 0 },
    isOld: false,
    hosts: new Set(["api.pets.test"]),
    baseUrl: undefined,
    headers: new Set(headers),
    ...Operation.securityOf(references)
  }
}

/** Reads the only operation of a document. */
const readIn = (root: Json, headers?: ReadonlyArray<string>) => {
  const settings = settingsOf({ servers, ...root }, headers)
  const [listed, ...more] = Operation.operationsOf(settings.references)
  assert(listed !== undefined && "path" in listed)
  assert.lengthOf(more, 0)
  return Operation.read(listed, settings)
}

/** Reads an operation at `/things`: a POST if it has a body, else a GET. */
const readOf = (operation: object, more: object = {}, headers?: ReadonlyArray<string>) =>
  readIn({ paths: { "/things": { ["requestBody" in operation ? "post" : "get"]: operation } }, ...more }, headers)

const object = (properties: object, required: ReadonlyArray<string> = []) => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false
})

const refused = (pointer: string, what: string, reason = "unsupported") => ({
  _tag: "ApiDocumentError",
  message: `OpenAPI document 'pets' at ${pointer}: ${what}`,
  api: "pets",
  pointer,
  reason
})

const at = "#/paths/~1things/get"

describe("the operations of a document", () => {
  const listed = (root: Json) =>
    Operation.operationsOf(new References("pets", root)).map((one) =>
      "path" in one ? [one.id, one.method, one.path, one.operation.pointer, one.item.pointer] : fieldsOf(one)
    )

  it("are those of each method, in the order of the paths, with an id for each [P1794]", () => {
    const paths = {
      "/b": { post: { operationId: "add" }, get: {}, trace: {}, options: {}, head: {}, put: {}, patch: {}, delete: {} },
      "/a": { $ref: "#/shared" },
      "/none": { get: "text", put: [], summary: "x", query: {} },
      "/text": "x",
      odd: { get: {} },
      "/id": { get: { operationId: "" }, put: { operationId: 5 } }
    }
    const row = (method: string, path: string, id = `${method} ${path}`, item = `#/paths/~1${path.slice(1)}`) => [
      id,
      method.toUpperCase(),
      path,
      `${item}/${method}`,
      item
    ]
    assert.deepStrictEqual(listed({ paths, shared: { get: { operationId: "all" } } }), [
      ...["get", "head", "options", "trace", "put", "delete"].map((method) => row(method, "/b")),
      row("post", "/b", "add"),
      row("patch", "/b"),
      row("get", "/a", "all", "#/shared"),
      row("get", "/id"),
      row("put", "/id")
    ])
  })

  it("are none without paths, and a path item that cannot be read is refused [P1794 P1796]", () => {
    for (const root of [{}, { paths: [] }, { paths: "x" }, { paths: {} }]) assert.deepStrictEqual(listed(root), [])
    assert.deepStrictEqual(listed({ paths: { "/far": { $ref: "x.yaml" }, "/a": { get: {} } } }), [
      refused("#/paths/~1far", "the reference 'x.yaml' leads out of the document, and is not followed", "reference"),
      ["get /a", "GET", "/a", "#/paths/~1a/get", "#/paths/~1a"]
    ])
  })
})

describe("the security schemes of a document", () => {
  const usual = ["header authorization", "header proxy-authorization", "header cookie"]
  const securityOf = (root: Json) => {
    const { credentials, unreadable } = Operation.securityOf(new References("pets", root))
    return [[...credentials], [...unreadable].map(([name, error]) => [name, error.pointer])]
  }

  it("name the parameters that carry credentials, beside the usual headers [P1795]", () => {
    const securitySchemes = {
      query: { type: "apiKey", in: "query", name: "Key" },
      header: { type: "apiKey", in: "header", name: "X-Token" },
      nameless: { type: "apiKey", in: "query" },
      bearer: { type: "http", in: "query", name: "bearer" },
      shared: { $ref: "#/shared" },
      far: { $ref: "x.yaml" },
      text: "x"
    }
    const shared = { type: "apiKey", in: "cookie", name: "sid" }
    assert.deepStrictEqual(securityOf({ components: { securitySchemes }, shared }), [
      [...usual, "query key", "header x-token", "cookie sid"],
      [["far", "#/components/securitySchemes/far"]]
    ])
    for (const root of [{}, { components: {} }, { components: { securitySchemes: [] } }, { securitySchemes }])
      assert.deepStrictEqual(securityOf(root), [usual, []])
  })

  it("that cannot be read refuse the operations that need them [P1795 P1796]", () => {
    const components = { securitySchemes: { far: { $ref: "x.yaml" }, key: { type: "apiKey" } } }
    const far = refused(
      "#/components/securitySchemes/far",
      "the reference 'x.yaml' leads out of the document, and is not followed",
      "reference"
    )
    const security = [{ key: [] }, "text", { far: [] }]
    assert.deepStrictEqual(
      thrown(() => readOf({ security }, { components })),
      far
    )
    assert.deepStrictEqual(
      thrown(() => readOf({}, { components, security })),
      far
    )
    // an operation without security needs none
    assert.strictEqual(readOf({ security: [] }, { components, security }).id, "get /things")
    assert.strictEqual(readOf({ security: {} }, { components, security }).id, "get /things")
    assert.strictEqual(readOf({ security: [{ other: [] }] }, { components, security }).id, "get /things")
  })
})

describe("an operation", () => {
  it("has servers and parameters, its own before those of its path, with the style and schema of each [P1794 P1797]", () => {
    const servers = (path: string) => [{ url: `https://api.pets.test/${path}` }]
    const serverOf = (operation: object, item: object) =>
      readIn({ servers: servers("root"), paths: { "/a": { get: operation, ...item } } }).server.href
    assert.deepStrictEqual(
      [
        serverOf({ servers: servers("own") }, { servers: servers("item") }),
        serverOf({}, { servers: servers("item") }),
        serverOf({}, {})
      ],
      ["own", "item", "root"].map((path) => `https://api.pets.test/${path}`)
    )
    const schema = { type: "string" }
    const shared = { in: "query", name: "shared", schema, explode: false }
    const root = {
      parts: { Shared: shared },
      paths: {
        "/{id}/x": {
          parameters: [
            { in: "path", name: "id", schema, description: "The id." },
            { in: "query", name: "a", schema: { type: "number" } },
            { in: "path", name: "unused", schema },
            "text",
            { in: "query", schema },
            { name: "nowhere", schema }
          ],
          get: {
            parameters: [
              { in: "query", name: "a", required: true, schema },
              { $ref: "#/parts/Shared" },
              { in: "query", name: "deep", style: "deepObject", explode: true },
              { in: "query", name: "space", style: "spaceDelimited", required: "yes" },
              { in: "query", name: "pipe", style: "pipeDelimited" },
              { in: "query", name: "json", content: { "application/json": { schema: { type: "array" } } } },
              { in: "query", name: "odd", content: { "image/png": { schema } } },
              { in: "header", name: "X-Lang", schema, required: true },
              { in: "header", name: "X-Other", schema },
              { in: "header", name: "Authorization", schema },
              { in: "cookie", name: "c", schema }
            ]
          }
        }
      }
    }
    const { parameters, schema: found } = readIn(root, ["x-lang", "authorization"])
    const parameter = (name: string, style: string, isExploded: boolean, isRequired = false, where = "query") => ({
      name,
      in: where,
      isRequired,
      style,
      isExploded
    })
    assert.deepStrictEqual<unknown>(parameters, [
      parameter("a", "form", true, true),
      parameter("shared", "form", false),
      parameter("deep", "deepObject", true),
      parameter("space", "spaceDelimited", false),
      parameter("pipe", "pipeDelimited", false),
      parameter("json", "json", false),
      parameter("odd", "json", false),
      parameter("X-Lang", "simple", false, true, "header"),
      parameter("id", "simple", false, true, "path")
    ])
    assert.deepStrictEqual<unknown>(
      found,
      object(
        {
          params: object({ id: { type: "string", description: "The id." } }, ["id"]),
          query: object(
            { a: schema, shared: schema, deep: {}, space: {}, pipe: {}, json: { type: "array" }, odd: {} },
            ["a"]
          ),
          headers: object({ "X-Lang": schema }, ["X-Lang"])
        },
        ["params", "query", "headers"]
      )
    )
  })

  it("has a description at a schema of its own, and none beside a reference [P1794 P1796]", () => {
    const parameters = [
      {
        in: "query",
        name: "a",
        schema: { type: "string", description: "of the schema" },
        description: "of the parameter"
      },
      { in: "query", name: "b", schema: { type: "string", description: "of the schema" }, description: 5 },
      { in: "query", name: "c", schema: { $ref: "#/parts/C" }, description: "so" },
      { in: "query", name: "d", schema: true, description: "so" },
      { in: "query", name: "e", schema: {}, description: "x".repeat(1025) }
    ]
    assert.deepStrictEqual<unknown>(readOf({ parameters }, { parts: { C: { type: "number" } } }).schema, {
      ...object({
        query: object({
          a: { type: "string", description: "of the parameter" },
          b: { type: "string", description: "of the schema" },
          c: { $ref: "#/$defs/d1" },
          d: true,
          e: { description: `${"x".repeat(1024)}…` }
        })
      }),
      $defs: { d1: { type: "number" } }
    })
  })

  it("has a body: JSON before a form before text, with its schema [P1794]", () => {
    const schema = { type: "string" }
    const bodyIn = (content: object, required?: unknown) => {
      const { mediaType, schema } = readOf({ requestBody: { content, required } })
      return [mediaType, schema]
    }
    const form = "application/x-www-form-urlencoded"
    for (const [content, mediaType] of [
      [{ "text/plain": {}, [form]: {}, "application/json": { schema } }, "application/json"],
      [{ "text/plain": {}, "application/vnd.a+json": { schema } }, "application/vnd.a+json"],
      [{ "multipart/form-data": {}, "Application/JSON ; charset=utf-8": { schema } }, "application/json"],
      [{ [form]: { schema }, "text/plain": {} }, form],
      [{ "text/plain": {}, [form]: { schema } }, form],
      [{ "text/plain;x=y": { schema }, "text/html": {} }, "text/plain"]
    ] as const) {
      assert.deepStrictEqual<unknown>(bodyIn(content), [mediaType, object({ payload: schema })])
      assert.deepStrictEqual<unknown>(bodyIn(content, true), [mediaType, object({ payload: schema }, ["payload"])])
      assert.deepStrictEqual<unknown>(bodyIn(content, "true"), [mediaType, object({ payload: schema })])
    }
    assert.deepStrictEqual<unknown>(bodyIn({ "text/plain": {} }), ["text/plain", object({ payload: {} })])
    // a body that need not be sent is left out if it cannot be sent
    for (const content of [{ "image/png": {} }, [], {}])
      assert.deepStrictEqual<unknown>(bodyIn(content), [undefined, object({})])
    assert.deepStrictEqual(readOf({ requestBody: {} }).mediaType, undefined)
    assert.deepStrictEqual(
      thrown(() => bodyIn({ "image/png": {} }, true)),
      refused("#/paths/~1things/post/requestBody", "the body has none of the media types JSON, form and text")
    )
  })

  it("has a description of its request, and of its words as data [P1796]", () => {
    const described = (operation: object) => readOf(operation).description
    assert.strictEqual(described({ summary: "Finds.", description: "All." }), "GET /things\n<data>Finds.\nAll.</data>")
    assert.strictEqual(described({ description: " All. " }), "GET /things\n<data>All.</data>")
    assert.strictEqual(described({ summary: 1, description: " " }), "GET /things")
    assert.strictEqual(described({ description: "x".repeat(1025) }), `GET /things\n<data>${"x".repeat(1024)}…</data>`)
    const ofPath = (path: string) => readIn({ paths: { [path]: { get: {} } } }).description
    assert.strictEqual(ofPath("/a-z_!~=;?@"), "GET /a-z_!~=;?@")
    for (const path of ["/a b", "/ä", "/<b>"]) assert.strictEqual(ofPath(path), `GET <data>${path}</data>`)
    assert.strictEqual(ofPath(`/${"x".repeat(1024)}`), `GET /${"x".repeat(1019)}…`)
    assert.strictEqual(ofPath(`/ ${"x".repeat(1024)}`), `GET <data>/ ${"x".repeat(1022)}…</data>`)
  })
})

describe("an operation is refused", () => {
  const refusalOf = (parameter: object) => thrown(() => readOf({ parameters: [parameter] }))
  const of = (what: string) => refused(`${at}/parameters/0`, what)

  it("for a parameter that cannot be sent [P1794 P1796]", () => {
    assert.deepStrictEqual(refusalOf({ in: "body", name: "a" }), of("a parameter in 'body' cannot be sent"))
    for (const style of ["matrix", "label", 5])
      assert.deepStrictEqual(
        refusalOf({ in: "query", name: "a", style }),
        of(`a parameter of style '${style}' cannot be sent`)
      )
    const path = (style: string) => () =>
      readIn({ paths: { "/{a}": { get: { parameters: [{ in: "path", name: "a", style }] } } } })
    for (const style of ["form", "deepObject", "label"])
      assert.deepStrictEqual(
        thrown(path(style)),
        refused("#/paths/~1{a}/get/parameters/0", `a parameter of style '${style}' cannot be sent`)
      )
    assert.strictEqual(path("simple")().parameters[0]?.style, "simple")
    // a style that is not used does not matter
    assert.lengthOf(readOf({ parameters: [{ in: "header", name: "a", style: "matrix" }] }).parameters, 0)
  })

  it("for a path that leads elsewhere, or whose parameters are not declared once [P1793 P1796]", () => {
    const ofPath = (path: string, parameters: ReadonlyArray<object> = []) =>
      thrown(() => readIn({ paths: { [path]: { get: { parameters } } } }))
    const elsewhere = "its path has a segment that leads to another path"
    for (const path of ["/a/..", "/.", "/%2e", "/%2E.", "/%2E%2e/a", "/.%2e"]) {
      const pointer = `#/paths/${path.replaceAll("/", "~1")}/get`
      assert.deepStrictEqual(ofPath(path), refused(pointer, elsewhere))
    }
    for (const path of ["/a\\b", "/a\tb", "/a\u007f"]) {
      assert.deepInclude(ofPath(path), { reason: "unsupported" })
      assert.include((ofPath(path) as Error).message, elsewhere)
    }
    for (const path of ["/", "/...", "/a.", "/.a", "/%2e%2e.", "/%2f"])
      assert.strictEqual(readIn({ paths: { [path]: { get: {} } } }).path, path)
    const twice = refused("#/paths/~1{a}~1{a}/get", "its path has a parameter twice")
    assert.deepStrictEqual(ofPath("/{a}/{a}", [{ in: "path", name: "a" }]), twice)
    const missing = (pointer: string, name: string) =>
      refused(pointer, `the document does not declare the parameter '${name}' of the path`)
    assert.deepStrictEqual(ofPath("/{a}{b}", [{ in: "path", name: "a" }]), missing("#/paths/~1{a}{b}/get", "b"))
    assert.deepStrictEqual(ofPath("/{}", [{ in: "query", name: "" }]), missing("#/paths/~1{}/get", ""))
  })

  it("for a method that no client sends [P1794]", () => {
    const ofMethod = (method: string, operation: object) => () =>
      readIn({ paths: { "/things": { [method]: operation } } })
    const requestBody = {}
    const pointer = (method: string) => `#/paths/~1things/${method}`
    const trace = refused(pointer("trace"), "a request with the method TRACE cannot be sent")
    assert.deepStrictEqual(thrown(ofMethod("trace", {})), trace)
    for (const method of ["get", "head"]) {
      const what = `a request with the method ${method.toUpperCase()} cannot be sent with a body`
      assert.deepStrictEqual(thrown(ofMethod(method, { requestBody })), refused(pointer(method), what))
    }
    for (const method of ["options", "put", "delete", "post", "patch"])
      assert.strictEqual(ofMethod(method, { requestBody })().method, method.toUpperCase())
  })
})
