/** What a recording makes of a client: its answers, its failures, its interruptions. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/providers/testing"
import { Cause, ConfigProvider, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { calm } from "../../../_support/network.ts"
import { folder, read } from "./_support/recordings.ts"

type Answering = Parameters<typeof HttpClient.make>[0]

const get = HttpClientRequest.get("https://a.test/x")

type Reading = (
  response: HttpClientResponse.HttpClientResponse
) => Effect.Effect<unknown, HttpClientError.HttpClientError>

/** A recorded request, and the file of the recording. */
const recording = Effect.fnUntraced(function* (
  answer: Answering,
  request = get,
  reading: Reading = ({ text }) => text
) {
  const file = join(yield* folder, "x.json")
  const client = Layer.succeed(HttpClient.HttpClient, HttpClient.make(answer))
  const asked = Effect.flatMap(HttpClient.execute(request), reading)
  return { file, asked: Effect.provide(asked, Layer.provide(Recording.record(file), client)) }
})

const request = { method: "GET", path: "/x" }

describe("a recording", () => {
  it.effect("has the failure of the connection, or its description", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("lost"), { code: "ECONNRESET" })
      for (const [why, link] of [
        [{ cause }, { name: "Error", message: "lost", code: "ECONNRESET" }],
        [
          { cause, description: "refused" },
          { name: "Error", message: "lost", code: "ECONNRESET" }
        ],
        [{ description: "refused" }, { message: "refused" }]
      ] as const) {
        const { asked, file } = yield* recording((request) =>
          Effect.fail(
            new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, ...why }) })
          )
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(asked)))
        const [exchange] = read(file).exchanges
        assert.deepInclude(exchange, { request, end: "failed" })
        assert.lengthOf(exchange?.failure ?? [], 1)
        assert.deepInclude(exchange?.failure?.[0], link)
      }
    })
  )

  it.effect("has no answer where a client broke or was interrupted, and the caller gets what the client gave", () =>
    Effect.gen(function* () {
      const broken = yield* recording(() => Effect.die(new Error("a defect")))
      const exit = yield* Effect.exit(broken.asked)
      assert(Exit.isFailure(exit))
      assert.match(Cause.pretty(exit.cause), /a defect/)
      const silent = yield* recording(() => Effect.never)
      const fiber = yield* Effect.forkChild(silent.asked)
      yield* calm
      yield* Fiber.interrupt(fiber)
      for (const { file } of [broken, silent]) {
        assert.deepStrictEqual<unknown>(read(file).exchanges, [{ request, end: "interrupted" }])
      }
    })
  )

  it.effect("is on the disk with an interruption, before the recording is closed", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "x.json")
      const client = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      const recorded = yield* Layer.build(Layer.provide(Recording.record(file), client))
      const fiber = yield* Effect.forkChild(Effect.provide(HttpClient.execute(get), recorded))
      yield* calm
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual<unknown>(read(file).exchanges, [{ request, end: "interrupted" }])
    })
  )

  it.effect("stores neither forms nor URLs that are none, and sends nothing of them", () =>
    Effect.gen(function* () {
      const form = HttpClientRequest.post("https://a.test/x").pipe(HttpClientRequest.bodyFormData(new FormData()))
      for (const request of [form, HttpClientRequest.get("no URL")]) {
        const { asked } = yield* recording(() => Effect.die(new Error("it was sent")), request)
        const error = yield* Effect.flip(asked)
        assert(error._tag === "HttpClientError")
        assert.deepInclude(error.reason, {
          _tag: "EncodeError",
          description: "a recording cannot store its body or its URL"
        })
      }
    })
  )

  it.effect("has the whole answer in whichever form the caller reads it, and none where there is no body", () =>
    Effect.gen(function* () {
      const answering: Answering = (request) =>
        Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(new URLSearchParams({ a: "1" }))))
      for (const name of ["text", "arrayBuffer", "formData", "urlParamsBody"] as const) {
        const { asked, file } = yield* recording(answering, get, (response) => response[name])
        yield* asked
        assert.deepInclude(read(file).exchanges[0], { end: "complete" }, name)
      }
      const json = yield* recording(
        (request) => Effect.sync(() => HttpClientResponse.fromWeb(request, Response.json({ a: 1 }))),
        get,
        (response) => response.json
      )
      assert.deepStrictEqual<unknown>(yield* json.asked, { a: 1 })
      assert.deepInclude(read(json.file).exchanges[0], { end: "complete" })
      const bare = yield* recording((request) =>
        Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(null, { status: 500 })))
      )
      assert.strictEqual(yield* bare.asked, "")
      assert.deepInclude(read(bare.file).exchanges[0], { end: "complete" })
    })
  )

  it.effect("has an answer that its client takes for a failure, and gives it to the caller", () =>
    Effect.gen(function* () {
      const { asked, file } = yield* recording((request) => {
        const response = HttpClientResponse.fromWeb(request, new Response("no tea", { status: 418 }))
        const reason = new HttpClientError.StatusCodeError({ request, response })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      })
      assert.strictEqual(yield* asked, "no tea")
      const [exchange] = read(file).exchanges
      assert.deepStrictEqual([exchange?.end, exchange?.response?.status], ["complete", 418])
    })
  )

  it.effect("that is empty, or whose one answer is used, says so", () =>
    Effect.gen(function* () {
      const refusal = (file: string, times: number) =>
        Effect.gen(function* () {
          for (let time = 0; time < times; time++) yield* HttpClient.execute(get)
          const { reason } = yield* Effect.flip(HttpClient.execute(get))
          assert(reason._tag === "EncodeError" && reason.cause instanceof Recording.UnmatchedRequestError)
          assert.strictEqual(reason.cause.message, reason.description)
          assert.isFalse("field" in reason.cause)
          return [reason.description, "nearest" in reason.cause ? reason.cause.nearest : undefined]
        }).pipe(Effect.provide(Recording.replay(file)))
      const empty = join(yield* folder, "empty.json")
      writeFileSync(empty, JSON.stringify({ format: "kintsugi-recording", version: 1, exchanges: [] }))
      const missing = (file: string) => `GET /x is not in the recording '${file}'`
      assert.deepStrictEqual(yield* refusal(empty, 0), [`${missing(empty)}: it is empty`, undefined])
      const { asked, file } = yield* recording((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("so")))
      )
      yield* asked
      const used = "it was recorded once, and that answer was already used"
      assert.deepStrictEqual(yield* refusal(file, 1), [`${missing(file)}: ${used}`, 1])
    })
  )

  it.effect("is replayed in the pieces in which it came, or in others", () =>
    Effect.gen(function* () {
      const pieces = ["ab\n", "c\n"].map((text) => new TextEncoder().encode(text))
      const { asked, file } = yield* recording((request) =>
        Effect.sync(() => {
          const left = [...pieces]
          const body = new ReadableStream<Uint8Array>({
            pull(controller) {
              const piece = left.shift()
              return piece === undefined ? controller.close() : controller.enqueue(piece)
            }
          })
          return HttpClientResponse.fromWeb(request, new Response(body))
        })
      )
      assert.strictEqual(yield* asked, "ab\nc\n")
      const sizes = (options?: Parameters<typeof Recording.replay>[1]) =>
        HttpClient.execute(get).pipe(
          Effect.flatMap(({ stream }) => Stream.runCollect(stream)),
          Effect.map((read) => read.map(({ length }) => length)),
          Effect.provide(Recording.replay(file, options))
        )
      assert.deepStrictEqual(yield* sizes(), [3, 2])
      assert.deepStrictEqual(yield* sizes({ split: "byte" }), [1, 1, 1, 1, 1])
      assert.deepStrictEqual(yield* sizes({ split: { every: 4 } }), [4, 1])
    })
  )

  it.effect("that is missing in CI, or lacks a request, is an error with a name", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "none.json")
      const client = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      const missing = yield* Layer.build(Layer.provide(Recording.auto(file), client)).pipe(
        Effect.flip,
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ CI: "1" }))
      )
      assert.deepInclude(missing, { _tag: "RecordingError", file, field: "" })
      const { asked, file: other } = yield* recording((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("so")))
      )
      yield* asked
      const error = yield* HttpClient.execute(HttpClientRequest.get("https://a.test/y")).pipe(
        Effect.flip,
        Effect.provide(Recording.replay(other))
      )
      assert(error._tag === "HttpClientError")
      assert.deepInclude(error.reason.cause, {
        _tag: "UnmatchedRequestError",
        file: other,
        method: "GET",
        path: "/y",
        nearest: 1,
        field: "path"
      })
    })
  )
})
