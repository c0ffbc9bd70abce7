/** Endpoints of an `HttpApi` of every form: what the model reads of them, what is sent, and what comes of their answers. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import { Effect, Layer, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { fieldsOf } from "./_support/errors.ts"
import { served } from "./_support/shop.ts"

class Gone extends Schema.TaggedError<Gone>()("Gone", { id: Schema.Int }, { httpApiStatus: 410 }) {}

const Note = Schema.Struct({ text: Schema.String })

const notes = HttpApiGroup.make("notes").add(
  HttpApiEndpoint.get("plain", "/notes"),
  HttpApiEndpoint.get("said", "/notes/said").annotate(OpenApi.Summary, "Says.").annotate(OpenApi.Description, "More."),
  HttpApiEndpoint.get("find", "/notes/:id", {
    params: { id: Schema.FiniteFromString },
    query: { page: Schema.FiniteFromString, sort: Schema.optionalKey(Schema.String) },
    success: Note,
    error: Gone
  }),
  HttpApiEndpoint.get("search", "/search", {
    query: { text: Schema.optionalKey(Schema.String) },
    headers: { "x-lang": Schema.optionalKey(Schema.String), "x-tenant": Schema.optionalKey(Schema.String) },
    success: Schema.Array(Schema.String)
  }),
  HttpApiEndpoint.get("filter", "/filter", {
    payload: { since: Schema.FiniteFromString },
    success: Schema.Finite
  }),
  HttpApiEndpoint.post("put", "/notes", {
    payload: [Note, Schema.Struct({ on: Schema.Date })],
    success: [Note, HttpApiSchema.NoContent]
  }),
  HttpApiEndpoint.post("count", "/count", {
    payload: Schema.Struct({ n: Schema.FiniteFromString }),
    success: Schema.Finite
  }),
  HttpApiEndpoint.post("form", "/form", {
    payload: Schema.Struct({ n: Schema.FiniteFromString }).pipe(HttpApiSchema.asFormUrlEncoded()),
    success: Schema.String.pipe(HttpApiSchema.asText())
  }),
  HttpApiEndpoint.post("upload", "/upload", {
    payload: Schema.Struct({ name: Schema.String }).pipe(HttpApiSchema.asMultipart())
  }),
  HttpApiEndpoint.get("headed", "/headed", {
    success: HttpApiSchema.WithHeaders(Note, { "x-count": Schema.FiniteFromString })
  }),
  HttpApiEndpoint.get("folded", "/folded", {
    success: Schema.Struct({ text: Schema.String, count: Schema.Finite }).pipe(
      HttpApiSchema.encodeToWithHeaders(
        { body: Note, headers: { "x-count": Schema.Finite } },
        {
          decode: ({ body, headers }) => ({ text: body.text, count: headers["x-count"] }),
          encode: ({ count, text }) => ({ body: { text }, headers: { "x-count": count } })
        }
      )
    )
  })
)

const baseUrl = "http://notes.test"

const made = () => HttpApiTools.fromGroup(notes, { baseUrl, headers: ["x-lang"] })

const tools = made()

const parametersOf = (tool: Tool.AnyTool) => tool.definition.spec().parameters

/** What a call gives, and what its server is asked. */
const calling = <A, E>(call: Effect.Effect<A, E, HttpClient.HttpClient>, answer: () => Response) =>
  Effect.gen(function* () {
    const { asked, layer } = served(answer)
    const result = yield* Effect.result(Effect.provide(call, layer))
    const sent = asked.map(({ body, headers, method, path }) => [method, path, headers.get("content-type"), body])
    return { result, sent }
  })

const valueOf = <A, E>(call: Effect.Effect<A, E, HttpClient.HttpClient>, answer: () => Response) =>
  Effect.flatMap(calling(call, answer), ({ result, sent }) =>
    Effect.map(Effect.fromResult(result), (value) => ({ value, sent }))
  )

/** The cause of a failed call, without the names that all have. */
const causeOf = <A, E>(call: Effect.Effect<A, E, HttpClient.HttpClient>, answer: () => Response) =>
  Effect.map(Effect.flip(valueOf(call, answer)), (error): Readonly<Record<string, unknown>> => {
    assert(error instanceof ToolError.ExecutionError && error.cause instanceof Error)
    const { api: _api, message, ...more } = fieldsOf(error.cause) as Readonly<Record<string, unknown>>
    return { ...more, said: String(message).replace(/^operation '\w+' of the API 'notes': /, "") }
  })

describe("a tool", () => {
  it("says what its endpoint says of itself, or method and path [P1790]", () => {
    assert.strictEqual(tools.plain.definition.description, "GET /notes")
    assert.strictEqual(tools.said.definition.description, "Says.\nMore.")
    const { kind, server } = tools.said.definition
    assert.deepStrictEqual([server, kind], ["notes", "web-service"])
  })

  it("has the parts of the request as parameters, in their JSON form [P1790]", () => {
    assert.deepStrictEqual(Object.keys(Object(parametersOf(tools.plain)["properties"])), [])
    assert.deepNestedInclude(parametersOf(tools.find), {
      "properties.params.properties.id.type": "number",
      "properties.query.properties.page.type": "number",
      required: ["params", "query"]
    })
    assert.deepStrictEqual(Object.keys(Object(parametersOf(tools.search)["properties"])), ["query", "headers"])
    assert.notProperty(parametersOf(tools.search), "required")
    assert.deepNestedInclude(parametersOf(tools.filter), {
      "properties.payload.properties.since.type": "number",
      required: ["payload"]
    })
    assert.deepNestedInclude(parametersOf(tools.form), { "properties.payload.properties.n.type": "number" })
    assert.deepNestedInclude(parametersOf(tools.put), {
      "properties.payload.anyOf[0].properties.text.type": "string",
      "properties.payload.anyOf[1].properties.on.type": "string"
    })
  })

  it("has the body of a request as its JSON has it, and a query as it is meant [P1790]", () => {
    const { count, filter } = made()
    assert.nestedPropertyVal(parametersOf(count), "properties.payload.properties.n.type", "string")
    assert.nestedPropertyVal(parametersOf(filter), "properties.payload.properties.since.type", "number")
  })

  it("is made of no form with files [P1790]", () => {
    assert.notProperty(tools, "upload")
    assert.deepStrictEqual(Object.keys(tools), [
      "plain",
      "said",
      "find",
      "search",
      "filter",
      "put",
      "count",
      "form",
      "headed",
      "folded"
    ])
  })

  it("has no headers that cannot be picked one by one [P1790]", () => {
    const headers = Schema.Struct({ tenant: Schema.String }).pipe(Schema.encodeKeys({ tenant: "x-tenant" }))
    const odd = HttpApiGroup.make("odd").add(HttpApiEndpoint.get("look", "/", { headers }))
    const says = "Tool 'look': the headers must be a struct, so that some of them can be for the model"
    assert.throws(() => HttpApiTools.fromGroup(odd, { headers: ["tenant"] }), TypeError, says)
    assert.notProperty(HttpApiTools.fromGroup(odd).look.definition.spec().parameters["properties"], "headers")
    const none: object = { headers: ["x-other"] }
    assert.deepStrictEqual(
      Object.keys(Object(parametersOf(HttpApiTools.fromGroup(notes, none).search)["properties"])),
      ["query"]
    )
  })

  it("has a name that no other has [P1790 P1791]", () => {
    const api = HttpApi.make("twice").add(
      HttpApiGroup.make("a", { topLevel: true }).add(HttpApiEndpoint.get("b_c", "/1")),
      HttpApiGroup.make("b").add(HttpApiEndpoint.get("c", "/2"))
    )
    assert.throws(() => HttpApiTools.fromApi(api), TypeError, "HttpApiTools: there are two tools named 'b_c'")
    const wrong: object = { sideEffects: { b_c: "none" } }
    assert.throws(() => HttpApiTools.fromGroup(notes, wrong), TypeError, "HttpApiTools: there is no tool 'b_c'")
    const dotted = HttpApi.make("dotted").add(
      HttpApiGroup.make("a.b").add(HttpApiEndpoint.get("c", "/1"), HttpApiEndpoint.head("d", "/2"))
    )
    const made = HttpApiTools.fromApi(dotted, { include: ["a.b_c"] })
    assert.deepStrictEqual(
      Object.entries(made).map(([key, { definition, name }]) => [key, name, definition.foreignName]),
      [["a.b_c", "a_b_c", "c"]]
    )
  })
})

describe("a call", () => {
  it.effect("sends its parts in the form of the endpoint, with the headers of the model alone [P1790]", () =>
    Effect.gen(function* () {
      const note = () => Response.json({ text: "so" })
      const found = yield* valueOf(Tool.call(tools.find, { params: { id: 7 }, query: { page: 2 } }), note)
      assert.deepStrictEqual(found, { value: { text: "so" }, sent: [["GET", "/notes/7?page=2", null, ""]] })
      const { asked, layer } = served(() => Response.json(["a"]))
      for (const params of [{}, { headers: { "x-lang": "no" } }])
        assert.deepStrictEqual(yield* Effect.provide(Tool.call(tools.search, params), layer), ["a"])
      assert.deepStrictEqual(
        asked.map(({ headers, path }) => [path, headers.get("x-lang"), headers.get("x-tenant")]),
        [
          ["/search", null, null],
          ["/search", "no", null]
        ]
      )
      const filtered = yield* valueOf(Tool.call(tools.filter, { payload: { since: 5 } }), () => Response.json(1))
      assert.deepStrictEqual(filtered, { value: 1, sent: [["GET", "/filter?since=5", null, ""]] })
      const form = yield* valueOf(Tool.call(tools.form, { payload: { n: 5 } }), () => new Response("ok"))
      assert.deepStrictEqual(form, {
        value: "ok",
        sent: [["POST", "/form", "application/x-www-form-urlencoded", "n=5"]]
      })
      const on = "1970-01-01T00:00:00.000Z"
      const dated = yield* valueOf(Tool.call(tools.put, { payload: { on } }), () => new Response(null, { status: 204 }))
      assert.deepStrictEqual(dated, {
        value: undefined,
        sent: [["POST", "/notes", "application/json", JSON.stringify({ on })]]
      })
    })
  )

  it.effect("gives the body of an answer with headers, or what the endpoint makes of both [P1790]", () =>
    Effect.gen(function* () {
      const answer = () => Response.json({ text: "so" }, { headers: { "x-count": "3" } })
      const headed = yield* valueOf(Tool.call(tools.headed, {}), answer)
      assert.deepStrictEqual(headed.value, { text: "so" })
      const folded = yield* valueOf(Tool.call(tools.folded, {}), answer)
      assert.deepStrictEqual(folded.value, { text: "so", count: 3 })
      const { success } = made().folded.definition
      assert.deepStrictEqual(Schema.encodeUnknownSync(success)(folded.value), { text: "so", count: 3 })
    })
  )

  it.effect("fails with the status of an answer, declared in another form or not at all [P1792]", () =>
    Effect.gen(function* () {
      const find = Tool.call(tools.find, { params: { id: 7 }, query: { page: 2 } })
      const gone = yield* Effect.flip(valueOf(find, () => Response.json({ _tag: "Gone", id: 7 }, { status: 410 })))
      assert(gone instanceof Gone)
      assert.strictEqual(gone.id, 7)
      const undeclared = yield* causeOf(
        find,
        () => new Response("tea", { status: 418, headers: { "retry-after": "5" } })
      )
      const refused = { _tag: "ApiError", operation: "find", reason: "arguments", category: "parameter" }
      assert.deepStrictEqual(undeclared, { ...refused, status: 418, said: "status 418: tea" })
      const other = yield* causeOf(find, () => new Response("no longer", { status: 410 }))
      assert.deepStrictEqual(other, { ...refused, status: 410, said: "status 410: no longer" })
      const long = yield* causeOf(find, () => new Response("x".repeat(20_000), { status: 410 }))
      assert.deepStrictEqual(long, { ...refused, status: 410, said: `status 410: ${"x".repeat(2000)}…` })
      const busy = yield* causeOf(find, () => new Response(null, { status: 503, headers: { "retry-after": "5" } }))
      assert.deepInclude({ ...busy }, { reason: "busy", status: 503, said: "status 503" })
      assert.property(busy, "suggestedDelay")
    })
  )

  it.effect("fails for an answer that is in none of the forms of its status [P1792]", () =>
    Effect.gen(function* () {
      const forms = [Note, Schema.String.pipe(HttpApiSchema.asText())] as const
      const endpoint = HttpApiEndpoint.get("either", "/either", { success: forms })
      const { either } = HttpApiTools.fromGroup(HttpApiGroup.make("notes").add(endpoint), { baseUrl })
      const call = Tool.call(either, {})
      assert.deepStrictEqual((yield* valueOf(call, () => Response.json({ text: "so" }))).value, { text: "so" })
      assert.strictEqual((yield* valueOf(call, () => new Response("so"))).value, "so")
      const { said, ...odd } = yield* causeOf(call, () => new Response("so", { headers: { "content-type": "a/b" } }))
      assert.deepStrictEqual(odd, {
        _tag: "ApiError",
        operation: "either",
        reason: "result",
        category: "validation",
        isRetryable: false,
        recovery: "none"
      })
      assert.match(String(said), /^its answer does not fit: .*Unsupported response content-type/)
    })
  )

  it.effect("knows the status that a client refuses itself [P1792]", () =>
    Effect.gen(function* () {
      const strict = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
      const refusing = (status: number) => {
        const { layer } = served(() => new Response("tea", { status, headers: { "retry-after": "5" } }))
        return Effect.map(
          Effect.flip(Effect.provide(Tool.call(tools.plain, {}), Layer.provide(strict, layer))),
          (error) => {
            assert(error instanceof ToolError.ExecutionError && error.cause instanceof Error)
            return fieldsOf(error.cause) as Readonly<Record<string, unknown>>
          }
        )
      }
      const message = (status: number) => `operation 'plain' of the API 'notes': status ${status}`
      assert.deepStrictEqual(yield* refusing(418), {
        _tag: "ApiError",
        message: message(418),
        api: "notes",
        operation: "plain",
        reason: "arguments",
        status: 418,
        category: "parameter"
      })
      assert.deepInclude(yield* refusing(302), { reason: "redirect", status: 302, isRetryable: false })
      const busy = yield* refusing(429)
      assert.strictEqual(busy["message"], message(429))
      assert.property(busy, "suggestedDelay")
    })
  )

  it.effect("fails with the failure of the connection, and dies with a defect of the client [P1790 P1792]", () =>
    Effect.gen(function* () {
      const { layer } = served(() => Promise.reject(new TypeError("fetch failed")))
      const lost = yield* Effect.flip(Effect.provide(Tool.call(tools.plain, {}), layer))
      assert.deepInclude(lost, { _tag: "ExecutionError", tool: "plain", category: "network", args: {} })
      for (const defect of [new Error("oh"), "path parameter"]) {
        const dying = HttpClient.make(() => Effect.die(defect))
        const exit = yield* Effect.exit(Effect.provideService(Tool.call(tools.plain, {}), HttpClient.HttpClient, dying))
        assert(exit._tag === "Failure")
        assert.deepStrictEqual(
          exit.cause.reasons.map((reason) => reason._tag === "Die" && reason.defect),
          [defect]
        )
      }
    })
  )

  it.effect("lets fetch follow no redirect, and keeps its other options [P1792]", () =>
    Effect.gen(function* () {
      const inits: Array<unknown> = []
      const fetching = Layer.provide(
        FetchHttpClient.layer,
        Layer.succeed(FetchHttpClient.Fetch, async (_input, init) => {
          inits.push([init?.redirect, init?.credentials])
          return new Response(null, { status: 204 })
        })
      )
      const call = Effect.provide(Tool.call(tools.plain, {}), fetching)
      yield* call
      yield* Effect.provideService(call, FetchHttpClient.RequestInit, { redirect: "follow", credentials: "omit" })
      assert.deepStrictEqual(inits, [
        ["manual", undefined],
        ["manual", "omit"]
      ])
    })
  )

  it.effect("that cannot be sent has an argument to mend, and sends nothing [P1793]", () =>
    Effect.gen(function* () {
      const find = HttpApiTools.fromGroup(
        HttpApiGroup.make("notes").add(HttpApiEndpoint.get("byName", "/n/:name", { params: { name: Schema.String } })),
        { baseUrl }
      ).byName
      const unsendable = { _tag: "ApiError", operation: "byName", reason: "arguments", category: "parameter" }
      const answer = () => assert.fail("it is sent")
      for (const [name, said] of [
        ["..", "Invalid path parameter: name"],
        ["\ud800", "URI malformed"]
      ] as const)
        assert.deepStrictEqual(yield* causeOf(Tool.call(find, { params: { name } }), answer), { ...unsendable, said })
    })
  )
})
