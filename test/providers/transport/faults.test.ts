import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type { Transport } from "@kintsugi/providers"
import { Duration, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { calm } from "../../_support/dialogue.ts"
import {
  body,
  completion,
  failsWith,
  fakeNetwork,
  finished,
  generate,
  ok,
  openAi,
  type Reaction,
  respond,
  respondWith,
  streamParts,
  terminated
} from "../../_support/network.ts"

const calling = (script: ReadonlyArray<Reaction> | Reaction, transport?: Transport.Options) => {
  const network = fakeNetwork(script)
  return { network, call: generate.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer)) }
}

const coded = (code: string, message = "") => Object.assign(new Error(message), { code })
const undici = (code: string) => new TypeError("fetch failed", { cause: coded(code) })
const named = (name: string, message: string) => Object.assign(new Error(message), { name })

/** Errors of runtimes, and the message of the resulting error. */
const connectionFaults: ReadonlyArray<readonly [string, () => unknown, RegExp]> = [
  ["Node: refused", () => undici("ECONNREFUSED"), /refused/],
  [
    "Node: refused at every address of a name",
    () => new TypeError("fetch failed", { cause: new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]) }),
    /refused/
  ],
  ["Node: no such name", () => undici("ENOTFOUND"), /could not be resolved/],
  ["Node: no name server", () => undici("EAI_AGAIN"), /could not be resolved/],
  ["Node: reset", () => undici("ECONNRESET"), /was lost/],
  ["Node: other side closed", () => undici("UND_ERR_SOCKET"), /was lost/],
  ["Node: a bad port, without a code", () => new TypeError("fetch failed", { cause: new Error("bad port") }), /failed/],
  ["Node: no route", () => undici("EHOSTUNREACH"), /no route to/],
  ["Node: no network", () => undici("ENETUNREACH"), /no route to/],
  ["Node: aborted by the system", () => undici("ECONNABORTED"), /was lost/],
  ["Node: a pipe without an end", () => undici("EPIPE"), /was lost/],
  ["Node: an old certificate", () => undici("CERT_HAS_EXPIRED"), /certificate of api\.test:443 is not trusted/],
  ["Node: a certificate of another host", () => undici("ERR_TLS_CERT_ALTNAME_INVALID"), /is not trusted/],
  ["Node: a body that ended early", () => new TypeError("terminated"), /was lost/],
  ["Bun: no such name", () => coded("DNSLookupFailed", "Could not resolve hostname"), /could not be resolved/],
  ["Bun: no socket", () => coded("FailedToOpenSocket", "Was there a typo in the url or port?"), /failed/],
  ["Bun: refused, in words", () => new Error("Unable to connect. Is the computer able to access the url?"), /refused/],
  ["Bun: closed, with the system's code", () => coded("ECONNRESET", "The socket connection was closed"), /was lost/],
  ["Bun: a certificate of one's own", () => coded("DEPTH_ZERO_SELF_SIGNED_CERT", "self signed"), /is not trusted/],
  ["Bun: refused", () => Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused" }), /refused/],
  ["Bun: closed", () => Object.assign(new Error("The socket was closed"), { code: "ConnectionClosed" }), /was lost/],
  [
    "Deno: refused",
    () => new TypeError("error sending request: client error (Connect): Connection refused (os error 111)"),
    /refused/
  ],
  [
    "Deno: no such name",
    () => new TypeError("client error (Connect): dns error: failed to lookup address information"),
    /could not be resolved/
  ],
  ["Deno: closed", () => new TypeError("connection closed before message completed"), /was lost/],
  [
    "Deno: reset",
    () => new TypeError("client error (SendRequest): connection error: Connection reset by peer"),
    /lost/
  ],
  ["Deno: no handshake", () => new TypeError("client error (Connect): tls handshake eof"), /was lost/],
  ["Deno: no network", () => new TypeError("tcp connect error: Network is unreachable (os error 101)"), /no route to/],
  ["Deno: no route", () => new TypeError("tcp connect error: No route to host (os error 113)"), /no route to/],
  ["Deno: an old certificate", () => new TypeError("(Connect): invalid peer certificate: Expired"), /is not trusted/],
  ["Deno: a body that ended early", () => new TypeError("error reading a body from connection"), /was lost/],
  [
    "Deno on Windows: refused",
    () => new TypeError("No connection could be made because the target machine actively refused it. (os error 10061)"),
    /refused/
  ],
  [
    "Deno on Windows: closed",
    () => new TypeError("An existing connection was forcibly closed by the remote host. (os error 10054)"),
    /was lost/
  ],
  ["Chromium", () => new TypeError("Failed to fetch"), /failed/],
  ["Chromium, in a body", () => new TypeError("network error"), /was lost/],
  ["Firefox", () => new TypeError("NetworkError when attempting to fetch resource."), /failed/],
  ["Safari", () => new TypeError("Load failed"), /failed/],
  ["a string", () => "boom", /failed/],
  ["nothing", () => undefined, /failed/]
]

const connectTimeouts: ReadonlyArray<readonly [string, () => unknown]> = [
  ["Node", () => undici("UND_ERR_CONNECT_TIMEOUT")],
  ["Node, by the system", () => new TypeError("fetch failed", { cause: new AggregateError([coded("ETIMEDOUT")]) })],
  ["Bun", () => Object.assign(new Error("timed out"), { code: "ConnectionTimeout" })],
  ["Deno", () => new TypeError("client error (Connect): tcp connect error: Connection timed out (os error 110)")]
]

const silentLimits: ReadonlyArray<readonly [string, () => unknown]> = [
  ["Node, headers", () => undici("UND_ERR_HEADERS_TIMEOUT")],
  ["Node, body", () => undici("UND_ERR_BODY_TIMEOUT")],
  ["Bun", () => named("TimeoutError", "The operation timed out.")],
  ["Deno", () => new TypeError("error sending request: operation timed out")]
]

const throwing =
  (cause: () => unknown): Reaction =>
  () =>
    Effect.suspend(() => Effect.fail(cause()))

describe("faults beneath HTTP", () => {
  for (const [what, cause, says] of connectionFaults) {
    it.effect(`${what} is a NetworkError, and is resent [T8 A801]`, () =>
      Effect.gen(function* () {
        const { call, network } = calling(throwing(cause))
        const error = failsWith(yield* finished(call), LlmError.NetworkError)
        assert.match(error.message, says)
        assert.strictEqual(error.host, "api.test")
        assert.strictEqual(error.port, 443)
        assert.strictEqual(error.provider, "openai")
        assert.strictEqual(network.sent.length, 3)
      })
    )
  }

  for (const [runtime, cause] of connectTimeouts) {
    it.effect(`a connect timeout of ${runtime} is a NetworkError, and is resent [A806]`, () =>
      Effect.gen(function* () {
        const { call, network } = calling([throwing(cause), ok])
        assert(Exit.isSuccess(yield* finished(call)))
        assert.deepStrictEqual(network.times(), [0, 250])
        const alone = calling(throwing(cause), { retry: false })
        assert.match(failsWith(yield* finished(alone.call), LlmError.NetworkError).message, /too long/)
      })
    )
  }

  for (const [runtime, cause] of silentLimits) {
    it.effect(`the limit of ${runtime} on a silent request is a RequestTimeoutError, sent once [A806 A804]`, () =>
      Effect.gen(function* () {
        const silent: Reaction = () => Effect.delay(throwing(cause)(), "5 seconds")
        const { call, network } = calling([silent])
        const error = failsWith(yield* finished(call), LlmError.RequestTimeoutError)
        assert.deepStrictEqual(error.timeout, Duration.seconds(5))
        assert.strictEqual(network.sent.length, 1)
      })
    )
  }

  it.effect("a head that the client finds too large is a ReplyTooLargeError with its cause, sent once [P1401]", () =>
    Effect.gen(function* () {
      for (const code of ["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"]) {
        const { call, network } = calling([throwing(() => undici(code))])
        const error = failsWith(yield* finished(call), LlmError.ReplyTooLargeError)
        assert.include(error.message, "The head of the answer from api.test is larger than maxHeaderSize")
        assert.deepStrictEqual([error.option, error.limit, error.isRetryable], ["maxHeaderSize", undefined, false])
        assert.instanceOf(error.cause, TypeError)
        assert.strictEqual(network.sent.length, 1)
      }
    })
  )

  it.effect("sends after connect timeouts only within the total [A806]", () =>
    Effect.gen(function* () {
      const slow: Reaction = () => Effect.delay(throwing(() => undici("UND_ERR_CONNECT_TIMEOUT"))(), "10 seconds")
      const { call, network } = calling(slow, { requestTimeout: "15 seconds" })
      failsWith(yield* finished(call), LlmError.RequestTimeoutError)
      assert.deepStrictEqual(network.times(), [0, 10_250])
    })
  )

  it.effect("keeps the original as the cause [T8]", () =>
    Effect.gen(function* () {
      const original = undici("ECONNRESET")
      const { call } = calling(
        throwing(() => original),
        { retry: false }
      )
      assert.strictEqual(failsWith(yield* finished(call), LlmError.NetworkError).cause, original)
    })
  )
})

describe("bodies", () => {
  it.effect("a connection lost while the body is read is a NetworkError, and is resent [A808]", () =>
    Effect.gen(function* () {
      const half = JSON.stringify(completion("ok")).slice(0, 40)
      const broken = respondWith(200, () => body([half], terminated()))
      const { call, network } = calling([broken, broken, ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.deepStrictEqual(network.times(), [0, 250, 750])
      const alone = calling([broken], { retry: false })
      failsWith(yield* finished(alone.call), LlmError.NetworkError)
    })
  )

  it.effect("holds for the body of an error too [A808]", () =>
    Effect.gen(function* () {
      const broken = respondWith(400, () => body(["{"], terminated()))
      const { call, network } = calling([broken, ok])
      assert(Exit.isSuccess(yield* finished(call)))
      assert.strictEqual(network.sent.length, 2)
    })
  )

  it.effect("cuts off a body above the limit, fails typed, and sends once [A812 P1401]", () =>
    Effect.gen(function* () {
      let pulled = 0
      // without the limit it ends too, so that the test fails
      const endless: Reaction = respondWith(
        200,
        () =>
          new ReadableStream({
            pull(controller) {
              if (++pulled > 1000) controller.close()
              else controller.enqueue(new Uint8Array(1000))
            }
          })
      )
      const { call, network } = calling([endless], { maxBodyBytes: 10_000 })
      const error = failsWith(yield* finished(call), LlmError.ReplyTooLargeError)
      assert.include(error.message, "is larger than maxBodyBytes admits, 10000 bytes (openai, status 200)")
      assert.deepStrictEqual([error.option, error.limit, error.isRetryable], ["maxBodyBytes", 10_000, false])
      assert.strictEqual(network.sent.length, 1)
      assert.isAtMost(pulled, 13)
    })
  )

  it.effect("admits a body of exactly the limit, and refuses one byte more [A812]", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(completion("ok"))
      const exact = calling([respond(200, text)], { maxBodyBytes: text.length })
      assert(Exit.isSuccess(yield* finished(exact.call)))
      const beyond = calling([respond(200, text)], { maxBodyBytes: text.length - 1 })
      failsWith(yield* finished(beyond.call), LlmError.ReplyTooLargeError)
    })
  )

  it.effect(
    "holds for the page of an error too, of which its status then says all, whole and streamed [A812 P1405]",
    () =>
      Effect.gen(function* () {
        const page = "x".repeat(2000)
        for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
          const network = fakeNetwork([respond(503, page), respond(400, page)])
          const layer = openAi({ maxBodyBytes: 1000 })
          const exit = yield* finished(call.pipe(Effect.provide(layer), Effect.provide(network.layer)))
          assert.strictEqual(failsWith(exit, LlmError.InvalidRequestError).status, 400)
          assert.strictEqual(network.sent.length, 2)
        }
      })
  )

  it.effect("is 64 MiB by default [A812 P1401]", () =>
    Effect.gen(function* () {
      const mebibyte = new Uint8Array(1024 * 1024).fill(32)
      const of = (count: number, last: string) =>
        calling([respondWith(200, () => body([...Array.from({ length: count }, () => mebibyte), last]))], {
          retry: false
        })
      assert(Exit.isSuccess(yield* finished(of(63, JSON.stringify(completion("ok"))).call)))
      assert.strictEqual(
        failsWith(yield* finished(of(64, " ").call), LlmError.ReplyTooLargeError).limit,
        64 * 1024 * 1024
      )
    })
  )

  it.effect("gives the connection back: of a body above the limit, and of an interrupted one [A812 A111]", () =>
    Effect.gen(function* () {
      const ends: Array<string> = []
      const stalling = (size: number): Reaction =>
        respondWith(
          200,
          () =>
            new ReadableStream({
              start: (controller) => controller.enqueue(new Uint8Array(size)),
              cancel: () => void ends.push(`of ${size}`)
            })
        )
      failsWith(yield* finished(calling([stalling(2000)], { maxBodyBytes: 1000 }).call), LlmError.ReplyTooLargeError)
      const reading = yield* Effect.forkChild(calling([stalling(10)]).call)
      yield* calm
      assert.deepStrictEqual(ends, ["of 2000"])
      assert(Exit.hasInterrupts(yield* Fiber.interrupt(reading).pipe(Effect.andThen(Fiber.await(reading)))))
      assert.deepStrictEqual(ends, ["of 2000", "of 10"])
    })
  )

  it.effect(
    "holds for clients that put something around the answers of fetch, which sees all of them [A812 A808]",
    () =>
      Effect.gen(function* () {
        const text = JSON.stringify(completion("ok"))
        let seen = 0
        const foreign = (reaction: Reaction, maxBodyBytes = text.length) => {
          const { layer } = fakeNetwork([reaction])
          const hidden = HttpClient.transformResponse(
            Effect.map((response) => {
              const counted = Stream.tap(response.stream, (chunk) => Effect.sync(() => void (seen += chunk.length)))
              return Object.create(response, { stream: { value: counted } })
            })
          )
          const client = Layer.provide(
            Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, hidden)),
            layer
          )
          return finished(Effect.provide(generate.pipe(Effect.provide(openAi({ retry: false, maxBodyBytes }))), client))
        }
        assert(Exit.isSuccess(yield* foreign(respond(200, text))))
        assert.strictEqual(seen, text.length)
        assert.strictEqual(failsWith(yield* foreign(respond(200, text), 10), LlmError.ReplyTooLargeError).limit, 10)
        failsWith(yield* foreign(respondWith(200, () => body(["{"], terminated()))), LlmError.NetworkError)
      })
  )

  it.effect("rejects a body that is too long, by its content-length or, if it is compressed, by its size [A812]", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(completion("ok"))
      const saying = (headers: Readonly<Record<string, string>>, maxBodyBytes: number) =>
        finished(calling([respond(200, text, headers)], { retry: false, maxBodyBytes }).call)
      const long = { "content-length": String(text.length) }
      assert(Exit.isSuccess(yield* saying(long, text.length)))
      for (const headers of [long, { "content-length": "20", "content-encoding": "gzip" }, { "content-length": "" }]) {
        const error = failsWith(yield* saying(headers, text.length - 1), LlmError.ReplyTooLargeError)
        assert.strictEqual(error.limit, text.length - 1)
      }
    })
  )

  it.effect("a body may come in any pieces, cut inside its characters too", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(JSON.stringify(completion("grüße 🙂 折り鶴")))
      const { call } = calling([respondWith(200, () => body(Array.from(bytes, (byte) => Uint8Array.of(byte))))])
      const exit = yield* finished(call)
      assert(Exit.isSuccess(exit))
      assert.deepStrictEqual(exit.value.content, [{ type: "text", text: "grüße 🙂 折り鶴" }])
    })
  )

  it.effect(
    "an empty body, a missing one and half a JSON text are UnknownLlmErrors with their cause, never defects [T8]",
    () =>
      Effect.gen(function* () {
        const bodies: ReadonlyArray<Reaction> = [
          respond(200, ""),
          () => Effect.sync(() => new Response(null, { status: 204 })),
          respond(200, '{"choices":[{"mess'),
          respond(200, "null"),
          respond(200, "[]"),
          respond(200, { choices: [] }),
          respond(200, { choices: [{ message: "text" }] })
        ]
        for (const reaction of bodies) {
          const error = failsWith(yield* finished(calling([reaction]).call), LlmError.UnknownLlmError)
          assert.instanceOf(error.cause, Error)
        }
      })
  )

  it.effect("a page instead of JSON is classified by its status, and not quoted [T8]", () =>
    Effect.gen(function* () {
      const { call } = calling([respond(502, "<html>\n<h1>Bad gateway</h1>")], { retry: false })
      const error = failsWith(yield* finished(call), LlmError.ServerError)
      assert.strictEqual(error.status, 502)
      assert.isUndefined(error.detail)
    })
  )
})

describe("redirects and invalid URLs", () => {
  it.effect(
    "a redirect is an InvalidRequestError that names the URL that was asked and the other host, and no more of it",
    () =>
      Effect.gen(function* () {
        const { call, network } = calling([
          respond(307, "", { location: "https://user:pw@elsewhere.test/x?token=abcdefgh" })
        ])
        const error = failsWith(yield* finished(call), LlmError.InvalidRequestError)
        assert.include(error.message, "/chat/completions to https://elsewhere.test (status 307)")
        assert.notInclude(error.message, "token")
        assert.strictEqual(network.sent.length, 1)
      })
  )

  it.effect("a base URL that is none fails typed, and sends nothing", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([])
      const call = generate.pipe(Effect.provide(openAi({}, { baseUrl: "not a url" })), Effect.provide(network.layer))
      assert.include(failsWith(yield* finished(call), LlmError.InvalidRequestError).message, "is not a URL")
      assert.strictEqual(network.sent.length, 0)
    })
  )
})
