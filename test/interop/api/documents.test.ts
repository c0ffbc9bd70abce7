/** OpenAPI documents as a whole: which are read, which operations are taken, and what a tool of them says. */
import { assert, describe, it } from "@effect/vitest"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import { Effect, Exit } from "effect"
import { fieldsOf } from "./_support/errors.ts"
import { bodyOf, documentOf } from "./_support/pets.ts"

const hosts = ["http://api.pets.test"]

const made = (document: unknown, options: Partial<DocumentTools.Options> = {}) =>
  DocumentTools.fromDocument(document, { name: "p", hosts, ...options })

const namesOf = (document: unknown, options?: Partial<DocumentTools.Options>) =>
  Effect.map(made(document, options), ({ tools }) => tools.map(({ name }) => name))

const failing = (document: unknown, options?: Partial<DocumentTools.Options>) =>
  Effect.map(Effect.flip(made(document, options)), fieldsOf)

const refused = (pointer: string, reason: string, what: string) => ({
  _tag: "ApiDocumentError",
  message: `OpenAPI document 'p' at ${pointer}: ${what}`,
  api: "p",
  pointer,
  reason
})

/** A document with operations of these ids, each at a path of its own. */
const withIds = (...ids: ReadonlyArray<string>) =>
  documentOf({}, { paths: Object.fromEntries(ids.map((operationId, at) => [`/p${at}`, { get: { operationId } }])) })

describe("a document", () => {
  it.effect("is one of version 3.0 or 3.1 [P1796]", () =>
    Effect.gen(function* () {
      for (const openapi of ["3.0", "3.0.3", "3.1", "3.1.0"])
        assert.deepStrictEqual(yield* namesOf({ ...documentOf({}), openapi }), ["things"])
      const unread = refused("#/openapi", "version", "it is no OpenAPI document of version 3.0 or 3.1")
      for (const openapi of ["3.2.0", "3.10", "2.0", "v3.0", "3", 3.1, undefined])
        assert.deepStrictEqual(yield* failing({ ...documentOf({}), openapi }), unread)
      for (const odd of [null, "3.0", [], 5]) assert.deepStrictEqual(yield* failing(odd), unread)
      // of version 3.0 alone a schema may be nullable
      const schema = bodyOf({ type: "string", nullable: true })
      const typeIn = (openapi: string) =>
        Effect.map(made({ ...documentOf(schema), openapi }), ({ tools }) => {
          const { properties } = Object(tools[0]?.definition.spec().parameters)
          return properties.payload.type
        })
      assert.deepStrictEqual([yield* typeIn("3.0.0"), yield* typeIn("3.1.0")], [["string", "null"], "string"])
    })
  )

  it.effect("has 512 levels at most [P1391 P1796]", () =>
    Effect.gen(function* () {
      let deep: unknown = 1
      for (let level = 0; level < 511; level++) deep = [deep]
      assert.lengthOf(yield* namesOf({ ...documentOf({}), deep }), 1)
      const error = yield* Effect.flip(made({ ...documentOf({}), deep: [deep] }))
      const { message, ...fields } = fieldsOf(error) as { readonly message: string }
      const what = "The OpenAPI document 'p'"
      assert.deepStrictEqual(fields, { _tag: "InputTooLargeError", what, bound: "depth", limit: 512 })
      assert.include(message, `${what} is beyond the bound of 512 levels`)
    })
  )

  it.effect("that cannot be read at all is a defect [P1796]", () =>
    Effect.gen(function* () {
      const thrown = new RangeError("oh")
      const spiteful = {
        get operationId(): string {
          throw thrown
        }
      }
      const document = documentOf({})
      Object.defineProperty(document.paths["/things"], "get", { value: spiteful, enumerable: true })
      assert.deepStrictEqual(yield* Effect.exit(made(document)), Exit.die(thrown))
    })
  )
})

describe("the operations that are taken", () => {
  it.effect("are all, or those of the option, in the order of the document [P1794]", () =>
    Effect.gen(function* () {
      const document = withIds("a", "b", "c")
      assert.deepStrictEqual(yield* namesOf(document), ["a", "b", "c"])
      assert.deepStrictEqual(yield* namesOf(document, { include: ["c", "a"] }), ["a", "c"])
      assert.deepStrictEqual(yield* namesOf(document, { include: [] }), [])
      const unknown = (id: string) => refused("#/paths", "operation", `it has no operation '${id}'`)
      assert.deepStrictEqual(yield* failing(document, { include: ["a", "d"] }), unknown("d"))
      assert.deepStrictEqual(yield* failing(document, { sideEffects: { d: "none" } }), unknown("d"))
      const shared = refused("#/paths", "operation", "more than one operation has the id 'a'")
      assert.deepStrictEqual(yield* failing(withIds("a", "a"), { include: ["a"] }), shared)
      assert.deepStrictEqual(
        (yield* made(withIds("a", "b", "a"))).refused.map(fieldsOf),
        ["0", "2"].map((at) => refused(`#/paths/~1p${at}/get`, "operation", "more than one operation has the id 'a'"))
      )
    })
  )

  it.effect("are 128 at most, or as many as the option says [P1796]", () =>
    Effect.gen(function* () {
      const many = (count: number, most: number) =>
        refused(
          "#/paths",
          "count",
          `it has ${count} operations, and ${most} may be tools: set the option include or maxTools`
        )
      const ids = (count: number) => Array.from({ length: count }, (_, at) => `o${at}`)
      assert.lengthOf(yield* namesOf(withIds(...ids(128))), 128)
      assert.deepStrictEqual(yield* failing(withIds(...ids(129))), many(129, 128))
      assert.lengthOf(yield* namesOf(withIds(...ids(129)), { maxTools: 129 }), 129)
      assert.deepStrictEqual(yield* failing(withIds("a", "b"), { maxTools: 1 }), many(2, 1))
      assert.lengthOf(yield* namesOf(withIds("a", "b"), { maxTools: 1, include: ["b"] }), 1)
    })
  )

  it("have bounds that are positive [P1793 P1796]", () => {
    for (const option of ["maxNodes", "maxTools"])
      for (const bound of [0, -1, 1.5, Number.NaN])
        assert.throws(
          () => made({}, { [option]: bound }),
          RangeError,
          `DocumentTools: ${option} must be an integer of at least 1, got ${bound}`
        )
    assert.throws(() => made({}, { maxResponseBytes: 0 }), RangeError, "maxResponseBytes")
    assert.throws(() => made({}, { timeout: 0 }), RangeError, "timeout")
    assert.throws(() => made({}, { bounds: { depth: 0 } }), RangeError, "depth")
  })

  it.effect("are left out if they cannot be tools, and fail if an option names them [P1794 P1796]", () =>
    Effect.gen(function* () {
      const paths = {
        "/a": { get: { operationId: "a", requestBody: {} } },
        "/far": { $ref: "x.yaml" },
        "/b": { get: { operationId: "b" } }
      }
      const document = documentOf({}, { paths })
      const body = refused("#/paths/~1a/get", "unsupported", "a request with the method GET cannot be sent with a body")
      const far = refused(
        "#/paths/~1far",
        "reference",
        "the reference 'x.yaml' leads out of the document, and is not followed"
      )
      const { refused: all, tools } = yield* made(document)
      assert.deepStrictEqual(all.map(fieldsOf), [far, body])
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["b"]
      )
      assert.deepStrictEqual((yield* made(document, { include: ["b"] })).refused, [])
      assert.deepStrictEqual(yield* failing(document, { include: ["b", "a"] }), body)
      // the schema of a tool has bounds too
      const long = documentOf(bodyOf({ enum: ["x".repeat(2000)] }))
      const { message: _message, ...beyond } = (yield* failing(long, {
        include: ["things"],
        bounds: { bytes: 1000 }
      })) as { readonly message: string }
      const what = "The input schema of operation 'things' of the API 'p'"
      assert.deepStrictEqual(beyond, { _tag: "InputTooLargeError", what, bound: "bytes", limit: 1000 })
    })
  )
})

it.effect("a tool says which operation of which API it is, and what it does [P1791 P1794]", () =>
  Effect.gen(function* () {
    const id = `get.${"x".repeat(300)}`
    const document = documentOf({}, { paths: { "/a": { get: { operationId: id }, patch: {} } } })
    const { tools } = yield* made(document, {
      name: "shop",
      hosts: ["HTTP://API.pets.TEST"],
      sideEffects: { "patch /a": "idempotent" },
      maxResultChars: 5
    })
    assert.deepStrictEqual(
      tools.map(({ definition, name }) => [
        name,
        definition.foreignName,
        definition.server,
        definition.description,
        definition.kind,
        definition.sideEffects,
        definition.maxResultChars
      ]),
      [
        [`get_${"x".repeat(60)}`, `get.${"x".repeat(196)}…`, "shop", "GET /a", "web-service", "none", 5],
        ["patch__a", "patch /a", "shop", "PATCH /a", "web-service", "idempotent", 5]
      ]
    )
  })
)
