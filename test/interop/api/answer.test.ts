/** Bodies of answers: how much of them is read. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Answer from "../../../packages/interop/src/api/answer.ts"
import { fieldsOf } from "./_support/errors.ts"

const where = { api: "shop", operation: "buy" }

/** An answer in chunks, and how many of them were taken. */
const chunked = (...chunks: ReadonlyArray<string>) => {
  let next = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const chunk = chunks[next++]
        if (chunk === undefined) controller.close()
        else if (chunk === "broken") controller.error(new Error("it broke off"))
        else controller.enqueue(new TextEncoder().encode(chunk))
      }
    },
    { highWaterMark: 0 }
  )
  return { response: answering(body), taken: () => next }
}

const answering = (body: BodyInit | null, status = 200) =>
  HttpClientResponse.fromWeb(HttpClientRequest.get("http://shop.test"), new Response(body, { status }))

const within = (response: HttpClientResponse.HttpClientResponse, limit: number) =>
  Effect.map(Answer.within(response, limit, where), Answer.textOf)

describe("a body", () => {
  it.effect("is read whole up to its bound, in however many chunks it comes [P1793 P1798]", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* within(chunked("ab", "cd", "e").response, 5), "abcde")
      assert.strictEqual(yield* within(chunked("ü").response, 2), "ü")
      assert.strictEqual(yield* within(answering(null, 204), 5), "")
      assert.strictEqual(yield* within(answering(""), 5), "")
      // bytes that are no UTF-8
      assert.strictEqual(yield* within(answering(new Uint8Array([97, 0xff])), 5), "a\ufffd")
    })
  )

  it.effect("beyond its bound fails, and its rest is not transferred [P1793 P1798]", () =>
    Effect.gen(function* () {
      const { response, taken } = chunked("ab", "cd", "ef", "gh")
      const { message, ...error } = fieldsOf(
        yield* Effect.flip(within(response, 3) as Effect.Effect<string, Error>)
      ) as {
        readonly message: string
      }
      const what = "The answer of operation 'buy' of the API 'shop'"
      assert.deepStrictEqual(error, { _tag: "InputTooLargeError", what, bound: "bytes", limit: 3 })
      assert.include(message, `${what} is beyond the bound of 3 bytes`)
      assert.strictEqual(taken(), 2)
      const exact = yield* Effect.flip(within(chunked("ab", "c", "d").response, 3))
      assert.strictEqual(exact._tag, "InputTooLargeError")
    })
  )

  it.effect("that breaks off is a failure of the client [P1793 P1798]", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(within(chunked("ab", "broken").response, 5))
      assert.strictEqual(error._tag, "HttpClientError")
    })
  )

  it.effect("of a failure is read to 16 KiB, and counts as empty if it breaks off [P1792 P1798]", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Answer.beginning(answering("no", 404)), "no")
      assert.strictEqual(yield* Answer.beginning(answering(null, 404)), "")
      assert.strictEqual(yield* Answer.beginning(chunked("ab", "broken").response), "")
      const piece = "x".repeat(10_000)
      const { response, taken } = chunked(piece, piece, piece)
      assert.strictEqual((yield* Answer.beginning(response)).length, 16_384)
      assert.strictEqual(taken(), 2)
    })
  )
})

it("an option is positive: 1 MiB and a minute without one [P1793]", () => {
  assert.deepStrictEqual(
    [undefined, 1, 5].map((bound) => Answer.boundOf(bound)),
    [1_048_576, 1, 5]
  )
  for (const bound of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const says = `maxResponseBytes must be an integer of at least 1, got ${bound}`
    assert.throws(() => Answer.boundOf(bound), RangeError, says)
  }
  const times = [undefined, 1, "2 seconds", Number.POSITIVE_INFINITY] as const
  assert.deepStrictEqual(
    times.map((time) => Duration.toMillis(Answer.timeOf(time))),
    [60_000, 1, 2000, Number.POSITIVE_INFINITY]
  )
  for (const time of [0, -1, Number.NaN, "soon"]) {
    const says = `timeout must be a positive duration, got ${time}`
    // no duration by its type
    assert.throws(() => Answer.timeOf(time as number), RangeError, says)
  }
})

it("the bytes of JSON are those of UTF-8 [P1799]", () => {
  assert.deepStrictEqual(["ü", { a: [1] }, null, ""].map(Answer.bytesOf), [4, 9, 4, 2])
})
