/** Requests of the operations of OpenAPI documents, and what is read of their answers. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as DocumentTools from "@kintsugi/interop/DocumentTools"
import { Duration, Effect, Layer } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { fieldsOf } from "./_support/errors.ts"
import { documentOf } from "./_support/pets.ts"
import { served } from "./_support/shop.ts"

const json = { "content-type": "application/json" }

/** The tool of the only operation of a document. */
const toolOf = (document: object, options: Partial<DocumentTools.Options> = {}) =>
  Effect.map(
    DocumentTools.fromDocument(document, { name: "pets", hosts: ["http://api.pets.test"], ...options }),
    ({ tools: [tool, ...more] }) => {
      assert(tool !== undefined)
      assert.lengthOf(more, 0)
      return tool
    }
  )

/** What a server is asked when the only operation of a document is called. */
const askedOf = (document: object, params: object, options?: Partial<DocumentTools.Options>) =>
  Effect.gen(function* () {
    const { asked, layer } = served(() => Response.json("so"))
    assert.strictEqual(
      yield* Effect.provide(Tool.call(yield* toolOf(document, options), JSON.stringify(params)), layer),
      "so"
    )
    const [one, ...more] = asked
    assert(one !== undefined)
    assert.lengthOf(more, 0)
    const { body, headers, method, path } = one
    return [method, path, headers.get("content-type"), body]
  })

/** The cause of the failure of a call, without the names that all have. */
const causeOf = (error: unknown): Readonly<Record<string, unknown>> => {
  assert(error instanceof ToolError.ExecutionError && error.cause instanceof Error)
  const {
    api: _api,
    message,
    operation: _operation,
    ...more
  } = fieldsOf(error.cause) as Readonly<Record<string, unknown>>
  return { ...more, said: String(message).replace("operation 'things' of the API 'pets': ", "") }
}

const unsendable = (said: string) => ({ _tag: "ApiError", reason: "arguments", category: "parameter", said })

const inPath = (path: string, ...names: ReadonlyArray<string>) =>
  documentOf(
    {},
    {
      paths: {
        [path]: { get: { operationId: "things", parameters: names.map((name) => ({ in: "path", name, schema: {} })) } }
      }
    }
  )

describe("a request", () => {
  it.effect("has the path of its server, and each parameter in its segment [P1793 P1794]", () =>
    Effect.gen(function* () {
      const document = inPath("/x{a}-{b}/{c}", "a", "b", "c")
      const params = { params: { a: "1/2", b: "", c: ["ü", 3] } }
      for (const baseUrl of ["http://api.pets.test/v1", "http://api.pets.test/v1/"])
        assert.deepStrictEqual((yield* askedOf(document, params, { baseUrl }))[1], "/v1/x1%2F2-/%C3%BC%2C3")
      // an argument beside those of the path is missing
      const optional = documentOf({
        parameters: ["a", "b"].map((name) => ({ in: "query", name, schema: {} }))
      })
      assert.deepStrictEqual(yield* askedOf(optional, { query: { b: "1 &" } }), ["GET", "/things?b=1+%26", null, ""])
      assert.deepStrictEqual(yield* askedOf(optional, {}), ["GET", "/things", null, ""])
    })
  )

  it.effect("has a body of its media type, and none without a payload [P1794]", () =>
    Effect.gen(function* () {
      const of = (type: string, schema: object = {}) => documentOf({ requestBody: { content: { [type]: { schema } } } })
      const sent = (type: string, params: object) => askedOf(of(type), params)
      const form = "application/x-www-form-urlencoded"
      for (const type of ["application/json", "text/plain", form])
        assert.deepStrictEqual(yield* sent(type, {}), ["POST", "/things", null, ""])
      assert.deepStrictEqual(yield* sent("application/json", { payload: "a" }), [
        "POST",
        "/things",
        "application/json",
        '"a"'
      ])
      assert.deepStrictEqual(yield* sent("application/vnd.a+json; x=y", { payload: null }), [
        "POST",
        "/things",
        "application/vnd.a+json",
        "null"
      ])
      assert.deepStrictEqual(yield* sent("text/plain", { payload: "a b" }), ["POST", "/things", "text/plain", "a b"])
      assert.deepStrictEqual(yield* sent("text/plain", { payload: [1] }), ["POST", "/things", "text/plain", "[1]"])
      const payload = { a: "x y", b: [1, "&"], c: { d: 1, e: null }, f: [] }
      assert.deepStrictEqual(yield* sent(form, { payload }), ["POST", "/things", form, "a=x+y&b=1&b=%26&d=1&e=null"])
      assert.deepStrictEqual(yield* sent(form, { payload: "text" }), ["POST", "/things", form, ""])
      // an operation without a body sends none
      assert.deepStrictEqual((yield* askedOf(documentOf({ payload: 1 }), {}))[3], "")
    })
  )

  it.effect("has the headers that the model may fill, and says what it reads [P1794 P1795]", () =>
    Effect.gen(function* () {
      const { asked, layer } = served(() => Response.json("so"))
      const parameters = ["X-Lang", "X-List"].map((name) => ({ in: "header", name, schema: {}, explode: true }))
      const tool = yield* toolOf(documentOf({ parameters }), { headers: ["x-lang", "X-LIST"] })
      yield* Effect.provide(Tool.call(tool, { headers: { "X-Lang": "\tä ~", "X-List": { a: 1, b: 2 } } }), layer)
      yield* Effect.provide(Tool.call(tool, {}), layer)
      assert.deepStrictEqual(
        asked.map(({ headers }) => ["accept", "x-lang", "x-list"].map((name) => headers.get(name))),
        [
          ["application/json, text/*;q=0.9, */*;q=0.1", "ä ~", "a=1,b=2"],
          ["application/json, text/*;q=0.9, */*;q=0.1", null, null]
        ]
      )
    })
  )

  it.effect("that cannot be sent is an argument to mend, and says why [P1793 P1795]", () =>
    Effect.gen(function* () {
      const failing = (document: object, params: object, options?: Partial<DocumentTools.Options>) =>
        Effect.gen(function* () {
          const { asked, layer } = served(() => Response.json("so"))
          const tool = yield* toolOf(document, options)
          const error = yield* Effect.flip(Effect.provide(Tool.call(tool, JSON.stringify(params)), layer))
          assert.deepStrictEqual(asked, [])
          return causeOf(error)
        })
      const surrogate = "a parameter of the path has half of a surrogate pair, which no address can have"
      assert.deepStrictEqual(
        yield* failing(inPath("/{a}/{b}", "a", "b"), { params: { a: "x", b: "\ud800" } }),
        unsendable(surrogate)
      )
      const elsewhere = unsendable("a parameter of the path is empty, or leads to another path")
      for (const a of ["", ".", ".."])
        assert.deepStrictEqual(yield* failing(inPath("/{a}/b", "a"), { params: { a } }), elsewhere)
      assert.deepStrictEqual(yield* failing(inPath("/%2e{a}", "a"), { params: { a: "." } }), elsewhere)
      const securitySchemes = { key: { type: "apiKey", in: "query", name: "Key" } }
      const free = documentOf(
        { parameters: [{ in: "query", name: "more", schema: {} }] },
        { components: { securitySchemes } }
      )
      assert.deepStrictEqual(
        yield* failing(free, { query: { more: { a: 1, kEY: "mine" } } }),
        unsendable("the query may not have 'kEY'")
      )
      const lang = documentOf({ parameters: [{ in: "header", name: "X-Lang", schema: {} }] })
      for (const odd of ["a\nb", "\u007f", "\u0100", "\u0000"])
        assert.deepStrictEqual(
          yield* failing(lang, { headers: { "X-Lang": odd } }, { headers: ["x-lang"] }),
          unsendable("the header 'X-Lang' has characters that no header may have")
        )
    })
  )
})

/** What the only operation of a document gives for an answer, or the cause of its failure. */
const answered = (answer: () => Response, options?: Partial<DocumentTools.Options>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.result(
      Effect.provide(Tool.call(yield* toolOf(documentOf({}), options), {}), served(answer).layer)
    )
    return exit._tag === "Success" ? exit.success : causeOf(exit.failure)
  })

describe("an answer", () => {
  it.effect("is JSON by its media type, else a text, and null without a body [P1798]", () =>
    Effect.gen(function* () {
      const of = (body: string | null, type?: string, status = 200) =>
        answered(() => new Response(body, { status, headers: type === undefined ? {} : { "content-type": type } }))
      assert.deepStrictEqual(yield* of("[1]", "application/json"), [1])
      assert.deepStrictEqual(yield* of("[1]", " Application/JSON ; charset=utf-8", 299), [1])
      assert.deepStrictEqual(yield* of("[1]", "application/problem+json"), [1])
      for (const type of ["text/plain", "application/jsonl", "application/x"])
        assert.deepStrictEqual(yield* of("[1]", type), "[1]")
      assert.deepStrictEqual(yield* of("", "application/json"), null)
      assert.deepStrictEqual(yield* of(null, undefined, 204), null)
      assert.deepStrictEqual(yield* of("{", "application/json"), {
        _tag: "ApiError",
        reason: "result",
        category: "validation",
        isRetryable: false,
        recovery: "none",
        said: "its answer does not fit: it is no JSON"
      })
    })
  )

  it.effect("has as many levels as its bound says [P1798]", () =>
    Effect.gen(function* () {
      const nested = (levels: number) =>
        answered(() => new Response("[".repeat(levels) + "]".repeat(levels), { headers: json }), {
          bounds: { depth: 3 }
        })
      assert.deepStrictEqual(yield* nested(3), [[[]]])
      assert.deepInclude(yield* nested(4), { _tag: "InputTooLargeError", bound: "depth", limit: 3 })
    })
  )

  it.effect("of another status is an error with the words of the API [P1798]", () =>
    Effect.gen(function* () {
      const of = (status: number, headers = {}) => answered(() => new Response(null, { status, headers }))
      assert.deepInclude(yield* of(304), { reason: "redirect", status: 304, said: "status 304" })
      const { said, suggestedDelay } = (yield* of(429, { "retry-after": "3" })) as Readonly<Record<string, unknown>>
      assert.strictEqual(said, "status 429")
      assert.strictEqual(Duration.toMillis(Object(suggestedDelay)), 3000)
      for (const status of [300, 399])
        assert.deepInclude(
          yield* answered(() => new Response(" no ", { status, headers: { location: "http://b.test" } })),
          {
            reason: "redirect",
            said: `status ${status}: it redirects to the host b.test`
          }
        )
    })
  )
})

describe("a redirect", () => {
  /** The addresses that are requested when each has the next one as its location, and the end. */
  const following = (locations: ReadonlyArray<string | undefined>, options: Partial<DocumentTools.Options> = {}) =>
    Effect.gen(function* () {
      const requested: Array<string> = []
      const { layer } = served((request) => {
        requested.push(request.url)
        const location = locations[requested.length - 1]
        return requested.length > locations.length
          ? Response.json("here")
          : new Response(null, { status: 308, headers: location === undefined ? {} : { location } })
      })
      const tool = yield* toolOf(documentOf({}), options)
      const end = yield* Effect.result(Effect.provide(Tool.call(tool, {}), layer))
      return { requested, end: end._tag === "Success" ? end.success : causeOf(end.failure) }
    })

  const refused = (text: string) => ({
    _tag: "ApiError",
    reason: "redirect",
    status: 308,
    category: "client",
    isRetryable: false,
    recovery: "none",
    said: `status 308: ${text}`
  })

  it.effect("is followed five times, also to a relative address [P1797]", () =>
    Effect.gen(function* () {
      const base = "http://api.pets.test"
      const five = ["/1", "2?a=1", "./3", `${base}/4`, "//api.pets.test/5"]
      assert.deepStrictEqual(yield* following(five), {
        requested: ["/things", "/1", "/2?a=1", "/3", "/4", "/5"].map((path) => base + path),
        end: "here"
      })
      const six = yield* following([...five, "/6"])
      assert.lengthOf(six.requested, 6)
      assert.deepStrictEqual(six.end, refused("it redirects to the host api.pets.test"))
    })
  )

  it.effect("to no address, to another host, or out of TLS is refused [P1797]", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* following([undefined])).end, refused("it redirects to no address"))
      assert.deepStrictEqual((yield* following(["http://["])).end, refused("it redirects to no address"))
      assert.deepStrictEqual(
        (yield* following(["http://b.test:81/x"])).end,
        refused("it redirects to the host b.test:81")
      )
      const baseUrl = "https://api.pets.test"
      assert.deepStrictEqual(
        (yield* following(["http://api.pets.test/x"], { baseUrl })).end,
        refused("it redirects to the host api.pets.test")
      )
      assert.strictEqual((yield* following(["https://api.pets.test/x"], { baseUrl })).end, "here")
      assert.strictEqual((yield* following(["https://api.pets.test/x"])).end, "here")
    })
  )

  it.effect("is left to no client: one that follows it is refused where it ends, and fetch is told so [P1797]", () =>
    Effect.gen(function* () {
      const tool = yield* toolOf(documentOf({}))
      const away = HttpClient.make(() =>
        Effect.succeed(
          HttpClientResponse.fromWeb(
            HttpClientRequest.get("http://b.test:81/x"),
            new Response("[1]", { headers: json })
          )
        )
      )
      const error = yield* Effect.flip(Effect.provideService(Tool.call(tool, {}), HttpClient.HttpClient, away))
      assert.deepStrictEqual(causeOf(error), { ...refused("b.test:81"), status: 302, said: "status 302: b.test:81" })
      // a client whose answers say no address is taken at its word
      const silent = HttpClient.make(() =>
        Effect.succeed(HttpClientResponse.fromWeb(HttpClientRequest.get("/x"), new Response("[1]", { headers: json })))
      )
      assert.deepStrictEqual(yield* Effect.provideService(Tool.call(tool, {}), HttpClient.HttpClient, silent), [1])
      const inits: Array<unknown> = []
      const fetching = Layer.provide(
        FetchHttpClient.layer,
        Layer.succeed(FetchHttpClient.Fetch, async (_input, init) => {
          inits.push([init?.redirect, init?.credentials])
          return Response.json("so")
        })
      )
      const asked = Effect.provide(Tool.call(tool, {}), fetching)
      yield* asked
      yield* Effect.provideService(asked, FetchHttpClient.RequestInit, { redirect: "follow", credentials: "omit" })
      assert.deepStrictEqual(inits, [
        ["manual", undefined],
        ["manual", "omit"]
      ])
    })
  )
})
