/** Procedures as tools over any client: which method of it is called, and what its failures are. */
import { assert, describe, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as RpcTools from "@kintsugi/interop/RpcTools"
import { Effect, Schema } from "effect"
import { Rpc, type RpcClient, RpcGroup, RpcMiddleware } from "effect/rpc"

class Full extends Schema.TaggedError<Full>()("Full", { seats: Schema.Int }) {}

const Seats = RpcGroup.make(
  Rpc.make("book", { payload: { on: Schema.Date }, success: Schema.Int, error: Full }),
  Rpc.make("seats.free", { success: Schema.Int }),
  Rpc.make("watch", { success: Schema.Int, stream: true })
)

type Client = RpcClient.RpcClient<RpcGroup.Rpcs<typeof Seats>>

// cast: a client is called by the names of its procedures
const clientOf = (methods: object) => methods as unknown as Client

const usual = { book: () => Effect.succeed(1), "seats.free": () => Effect.succeed(2) }

const on = "1970-01-01T00:00:00.000Z"

describe("a procedure", () => {
  it.effect("is called by its name, or within the part before its dot, with its payload [P1799]", () =>
    Effect.gen(function* () {
      const payloads: Array<unknown> = []
      const giving = (value: number) => (payload: unknown) => {
        payloads.push(payload)
        return Effect.succeed(value)
      }
      for (const client of [
        { book: giving(1), "seats.free": giving(2) },
        { book: giving(1), seats: { free: giving(2), "seats.free": giving(3) } },
        { book: giving(1), "seats.free": giving(2), seats: { free: giving(3) } }
      ]) {
        const tools = RpcTools.fromGroup(Seats, clientOf(client))
        assert.deepStrictEqual(Object.keys(tools), ["book", "seats.free"])
        assert.strictEqual(yield* Tool.call(tools.book, { payload: { on } }), 1)
        assert.strictEqual(yield* Tool.call(tools["seats.free"], {}), 2)
        assert.deepStrictEqual(payloads.splice(0), [{ on: new Date(0) }, undefined])
      }
    })
  )

  it("that the client does not have is refused by name [P1799]", () => {
    for (const client of [{}, { book: 5 }])
      assert.throws(() => RpcTools.fromGroup(Seats, clientOf(client)), TypeError, "RpcTools: the client has no 'book'")
    for (const seats of [{}, { seats: {} }, { seats: { free: 5 } }])
      assert.throws(
        () => RpcTools.fromGroup(Seats, clientOf({ book: usual.book, ...seats })),
        TypeError,
        "RpcTools: the client has no 'seats.free'"
      )
    // a procedure that is not taken is not looked for
    assert.deepStrictEqual(
      Object.keys(RpcTools.fromGroup(Seats, clientOf({ book: usual.book }), { include: ["book"] })),
      ["book"]
    )
  })

  it("has what the options say of it, and is unsafe without [P1799]", () => {
    const tools = RpcTools.fromGroup(Seats, clientOf(usual), {
      descriptions: { "seats.free": "Counts." },
      sideEffects: { "seats.free": "none" },
      maxResultChars: 5
    })
    const definitions = Object.values(tools).map(({ definition }) => [
      definition.foreignName,
      definition.description,
      definition.kind,
      definition.sideEffects,
      definition.maxResultChars
    ])
    assert.deepStrictEqual(definitions, [
      [undefined, "Calls 'book'.", "web-service", "unsafe", 5],
      ["seats.free", "Counts.", "web-service", "none", 5]
    ])
    const { book, "seats.free": free } = tools
    assert.deepNestedInclude(book.definition.spec().parameters, {
      "properties.payload.properties.on.type": "string",
      required: ["payload"]
    })
    assert.deepStrictEqual(Object.keys(Object(free.definition.spec().parameters["properties"])), [])
    for (const wrong of [{ descriptions: { watch: "x" } }, { sideEffects: { watch: "none" } }, { include: ["watch"] }])
      assert.throws(
        () => RpcTools.fromGroup(Seats, clientOf(usual), wrong as object),
        TypeError,
        "RpcTools: there is no tool 'watch'"
      )
  })
})

describe("a failure", () => {
  const failing = (failure: Effect.Effect<never, unknown>) =>
    Tool.call(RpcTools.fromGroup(Seats, clientOf({ ...usual, book: () => failure })).book, { payload: { on } })

  it.effect("that the procedure or its middleware declares stays, any other is an ExecutionError [P1799]", () =>
    Effect.gen(function* () {
      const full = new Full({ seats: 3 })
      assert.strictEqual(yield* Effect.flip(failing(Effect.fail(full))), full)
      class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}
      class Guard extends RpcMiddleware.Service<Guard>()("test/Guard", { error: Closed }) {}
      const Guarded = RpcGroup.make(Rpc.make("book").middleware(Guard))
      const closed = new Closed()
      // cast: a client is called by the names of its procedures
      const { book } = RpcTools.fromGroup(Guarded, { book: () => Effect.fail(closed) } as never)
      assert.strictEqual(yield* Effect.flip(Tool.call(book, {})), closed)
      for (const other of [new Error("oh"), { _tag: "Full", seats: 3 }, "oh"]) {
        const error = yield* Effect.flip(failing(Effect.fail(other)))
        assert(error instanceof ToolError.ExecutionError)
        assert.deepInclude(error, { tool: "book", kind: "web-service" })
        assert.strictEqual(error.cause, other)
        // its params are no JSON
        assert.isNull(error.args)
      }
      const { "seats.free": free } = RpcTools.fromGroup(
        Seats,
        clientOf({ ...usual, "seats.free": () => Effect.fail(new Error("oh")) })
      )
      assert.deepInclude(yield* Effect.flip(Tool.call(free, {})), { tool: "seats_free", args: {} })
    })
  )

  it.effect("of the connection is one of the network, and no other is [P1799]", () =>
    Effect.gen(function* () {
      const categoryOf = (failure: object) =>
        Effect.map(Effect.flip(failing(Effect.fail(failure))), (error) => {
          assert(error instanceof ToolError.ExecutionError)
          return error.category
        })
      const ofClient = (reason: unknown) => ({ _tag: "RpcClientError", reason })
      for (const tag of ["SocketError", "Socket", "WorkerError"])
        assert.strictEqual(yield* categoryOf(ofClient({ _tag: tag })), "network", tag)
      for (const other of [
        ofClient({ _tag: "RpcClientDefect" }),
        ofClient({ _tag: "TheSocket" }),
        ofClient({}),
        ofClient(null),
        { _tag: "RpcClientError" },
        { _tag: "OtherError", reason: { _tag: "WorkerError" } }
      ])
        assert.notStrictEqual(yield* categoryOf(other), "network", JSON.stringify(other))
    })
  )
})
