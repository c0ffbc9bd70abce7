/** Tools of an API that is declared with `effect/http-api`. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import { Effect, Layer } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { authorised, books, handler, listen, served, Shop } from "./_support/shop.ts"

const tools = HttpApiTools.fromApi(Shop)

/** The shop behind a function, with the client of a user. */
const shop = (handle: (request: Request) => Promise<Response> | Response = handler()) => {
  const { asked, layer } = served(handle)
  return { asked, layer: Layer.provide(authorised(), layer) }
}

/** How a purchase fails if the server answers so. */
const failing = (answer: () => Response, maxResponseBytes = 1000) =>
  Effect.gen(function* () {
    const { books_buy } = HttpApiTools.fromApi(Shop, { maxResponseBytes })
    const error = yield* Effect.flip(Tool.call(books_buy, { payload: { isbn: "1", copies: 1 } }))
    assert(error instanceof ToolError.ExecutionError)
    assert.deepInclude(error, { tool: "books_buy", kind: "web-service" })
    return error
  }).pipe(Effect.provide(shop(answer).layer))

it.effect("each endpoint is a tool that sends what it declares over the client in the context [P1790]", () =>
  Effect.gen(function* () {
    const { asked, layer } = shop()
    const found = yield* Tool.call(tools.books_find, { params: { isbn: "a/b" }, query: { edition: "2" } }).pipe(
      Effect.provide(layer)
    )
    assert.deepStrictEqual(found, { isbn: "a/b/2/t1", price: 9.5, printed: new Date(0) })
    assert.strictEqual(yield* Tool.call(tools.health, {}).pipe(Effect.provide(layer)), "well")
    const order = { payload: { isbn: "1", copies: 2, on: "2026-01-02T00:00:00Z" } }
    assert.deepStrictEqual(yield* Tool.call(tools.books_buy, order).pipe(Effect.provide(layer)), { order: 2 })
    yield* Tool.call(tools.books_drop, { params: { isbn: "1" } }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      asked.map(({ headers, method, path }) => [method, path, headers.get("authorization")]),
      [
        ["GET", "/books/a%2Fb?edition=2", "Bearer s3cret"],
        ["GET", "/health", "Bearer s3cret"],
        ["POST", "/orders", "Bearer s3cret"],
        ["DELETE", "/books/1", "Bearer s3cret"]
      ]
    )
    assert.deepStrictEqual(JSON.parse(asked[2]?.body ?? ""), { ...order.payload, on: "2026-01-02T00:00:00.000Z" })
  })
)

it("the model reads the schemas of the endpoint, and no header that the caller does not allow [P1790]", () => {
  const { definition } = tools.books_find
  assert.strictEqual(definition.description, "Finds a book.")
  const { properties } = definition.spec().parameters
  assert.deepStrictEqual(Object.keys(Object(properties)), ["params", "query"])
  assert.deepNestedInclude(Object(properties), { "query.properties.edition.type": "integer" })
  const allowed = HttpApiTools.fromGroup(books, { headers: ["accept-language"], include: ["find"] })
  assert.deepStrictEqual(Object.keys(allowed), ["find"])
  const headers = Object(allowed.find.definition.spec().parameters["properties"])["headers"]
  assert.deepStrictEqual(Object.keys(headers.properties), ["accept-language"])
})

it("streams are left out, names are those of group and endpoint, and the method is the effect [P1790 P1791]", () => {
  assert.deepStrictEqual(
    Object.values(tools).map(({ definition, name }) => [name, definition.sideEffects]),
    [
      ["books_find", "none"],
      ["books_buy", "unsafe"],
      ["books_price", "idempotent"],
      ["books_drop", "idempotent"],
      ["health", "none"]
    ]
  )
  const { books_buy } = HttpApiTools.fromApi(Shop, { sideEffects: { books_buy: "idempotent" } })
  assert.strictEqual(books_buy.definition.sideEffects, "idempotent")
  const wrong: object = { include: ["books_watch"] }
  assert.throws(() => HttpApiTools.fromApi(Shop, wrong), /there is no tool 'books_watch'/)
})

it.effect(
  "an answer that does not fit, is too long, or declares an error in another form fails typed [P1792 P1793]",
  () =>
    Effect.gen(function* () {
      for (const answer of [() => Response.json({ order: "none" }), () => new Response("{")]) {
        const odd = yield* failing(answer)
        assert.deepInclude(odd, { isRetryable: false, category: "validation" })
        assert.deepInclude(odd.cause, { _tag: "ApiError", operation: "buy", reason: "result", recovery: "none" })
        assert.match(odd.message, /^operation 'buy' of the API 'shop': its answer does not fit: /)
      }
      const long = yield* failing(() => Response.json({ order: 1, more: "x".repeat(100) }), 64)
      assert.deepInclude(long.cause, { _tag: "InputTooLargeError", bound: "bytes", limit: 64 })
      const page = yield* failing(() => new Response("<h1>Not found</h1>", { status: 404 }))
      assert.deepInclude(page.cause, { reason: "arguments", status: 404 })
      assert.include(page.message, "<h1>Not found</h1>")
      assert.throws(() => HttpApiTools.fromApi(Shop, { maxResponseBytes: 0 }), RangeError, "maxResponseBytes")
      assert.throws(() => HttpApiTools.fromApi(Shop, { timeout: 0 }), RangeError, "timeout")
    })
)

// Finds out nothing of its own: what fetch makes of a redirect that it does not follow is seen over real sockets alone
it.live("over real servers, a redirect is not followed with the credentials and the body [P1790 P1792]", () =>
  Effect.gen(function* () {
    const stolen: Array<string | null> = []
    const evil = yield* listen((request) => {
      stolen.push(request.headers.get("x-tenant"))
      return Response.json({ order: 1 })
    })
    const { url } = yield* listen(() => new Response(null, { status: 307, headers: { location: `${evil.url}/steal` } }))
    const client = Layer.provide(authorised(url), FetchHttpClient.layer)
    const buy = Tool.call(tools.books_buy, { payload: { isbn: "1", copies: 1 } })
    const error = yield* Effect.flip(buy).pipe(Effect.provide(client))
    assert(error instanceof ToolError.ExecutionError)
    assert.deepInclude(error.cause, { reason: "redirect", status: 307, isRetryable: false })
    assert.deepStrictEqual(stolen, [])
  }).pipe(Effect.scoped)
)
