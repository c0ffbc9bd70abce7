/** A connection that is lost: when it is closed, and what the uses at work get. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as McpClientError from "effect/ai/McpClientError"
import type { Connection, Way } from "../../../packages/interop/src/mcp/connection.ts"
import { renewed } from "../../../packages/interop/src/mcp/renewed.ts"
import { calm } from "../../_support/dialogue.ts"

const lost = new McpClientError.McpClientError({ reason: new McpClientError.ClosedError({}) })

/** Connections with the numbers 1, 2 and so on, and those of them that were closed. */
const connecting = (kind: Way["kind"], listen: Connection["listen"] = Effect.succeed(false)) => {
  const closed: Array<string> = []
  let last = 0
  const connection = Effect.acquireRelease(
    Effect.sync(() => {
      const version = String(++last)
      // cast: what renews a connection looks at these fields alone
      return { version, listen, reportsChanges: false } as unknown as Connection
    }),
    ({ version }) => Effect.sync(() => closed.push(version))
  )
  // cast: of the way, what renews a connection reads the kind
  const way = { kind } as Way
  return Effect.map(renewed(way, connection, Effect.void), (made) => ({ ...made, closed }))
}

describe("a lost connection", () => {
  it.effect("of a server over HTTP is closed when the last use of it has ended [P1380]", () =>
    Effect.gen(function* () {
      const { closed, use } = yield* connecting("http")
      const [gate, found] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.forkChild(
        use(({ version }) =>
          Effect.as(Effect.andThen(Deferred.succeed(found, undefined), Deferred.await(gate)), version)
        )
      )
      const late = yield* Effect.forkChild(use(() => Effect.andThen(Deferred.await(gate), Effect.fail(lost))))
      yield* calm
      yield* Deferred.await(found)
      assert.strictEqual(yield* Effect.flip(use(() => Effect.fail(lost))), lost)
      yield* calm
      assert.deepStrictEqual(closed, [])
      assert.strictEqual(yield* use(({ version }) => Effect.succeed(version)), "2")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(first), "1")
      // one that learns late of the loss drops no newer connection
      assert.strictEqual(yield* Effect.flip(Fiber.join(late)), lost)
      assert.strictEqual(yield* use(({ version }) => Effect.succeed(version)), "2")
      yield* calm
      assert.deepStrictEqual(closed, ["1"])
    })
  )

  it.effect("of a program is closed at once [P1107]", () =>
    Effect.gen(function* () {
      const { closed, use } = yield* connecting("stdio")
      const found = yield* Deferred.make<void>()
      yield* Effect.forkChild(use(() => Effect.andThen(Deferred.succeed(found, undefined), Effect.never)))
      yield* Deferred.await(found)
      assert.strictEqual(yield* Effect.flip(use(() => Effect.fail(lost))), lost)
      yield* calm
      assert.deepStrictEqual(closed, ["1"])
    })
  )

  it.effect("that nothing uses is closed when its listener learns of it [P1380]", () =>
    Effect.gen(function* () {
      const { closed, listen, use } = yield* connecting("http", Effect.fail(lost))
      yield* listen
      yield* calm
      assert.deepStrictEqual(closed, ["1"])
      assert.strictEqual(yield* use(({ version }) => Effect.succeed(version)), "2")
    })
  )
})
