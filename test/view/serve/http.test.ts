/** The server of Node behind `kintsugi serve`: answers of one piece, and streams that are read slowly or not to their end. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { listen, type Response } from "../../../packages/view/src/serve/http.ts"
import { fetch } from "./_support/serving.ts"

const answers = (body: Response["body"]) =>
  Effect.map(
    listen(0, () => Effect.succeed({ status: 200, headers: {}, body })),
    ({ port }) => `http://127.0.0.1:${port}/`
  )

describe("an answer that is streamed", () => {
  it.live("comes as a whole, though its reader is slower than its pieces [P1284]", () =>
    Effect.gen(function* () {
      const at = yield* answers(Stream.fromIterable(Array.from({ length: 40 }, () => "x".repeat(1e6))))
      const text = yield* Effect.promise(async () => (await fetch(at)).text())
      assert.strictEqual(text.length, 40e6)
    }).pipe(Effect.scoped)
  )

  it.live("begins before its first piece, and ends when its reader leaves [P1284]", () =>
    Effect.gen(function* () {
      const left = yield* Deferred.make<void>()
      const at = yield* answers(Stream.ensuring(Stream.never, Deferred.succeed(left, undefined)))
      const leaving = new AbortController()
      const answer = yield* Effect.promise(() => fetch(at, { signal: leaving.signal }))
      assert.strictEqual(answer.status, 200)
      leaving.abort()
      yield* Deferred.await(left)
    }).pipe(Effect.scoped)
  )
})

describe("a port", () => {
  it.live("that another server has cannot be had [P1288]", () =>
    Effect.gen(function* () {
      const answer = () => Effect.succeed({ status: 200, headers: {}, body: "" })
      const { port } = yield* listen(0, answer)
      assert.include((yield* Effect.flip(listen(port, answer))).message, "EADDRINUSE")
    }).pipe(Effect.scoped)
  )
})
