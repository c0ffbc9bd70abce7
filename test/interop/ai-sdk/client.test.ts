/** Calls of a language model of the AI SDK as requests over HTTP: what the model is called with, and the answer that is made of its result. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope, Stream } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Client from "../../../packages/interop/src/ai-sdk/client.ts"
import type { CallSettings, LanguageModel } from "../../../packages/interop/src/ai-sdk/specification.ts"
import { calm } from "../../_support/network.ts"

const plain = { messages: [], tools: [], toolChoice: "auto" }

interface Called {
  readonly abortSignal: AbortSignal
  readonly [option: string]: unknown
}

/** A model with these results, and what it was called with. */
const modelOf = (results: { readonly whole?: () => unknown; readonly streamed?: () => unknown }) => {
  const called: Array<Called> = []
  const resulting = (result: (() => unknown) | undefined) => async (options: Called) => {
    called.push(options)
    // cast: the client reads a result by its fields
    return result?.() as never
  }
  const model: LanguageModel = {
    specificationVersion: "v3",
    provider: "p.chat",
    modelId: "m",
    doGenerate: resulting(results.whole),
    doStream: resulting(results.streamed)
  }
  return { model, called }
}

const generated = { content: [], finishReason: "stop", usage: {} }

const clientOf = (model: LanguageModel, settings: CallSettings = {}) =>
  Client.make(model, { version: "v3", provider: "p.chat", providerTools: [] }, settings)

const requestOf = (way: keyof typeof Client.ways, sent: object = {}) =>
  HttpClientRequest.bodyText(
    HttpClientRequest.post(`https://p.chat/${Client.ways[way]}`),
    JSON.stringify({ ...plain, ...sent })
  )

/** Sends a request to a model. */
const requesting = (
  model: LanguageModel,
  {
    sent,
    settings,
    way = "whole"
  }: { readonly sent?: object; readonly settings?: CallSettings; readonly way?: keyof typeof Client.ways } = {}
) => clientOf(model, settings).execute(requestOf(way, sent))

/** The answer for the result of a whole reply. */
const answered = (whole: () => unknown) =>
  Effect.gen(function* () {
    const response = yield* requesting(modelOf({ whole }).model)
    return { status: response.status, headers: response.headers, json: JSON.parse(yield* response.text) as unknown }
  })

const streamOf = (...parts: ReadonlyArray<unknown>) =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    }
  })

/** The lines of the answer for a stream. */
const linesOf = (stream: ReadableStream<unknown>) =>
  Effect.gen(function* () {
    const { called, model } = modelOf({ streamed: () => ({ stream }) })
    const text = yield* (yield* requesting(model, { way: "streamed" })).text
    const lines = text.split("\n")
    assert.strictEqual(lines.pop(), "")
    return { lines: lines.map((line): unknown => JSON.parse(line)), isAborted: called[0]?.abortSignal.aborted }
  })

describe("a whole reply", () => {
  it.effect("is what the model gives, bytes in base64, without what is about the call [P1381]", () =>
    Effect.gen(function* () {
      const reply = {
        content: [
          { type: "text", text: "hi" },
          { data: new Uint8Array([1, 2, 255]) },
          { deep: [{ data: Buffer.from("hi") }] },
          { data: new Uint8Array() }
        ],
        finishReason: { unified: "stop", raw: "end" },
        usage: { inputTokens: {} },
        providerMetadata: { a: { x: 1 } }
      }
      const about = { request: { body: "secret" }, warnings: [], response: { id: "r", modelId: "m-1", body: "secret" } }
      assert.deepStrictEqual((yield* answered(() => ({ ...reply, ...about }))).json, {
        ...reply,
        content: [{ type: "text", text: "hi" }, { data: "AQL/" }, { deep: [{ data: "aGk=" }] }, { data: "" }],
        response: { id: "r", modelId: "m-1" }
      })
      for (const response of [undefined, null, "x", {}])
        assert.deepStrictEqual((yield* answered(() => ({ ...generated, response }))).json, {
          ...generated,
          response: {}
        })
    })
  )

  it.effect("has the headers of the provider, except those about its bytes [P1381]", () =>
    Effect.gen(function* () {
      const headersOf = (headers: unknown) =>
        Effect.map(
          answered(() => ({ ...generated, response: { headers } })),
          ({ headers }) => ({ ...headers })
        )
      const usual = yield* headersOf(undefined)
      assert.deepStrictEqual(
        yield* headersOf({
          "X-A": "1",
          "x-b": 2,
          "odd name": "x",
          "Content-Length": "5",
          "content-encoding": "gzip",
          "Transfer-Encoding": "chunked"
        }),
        { ...usual, "x-a": "1" }
      )
      for (const odd of [null, "x", [["x-a", "1"]]]) assert.deepStrictEqual(yield* headersOf(odd), usual)
    })
  )

  it.effect("that was broken off is a lost connection [P1381]", () =>
    Effect.gen(function* () {
      const { model } = modelOf({ whole: () => ({ ...generated, finishReason: { unified: "interrupted" } }) })
      const { reason } = yield* Effect.flip(requesting(model))
      assert.strictEqual(reason._tag, "TransportError")
      assert(reason._tag === "TransportError" && reason.cause instanceof Error)
      const { message, name } = reason.cause
      const code: unknown = Object(reason.cause).code
      assert.deepStrictEqual(
        { code, message, name },
        { code: "ECONNRESET", message: "the reply ended before it was complete", name: "ConnectionClosed" }
      )
      const other = { ...generated, finishReason: "interrupted" }
      assert.deepStrictEqual((yield* answered(() => other)).json, { ...other, response: {} })
    })
  )
})

it.effect("a call whose request was given up before is stopped from the start [P1381]", () =>
  Effect.gen(function* () {
    const { called, model } = modelOf({ whole: () => generated })
    const scope = yield* Scope.make()
    yield* Scope.close(scope, Exit.void)
    const asked = HttpClient.withScope(clientOf(model)).execute(requestOf("whole"))
    yield* Effect.exit(Effect.provideService(asked, Scope.Scope, scope))
    assert.deepStrictEqual(
      called.map(({ abortSignal }) => abortSignal.aborted),
      [true]
    )
  })
)

describe("the options of a call", () => {
  const optionsOf = (parts: Parameters<typeof requesting>[1]) =>
    Effect.gen(function* () {
      const { called, model } = modelOf({ whole: () => generated })
      yield* requesting(model, parts)
      const [options, ...more] = called
      assert(options !== undefined)
      assert.lengthOf(more, 0)
      const { abortSignal, ...rest } = options
      assert.isFalse(abortSignal.aborted)
      return rest
    })

  it.effect(
    "are those of the request before the settings; for a provider both are merged, unless their types differ [P1381 P1416]",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* optionsOf({}), { prompt: [] })
        const settings = { temperature: 1, headers: { a: "1" } }
        assert.deepStrictEqual(yield* optionsOf({ settings }), { ...settings, prompt: [] })
        const theirs = { prompt: "theirs", temperature: 0 } as object
        assert.deepStrictEqual(yield* optionsOf({ settings: theirs }), { temperature: 0, prompt: [] })
        const providerOptions = { a: { x: 1 } }
        assert.deepStrictEqual(yield* optionsOf({ settings: { providerOptions } }), { prompt: [], providerOptions })
        assert.deepStrictEqual(yield* optionsOf({ sent: { options: providerOptions } }), {
          prompt: [],
          providerOptions
        })
        const merged = (one: object, other: object) =>
          Effect.map(
            optionsOf({ settings: { providerOptions: { a: one as {} } }, sent: { options: { a: other } } }),
            ({ providerOptions }) => Object(providerOptions).a
          )
        assert.deepStrictEqual(yield* merged({ x: 1, y: { z: 1, w: 1 } }, { y: { z: 2 }, v: 3 }), {
          x: 1,
          y: { z: 2, w: 1 },
          v: 3
        })
        assert.deepStrictEqual(yield* merged({ y: { type: "a", z: 1 } }, { y: { type: "b" } }), { y: { type: "b" } })
        assert.deepStrictEqual(yield* merged({ y: { type: "a", z: 1 } }, { y: { type: "a", w: 2 } }), {
          y: { type: "a", z: 1, w: 2 }
        })
        assert.deepStrictEqual(yield* merged({ y: { type: "a", z: 1 } }, { y: { w: 2 } }), {
          y: { type: "a", z: 1, w: 2 }
        })
        assert.deepStrictEqual(yield* merged({ y: { z: 1 } }, { y: { type: "b" } }), { y: { z: 1, type: "b" } })
        assert.deepStrictEqual(yield* merged({ y: { z: 1 }, l: [1] }, { y: [2], l: { z: 1 } }), { y: [2], l: { z: 1 } })
      })
  )
})

describe("a failure", () => {
  it.effect("with a status is an answer with that status, any other is a reply that says so [P1381]", () =>
    Effect.gen(function* () {
      const failure = Object.assign(new Error("no"), {
        statusCode: 429,
        responseBody: '{"a":1}',
        responseHeaders: { "Retry-After": "7", "content-length": "99" }
      })
      const { headers, json, status } = yield* answered(() => {
        throw failure
      })
      assert.deepStrictEqual([status, headers["retry-after"], json], [429, "7", { a: 1 }])
      assert.notStrictEqual(headers["content-length"], "99")
      const other = yield* answered(() => {
        throw new RangeError("oh")
      })
      assert.deepStrictEqual(
        [other.status, other.json],
        [200, { type: "error", error: { type: "other", name: "RangeError", message: "oh", data: null } }]
      )
    })
  )

  it.effect("of the connection is one of the client, with its cause [P1381]", () =>
    Effect.gen(function* () {
      const failure = Object.assign(new Error("x"), { code: "ECONNREFUSED" })
      const { model } = modelOf({
        whole: () => {
          throw failure
        }
      })
      const { reason } = yield* Effect.flip(requesting(model))
      assert(reason._tag === "TransportError")
      assert.strictEqual(reason.cause, failure)
      assert.strictEqual(reason.request.url, "https://p.chat/doGenerate")
    })
  )
})

describe("a stream", () => {
  it.effect("is a line for each part [P1381]", () =>
    Effect.gen(function* () {
      const parts = [{ type: "stream-start", warnings: [] }, { type: "text-delta", id: "1", delta: "a\nb" }, "x", null]
      const { isAborted, lines } = yield* linesOf(streamOf(...parts, { type: "file", data: new Uint8Array([1]) }))
      assert.deepStrictEqual(lines, [...parts, { type: "file", data: "AQ==" }])
      assert.isFalse(isAborted)
    })
  )

  it.effect("ends with the failure in it, and stops the call [P1381]", () =>
    Effect.gen(function* () {
      const text = { type: "text-delta", delta: "a" }
      const other = (name: string, message: string, data: unknown = null) => ({
        type: "error",
        error: { type: "other", name, message, data }
      })
      for (const [part, line] of [
        [{ type: "error", error: new RangeError("oh") }, other("RangeError", "oh")],
        [{ type: "error", error: { message: "oh" } }, other("Error", "oh", { message: "oh" })],
        [{ type: "error" }, other("Error", "")],
        [
          { type: "error", error: { statusCode: 529, responseBody: "x" } },
          { type: "error", error: { type: "answer", status: 529, headers: {}, body: "x" } }
        ]
      ] as const) {
        let isCancelled = false
        const endless = new ReadableStream({
          start: (controller) => {
            for (const one of [text, part, text]) controller.enqueue(one)
          },
          cancel: () => {
            isCancelled = true
            throw new Error("of no interest")
          }
        })
        assert.deepStrictEqual(yield* linesOf(endless), { lines: [text, line], isAborted: true })
        assert.isTrue(isCancelled)
      }
    })
  )

  it.effect("that breaks off fails, or says why [P1381]", () =>
    Effect.gen(function* () {
      const breaking = (failure: unknown) => new ReadableStream({ pull: (controller) => controller.error(failure) })
      const lost = yield* Effect.flip(linesOf(breaking(Object.assign(new Error("x"), { code: "ECONNRESET" }))))
      assert.strictEqual(lost._tag, "HttpClientError")
      assert.deepStrictEqual(yield* linesOf(breaking(new RangeError("oh"))), {
        lines: [{ type: "error", error: { type: "other", name: "RangeError", message: "oh", data: null } }],
        isAborted: true
      })
      const ring: Record<string, unknown> = {}
      ring["ring"] = ring
      const { lines } = yield* linesOf(streamOf(ring))
      assert.deepInclude(Object(lines[0]).error, { type: "other", name: "TypeError" })
    })
  )

  it.effect("that its reader leaves stops the call [P1381]", () =>
    Effect.gen(function* () {
      const reasons: Array<unknown> = []
      const stream = new ReadableStream({
        pull: (controller) => controller.enqueue({ type: "ping" }),
        cancel: () => void reasons.push("left")
      })
      const { called, model } = modelOf({ streamed: () => ({ stream, response: { headers: { "X-A": "1" } } }) })
      const response = yield* requesting(model, { way: "streamed" })
      assert.strictEqual(response.headers["x-a"], "1")
      yield* Stream.runDrain(Stream.take(response.stream, 1))
      yield* calm
      assert.deepStrictEqual([called[0]?.abortSignal.aborted, reasons], [true, ["left"]])
    })
  )
})

describe("warnings", () => {
  /** What is logged of the warnings of some replies. */
  const loggedOf = (replies: ReadonlyArray<unknown>, way: keyof typeof Client.ways = "whole") =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) => void logged.push(`${logLevel} ${message}`))
      const queue = [...replies]
      const { model } = modelOf({
        whole: () => ({ ...generated, warnings: queue.shift() }),
        streamed: () => ({
          stream: streamOf({ type: "stream-start", warnings: queue.shift() }, { type: "x", warnings: all })
        })
      })
      const to = { version: "v3", provider: "p.chat", providerTools: [] } as const
      const client = Client.make(model, to, {})
      const request = HttpClientRequest.bodyText(
        HttpClientRequest.post(`https://p.chat/${Client.ways[way]}`),
        JSON.stringify(plain)
      )
      yield* Effect.forEach(replies, () => Effect.flatMap(client.execute(request), ({ text }) => text)).pipe(
        Effect.andThen(calm),
        Effect.provide(Logger.layer([logger]))
      )
      return logged
    })

  const all = [{ type: "other", message: "no" }]
  const head = "Warn The AI SDK warns of a request to model 'm' of p.chat: "

  it.effect("are logged once each, whole or streamed, in one line [P1381]", () =>
    Effect.gen(function* () {
      const odd = [{ type: "other", message: "a\n\u001b[31mb\u2028c" }]
      for (const way of ["whole", "streamed"] as const)
        assert.deepStrictEqual(yield* loggedOf([all, undefined, [...odd, ...all], []], way), [
          `${head}no`,
          `${head}a  [31mb c`
        ])
    })
  )

  it.effect(
    "are logged a hundred times for one model, as a provider may word each of them in another way [P1381]",
    () =>
      Effect.gen(function* () {
        const many = Array.from({ length: 60 }, (_, at) => ({ type: "other", message: `no ${at}` }))
        const more = Array.from({ length: 60 }, (_, at) => ({ type: "other", message: `and ${at}` }))
        const logged = yield* loggedOf([many, more, all])
        assert.lengthOf(logged, 100)
        assert.strictEqual(logged.at(-1), `${head}and 39`)
      })
  )
})
