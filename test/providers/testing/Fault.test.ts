/** What each fault makes of a good answer. */
import { assert, describe, it } from "@effect/vitest"
import { Fault, type LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

type Handler = Parameters<typeof LoopbackServer.make>[0]
type Received = Parameters<Handler>[0]

const received = (number: number): Received => ({
  number,
  method: "POST",
  path: "/",
  headers: {},
  text: "",
  body: undefined,
  at: 0
})

const answer = { status: 201, body: "good", headers: { "x-a": "1" } }

const good = Effect.succeed(answer)

const unasked = Effect.die(new Error("the handler was asked"))

describe("a fault", () => {
  it.effect("of a status has a text, or JSON, and further headers, without the handler", () =>
    Effect.gen(function* () {
      const made = (...of: Parameters<typeof Fault.status>) => Fault.status(...of)(unasked, received(1))
      const plain = { "content-type": "text/plain" }
      assert.deepStrictEqual(yield* made(503), { status: 503, body: "", headers: plain })
      assert.deepStrictEqual(yield* made(418, "teapot", { "x-b": "2" }), {
        status: 418,
        body: "teapot",
        headers: { ...plain, "x-b": "2" }
      })
      const html = { "content-type": "text/html" }
      assert.deepStrictEqual(yield* made(502, "<p>", html), { status: 502, body: "<p>", headers: html })
      assert.deepStrictEqual(yield* made(400, { error: "no" }), { status: 400, body: '{"error":"no"}', headers: {} })
    })
  )

  it.effect("that splits, gates, breaks off or delays leaves the rest of the answer as it is", () =>
    Effect.gen(function* () {
      const made = (fault: Fault.Fault) => fault(good, received(1))
      const beforePiece = () => Effect.void
      assert.deepStrictEqual(yield* made(Fault.split("byte")), { ...answer, split: "byte" })
      assert.deepStrictEqual(yield* made(Fault.gated(beforePiece)), { ...answer, beforePiece })
      assert.deepStrictEqual(yield* made(Fault.delayed(Effect.void)), { ...answer, before: Effect.void })
      for (const after of [0, 3, "nothing"] as const) {
        assert.deepStrictEqual(yield* made(Fault.cut(after, "reset")), { ...answer, cut: { after, how: "reset" } })
      }
      const { before = Effect.void, ...rest } = yield* made(Fault.delayed("1 minute"))
      assert.deepStrictEqual(rest, answer)
      const waiting = yield* Effect.forkChild(before)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
    })
  )

  it.effect("of several changes what the one before it has made", () =>
    Effect.gen(function* () {
      const adding =
        (words: string): Fault.Fault =>
        (good, { number }) =>
          Effect.map(good, ({ body, ...rest }) => ({ ...rest, body: `${String(body)} ${words} ${number}` }))
      const both = Fault.all(adding("first"), adding("then"))
      assert.deepStrictEqual(yield* both(good, received(7)), { ...answer, body: "good first 7 then 7" })
      assert.deepStrictEqual(yield* Fault.all()(good, received(1)), answer)
    })
  )

  it.effect("is in front of the request that its number or a function says", () =>
    Effect.gen(function* () {
      const statuses = (script: Parameters<typeof Fault.inFront>[0]) =>
        Effect.forEach([1, 2, 3], (number) =>
          Effect.map(Fault.inFront(script, () => good)(received(number)), ({ status }) => status)
        )
      assert.deepStrictEqual(yield* statuses([Fault.status(401), undefined, Fault.status(403)]), [401, 201, 403])
      assert.deepStrictEqual(yield* statuses([undefined, Fault.status(402)]), [201, 402, 201])
      const byFunction = ({ number }: Received) => (number === 3 ? Fault.status(500) : undefined)
      assert.deepStrictEqual(yield* statuses(byFunction), [201, 201, 500])
    })
  )
})
