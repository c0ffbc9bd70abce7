/** Tools of an API that is declared with `effect/http-api`. */
import { assert, it } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { ApiError } from "@kintsugi/interop/ApiError"
import * as HttpApiTools from "@kintsugi/interop/HttpApiTools"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Layer } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { authorised, books, handler, listen, NoSuchBook, served, Shop, SoldOut } from "./_support/shop.ts"

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

it.effect("an error that the endpoint declares stays what it is, for the rows of a table [P1792]", () =>
  Effect.gen(function* () {
    const { layer } = shop()
    const none = yield* Effect.flip(Tool.call(tools.books_find, { params: { isbn: "none" } })).pipe(
      Effect.provide(layer)
    )
    assert.deepStrictEqual(none, new NoSuchBook({ isbn: "none" }))
    const many = { payload: { isbn: "1", copies: 4 } }
    assert.instanceOf(yield* Effect.flip(Tool.call(tools.books_buy, many)).pipe(Effect.provide(layer)), SoldOut)
  })
)

it.effect("every other status is an ApiError with its advice, and the words of the API [P1792]", () =>
  Effect.gen(function* () {
    const facts = (status: number, headers = {}) =>
      Effect.map(
        failing(() => new Response("copies: too many", { status, headers })),
        ({ cause, isRetryable, recovery, suggestedDelay }) => [
          cause instanceof ApiError ? cause.reason : "",
          isRetryable,
          recovery,
          Duration.toMillis(suggestedDelay)
        ]
      )
    assert.deepStrictEqual(yield* facts(400), ["arguments", false, "repair", 0])
    assert.deepStrictEqual(yield* facts(422), ["arguments", false, "repair", 0])
    assert.deepStrictEqual(yield* facts(401), ["authentication", false, "none", 0])
    assert.deepStrictEqual(yield* facts(403), ["authentication", false, "none", 0])
    assert.deepStrictEqual(yield* facts(429, { "retry-after": "7" }), ["busy", true, "resend", 7000])
    assert.deepStrictEqual(yield* facts(503, { "retry-after": "2" }), ["busy", true, "resend", 2000])
    assert.deepStrictEqual(yield* facts(500), ["server", true, "resend", 1000])
    assert.deepStrictEqual(yield* facts(302), ["redirect", false, "none", 0])
    const refused = yield* failing(() => new Response("copies: too many", { status: 422 }))
    assert.strictEqual(refused.message, "operation 'buy' of the API 'shop': status 422: copies: too many")
  })
)

it.effect(
  "an answer that does not fit, is too long, or declares an error in another form fails typed [P1792 P1793]",
  () =>
    Effect.gen(function* () {
      const odd = yield* failing(() => Response.json({ order: "none" }))
      assert.deepInclude(odd.cause, { _tag: "ApiError", reason: "result" })
      assert.deepInclude(odd, { isRetryable: false, category: "validation" })
      const long = yield* failing(() => Response.json({ order: 1, more: "x".repeat(100) }), 64)
      assert.deepInclude(long.cause, { _tag: "InputTooLargeError", bound: "bytes", limit: 64 })
      const page = yield* failing(() => new Response("<h1>Not found</h1>", { status: 404 }))
      assert.deepInclude(page.cause, { reason: "arguments", status: 404 })
      assert.include(page.message, "<h1>Not found</h1>")
      assert.throws(() => HttpApiTools.fromApi(Shop, { maxResponseBytes: 0 }), RangeError)
    })
)

it.effect(
  "a segment that would climb up the path, or cannot be in one, is an argument to mend, and nothing is sent [P1793]",
  () =>
    Effect.gen(function* () {
      const { asked, layer } = shop()
      for (const isbn of ["..", "\ud800"]) {
        const error = yield* Effect.flip(Tool.call(tools.books_drop, { params: { isbn } })).pipe(Effect.provide(layer))
        assert(error instanceof ToolError.ExecutionError)
        assert.deepInclude(error, { category: "parameter", recovery: "repair" })
      }
      assert.deepStrictEqual(asked, [])
    })
)

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

it.effect("an interruption aborts the request [P1790]", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<AbortSignal>()
    const { layer } = shop((request) => {
      Effect.runSync(Deferred.succeed(begun, request.signal))
      return new Promise(() => {})
    })
    const fiber = yield* Effect.forkChild(Tool.call(tools.health, {}).pipe(Effect.provide(layer)))
    const signal = yield* Deferred.await(begun)
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    assert.isTrue(signal.aborted)
  })
)

it.live("over a real server, rows repeat what is transient and correct arguments [P1790 P1791]", () =>
  Effect.gen(function* () {
    const state = { isBusy: true }
    const { url } = yield* listen(handler(state))
    const client = Layer.provide(authorised(url), FetchHttpClient.layer)
    const find = tools.books_find.pipe(
      Tool.onError({
        ExecutionError: Recovery.retry({ retries: 2, initialBackoff: "1 millis" }),
        NoSuchBook: Recovery.tell(({ isbn }) => `there is no book ${isbn}`)
      })
    )
    const clerk = Agent.make("clerk", { tools: [find] })
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("books_find", { params: { isbn: "none" } })),
      ScriptedModel.calls(ScriptedModel.call("books_find", { params: { isbn: "7" }, query: { edition: 3 } })),
      ScriptedModel.text("It costs 9.50.")
    )
    assert.strictEqual(yield* clerk("What does it cost?").pipe(Effect.provide([model.layer, client])), "It costs 9.50.")
    const texts = JSON.stringify(model.requests)
    assert.include(texts, "there is no book none")
    assert.include(texts, "7/3/t1")
    assert.isFalse(state.isBusy)
  }).pipe(Effect.scoped)
)
