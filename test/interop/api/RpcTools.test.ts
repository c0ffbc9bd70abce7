/** Tools of an `RpcGroup`. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import { ApiError } from "@kintsugi/interop/ApiError"
import * as RpcTools from "@kintsugi/interop/RpcTools"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import { Rpc, RpcClient, RpcGroup, RpcSerialization, RpcServer, RpcTest } from "effect/rpc"
import { TestClock } from "effect/testing"
import { listen } from "./_support/shop.ts"

class NoSuchSeat extends Schema.TaggedError<NoSuchSeat>()("NoSuchSeat", { seat: Schema.Int }) {}

const Seats = RpcGroup.make(
  Rpc.make("book", {
    payload: { seat: Schema.Int, on: Schema.Date },
    success: Schema.Struct({ ticket: Schema.String }),
    error: NoSuchSeat
  }),
  Rpc.make("seats.free", { success: Schema.Array(Schema.Int) }),
  Rpc.make("watch", { success: Schema.Int, stream: true })
)

const handlers = Seats.toLayer({
  book: ({ on, seat }) =>
    seat > 9 ? Effect.fail(new NoSuchSeat({ seat })) : Effect.succeed({ ticket: `${seat} ${on.toISOString()}` }),
  "seats.free": () => Effect.succeed([1, 2]),
  watch: () => Stream.make(1)
})

const tools = Effect.map(RpcTest.makeClient(Seats), (client) =>
  RpcTools.fromGroup(Seats, client, {
    sideEffects: { "seats.free": "none" },
    descriptions: { book: "Books a seat." }
  })
)

it.effect("each procedure that gives one value is a tool with its schemas and errors [P1799]", () =>
  Effect.gen(function* () {
    const made = yield* tools
    assert.deepStrictEqual(
      Object.values(made).map(({ definition, name }) => [name, definition.sideEffects, definition.description]),
      [
        ["book", "unsafe", "Books a seat."],
        ["seats_free", "none", "Calls 'seats.free'."]
      ]
    )
    const on = "2026-01-02T00:00:00.000Z"
    assert.deepStrictEqual(yield* Tool.call(made.book, { payload: { seat: 3, on } }), { ticket: `3 ${on}` })
    assert.deepStrictEqual(yield* Tool.call(made["seats.free"], {}), [1, 2])
    const error = yield* Effect.flip(Tool.call(made.book, { payload: { seat: 10, on } }))
    assert.deepStrictEqual(error, new NoSuchSeat({ seat: 10 }))
    const client = yield* RpcTest.makeClient(Seats)
    const wrong: object = { include: ["watch"] }
    assert.throws(() => RpcTools.fromGroup(Seats, client, wrong), /there is no tool 'watch'/)
  }).pipe(Effect.scoped, Effect.provide(handlers))
)

it.effect("an answer that takes longer than its time fails, and its procedure is interrupted [P1799]", () =>
  Effect.gen(function* () {
    const stopped = yield* Deferred.make<void>()
    const Slow = RpcGroup.make(Rpc.make("slow"))
    const layer = Slow.toLayer({
      slow: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
    })
    yield* Effect.gen(function* () {
      const client = yield* RpcTest.makeClient(Slow)
      for (const [options, seconds] of [
        [{}, 60],
        [{ timeout: "5 seconds" }, 5]
      ] as const) {
        const fiber = yield* Effect.forkChild(
          Effect.flip(Tool.call(RpcTools.fromGroup(Slow, client, options).slow, {}))
        )
        yield* TestClock.adjust(Duration.millis(seconds * 1000 - 1))
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        const error = yield* Fiber.join(fiber)
        assert(error instanceof ToolError.ExecutionError && error.cause instanceof ApiError)
        assert.deepInclude(error, { tool: "slow", category: "network", isRetryable: true })
        assert.deepInclude(error.cause, { reason: "timeout", operation: "slow" })
      }
      yield* Deferred.await(stopped)
      assert.throws(() => RpcTools.fromGroup(Slow, client, { timeout: 0 }), RangeError, "timeout")
      assert.throws(() => RpcTools.fromGroup(Slow, client, { maxResponseBytes: 0 }), RangeError, "maxResponseBytes")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
)

it.effect("an answer beyond its bound fails, by the bytes of its JSON [P1799 P1391]", () =>
  Effect.gen(function* () {
    const Wide = RpcGroup.make(
      Rpc.make("wide", { payload: { n: Schema.Int }, success: Schema.Struct({ on: Schema.Date, text: Schema.String }) })
    )
    const layer = Wide.toLayer({
      wide: ({ n }) => Effect.succeed({ on: new Date(0), text: "ü".repeat(n) })
    })
    yield* Effect.gen(function* () {
      const client = yield* RpcTest.makeClient(Wide)
      const { wide } = RpcTools.fromGroup(Wide, client, { maxResponseBytes: 100 })
      const head = JSON.stringify({ on: new Date(0), text: "" }).length
      const most = Math.floor((100 - head) / 2)
      assert.strictEqual((yield* Tool.call(wide, { payload: { n: most } })).text.length, most)
      const error = yield* Effect.flip(Tool.call(wide, { payload: { n: most + 1 } }))
      assert(error instanceof ToolError.ExecutionError)
      assert.deepInclude(error.cause, { _tag: "InputTooLargeError", bound: "bytes", limit: 100 })
      assert.include(error.message, "operation 'wide'")
      const usual = RpcTools.fromGroup(Wide, client).wide
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Tool.call(usual, { payload: { n: 600_000 } }))))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Tool.call(usual, { payload: { n: 500_000 } }))))
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
)

// Finds out nothing of its own: what a client over a real connection fails with is a matter of effect/rpc
it.live("over a real server, errors stay typed, and a lost connection is a failure to retry [P1799]", () =>
  Effect.gen(function* () {
    const served = RpcServer.layerHttp({ group: Seats, path: "/rpc", protocol: "http" }).pipe(
      Layer.provide([handlers, RpcSerialization.layerNdjson])
    )
    const { handler } = HttpRouter.toWebHandler(served, { disableLogger: true })
    const state = { isDown: true }
    const { url } = yield* listen((request) =>
      state.isDown ? new Response("down", { status: 503 }) : handler(request)
    )
    const strict = Layer.provide(
      Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk)),
      FetchHttpClient.layer
    )
    const protocol = RpcClient.layerProtocolHttp({ url: `${url}/rpc` }).pipe(
      Layer.provide([strict, RpcSerialization.layerNdjson])
    )
    const client = yield* RpcClient.make(Seats).pipe(Effect.provide(protocol))
    const made = RpcTools.fromGroup(Seats, client)
    const down = yield* Effect.flip(Tool.call(made["seats.free"], {}))
    assert(down instanceof ToolError.ExecutionError)
    assert.deepInclude(down, { tool: "seats_free", isRetryable: true })
    state.isDown = false
    assert.deepStrictEqual(yield* Tool.call(made["seats.free"], {}), [1, 2])
    const full = yield* Effect.flip(Tool.call(made.book, { payload: { seat: 10, on: "2026-01-02T00:00:00Z" } }))
    assert.deepStrictEqual(full, new NoSuchSeat({ seat: 10 }))
  }).pipe(Effect.scoped)
)
