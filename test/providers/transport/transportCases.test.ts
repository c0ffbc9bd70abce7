/** Each case of `test/fixtures/transport-cases.json`, whole or streamed as it says, by its id. */
import { readFileSync } from "node:fs"
import * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Redacted, type Scope, Stream } from "effect"
import {
  calm,
  done,
  failsWith,
  outwaiting,
  fakeNetwork,
  finishChunk,
  key,
  openAi,
  pass,
  request,
  respondWith,
  streamText,
  textChunk,
  throwing
} from "../../_support/network.ts"

const { cases }: { readonly cases: ReadonlyArray<{ readonly id: string; readonly expected: string }> } = JSON.parse(
  readFileSync(new URL("../../fixtures/transport-cases.json", import.meta.url), "utf8")
)

const modelAt = (baseUrl: string, transport: Transport.Options = { retry: false }) =>
  OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl, transport }).pipe(Layer.provide(Transport.layerFetch))

const whole = Effect.asVoid(Effect.flatMap(Model.Model, (model) => model.generate(request)))
const streamed = Effect.asVoid(Effect.flatMap(Model.Model, (model) => Stream.runDrain(model.stream(request))))
const bothWays = [whole, streamed]

const brain = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "five words and some more" }] }))

const serving = (...script: ReadonlyArray<Fault.Fault>) => LoopbackServer.make(Fault.inFront(script, brain))

/** What each way of asking a server with this fault ends with; and that it was asked once. */
const failures = (fault: Fault.Fault, ways = bothWays, transport?: Transport.Options) =>
  Effect.forEach(ways, (modelCall) =>
    Effect.gen(function* () {
      const server = yield* serving(fault)
      const exit = yield* Effect.exit(Effect.provide(modelCall, modelAt(server.url, transport)))
      assert.strictEqual((yield* server.requests).length, 1)
      return { exit, server }
    })
  )

/** A server that takes connections and does with them what it likes. */
const listener = (use: (socket: Net.Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const sockets = new Set<Net.Socket>()
      const server = Net.createServer((socket) => {
        sockets.add(socket)
        use(socket)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        const close = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const silent = (id: string, fault: Fault.Fault, ways: typeof bothWays, transport: Transport.Options) =>
  Effect.gen(function* () {
    for (const modelCall of ways) {
      const server = yield* serving(fault)
      const call = Effect.provide(modelCall, modelAt(server.url, { retry: false, ...transport }))
      failsWith(yield* outwaiting(server, call), LlmError.RequestTimeoutError)
      assert.strictEqual((yield* server.requests).length, 1)
      // The server sees that the client disconnected.
      assert.strictEqual((yield* server.nextAbort).number, 1, id)
    }
  })

const tests: Readonly<Record<string, (id: string) => Effect.Effect<unknown, unknown, Scope.Scope>>> = {
  refused: () =>
    Effect.gen(function* () {
      for (const modelCall of bothWays) {
        const exit = yield* Effect.exit(Effect.provide(modelCall, modelAt(yield* LoopbackServer.refusedUrl)))
        assert.match(failsWith(exit, LlmError.NetworkError).message, /Connection to 127\.0\.0\.1:\d+ was refused/)
      }
    }),
  dns: () =>
    Effect.gen(function* () {
      for (const modelCall of bothWays) {
        const exit = yield* Effect.exit(Effect.provide(modelCall, modelAt("http://nowhere.invalid")))
        assert.include(failsWith(exit, LlmError.NetworkError).message, "could not be resolved")
        for (const code of ["ENOTFOUND", "EAI_AGAIN"]) {
          const network = fakeNetwork([throwing(code)])
          const call = modelCall.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(network.layer))
          assert.include(failsWith(yield* Effect.exit(call), LlmError.NetworkError).message, "could not be resolved")
        }
      }
    }),
  "connect-timeout": () =>
    Effect.gen(function* () {
      for (const modelCall of bothWays) {
        const network = fakeNetwork([throwing("UND_ERR_CONNECT_TIMEOUT")])
        const call = modelCall.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(network.layer))
        assert.include(failsWith(yield* Effect.exit(call), LlmError.NetworkError).message, "took too long")
      }
    }),
  "no-headers": (id) =>
    Effect.gen(function* () {
      yield* silent(id, Fault.cut("nothing", "silence"), bothWays, { requestTimeout: "1 minute" })
      yield* silent(id, Fault.cut("nothing", "silence"), [streamed], { firstPart: "1 minute" })
      for (const modelCall of bothWays) {
        const network = fakeNetwork([throwing("UND_ERR_HEADERS_TIMEOUT")])
        const call = modelCall.pipe(Effect.provide(openAi({ retry: false })), Effect.provide(network.layer))
        failsWith(yield* Effect.exit(call), LlmError.RequestTimeoutError)
      }
    }),
  "stalled-body": (id) => silent(id, Fault.cut(60, "silence"), [whole], { requestTimeout: "1 minute" }),
  "stalled-stream": (id) => silent(id, Fault.cut(400, "silence"), [streamed], { betweenParts: "1 minute" }),
  "reset-before-headers": () =>
    Effect.gen(function* () {
      for (const { exit } of yield* failures(Fault.cut("nothing", "reset"))) {
        assert.include(failsWith(exit, LlmError.NetworkError).message, "was lost")
      }
      // safe to send again
      const server = yield* serving(Fault.cut("nothing", "reset"))
      yield* Effect.provide(whole, modelAt(server.url, { retry: { initialBackoff: 0 } }))
      // so is a connection that was never answered at all
      const rude = yield* listener((socket) => socket.resetAndDestroy())
      for (const modelCall of bothWays) {
        failsWith(yield* Effect.exit(Effect.provide(modelCall, modelAt(rude.url))), LlmError.NetworkError)
      }
    }),
  "reset-mid-body": () =>
    Effect.gen(function* () {
      const body = `{"choices":[],"filler":"${"x".repeat(473)}"}`
      const long: Fault.Fault = (good) => Effect.map(good, (answer) => ({ ...answer, body }))
      for (const { exit } of yield* failures(Fault.all(long, Fault.cut(100, "reset")))) {
        failsWith(exit, LlmError.NetworkError)
      }
    }),
  "clean-eof-mid-stream": () =>
    Effect.gen(function* () {
      const server = yield* serving(Fault.cut(400, "end"))
      const { exit, text } = yield* Effect.provide(streamText, modelAt(server.url))
      assert.include(failsWith(exit, LlmError.NetworkError).message, "ended before the reply was complete")
      assert.isAbove(text.length, 0)
    }),
  "json-cut": () =>
    Effect.gen(function* () {
      for (const { exit } of yield* failures(Fault.cut(60, "end"), [whole])) failsWith(exit, LlmError.UnknownLlmError)
    }),
  "html-200": () =>
    Effect.gen(function* () {
      const page = Fault.status(200, "<html><body>Please log in</body></html>", { "content-type": "text/html" })
      for (const { exit } of yield* failures(page, [whole])) failsWith(exit, LlmError.UnknownLlmError)
      for (const { exit } of yield* failures(page, [streamed])) failsWith(exit, LlmError.NetworkError)
    }),
  redirect: () =>
    Effect.gen(function* () {
      const other = yield* serving()
      const away = Fault.status(307, "", { location: `${other.url}/chat/completions` })
      for (const { exit } of yield* failures(away)) failsWith(exit, LlmError.InvalidRequestError)
      assert.deepStrictEqual(yield* other.requests, [])
    }),
  abort: () =>
    Effect.gen(function* () {
      for (const modelCall of bothWays) {
        const arrived = yield* Deferred.make<void>()
        // the stream has begun by then, the whole answer has its head
        const isStuck = (index: number) => modelCall === whole || index === 2
        const stuck = Fault.all(
          Fault.split(modelCall === whole ? "whole" : "event"),
          Fault.gated((index) =>
            isStuck(index) ? Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never) : Effect.void
          )
        )
        const server = yield* serving(stuck)
        const fiber = yield* Effect.forkChild(Effect.provide(modelCall, modelAt(server.url, {})))
        yield* Deferred.await(arrived)
        yield* Fiber.interrupt(fiber)
        // the close of the socket, as the server sees it
        assert.strictEqual((yield* server.nextAbort).number, 1)
        const exit = yield* Fiber.await(fiber)
        assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        assert.strictEqual((yield* server.requests).length, 1)
      }
    })
}

describe("transport cases", () => {
  for (const [id, test] of Object.entries(tests)) it.live(`${id} [A801 T8]`, () => test(id))

  it.effect("slow-but-alive [P505]", () =>
    Effect.gen(function* () {
      let writer: ReadableStreamDefaultController<Uint8Array> | undefined
      const endless = () => new ReadableStream<Uint8Array>({ start: (controller) => void (writer = controller) })
      const say = (text: string) => Effect.sync(() => writer?.enqueue(new TextEncoder().encode(text)))
      const network = fakeNetwork([respondWith(200, endless)])
      const limits = { firstPart: "5 seconds", betweenParts: "5 seconds", retry: false } as const
      const fiber = yield* Effect.forkChild(
        streamText.pipe(Effect.provide(openAi(limits)), Effect.provide(network.layer))
      )
      yield* calm
      // four times as long as the limit, before the first part and after it
      for (const ping of [": keep-alive\n\n", "event: ping\ndata: {}\n\n"]) {
        for (let second = 0; second < 5; second++) {
          yield* say(ping)
          yield* pass(4000)
        }
        yield* say(textChunk("alive "))
      }
      yield* say(finishChunk() + done)
      const { exit, text } = yield* Fiber.join(fiber)
      assert(Exit.isSuccess(exit), String(exit))
      assert.strictEqual(text, "alive alive ")
    })
  )

  it("has a test for each case of the file [A801]", () => {
    assert.deepStrictEqual(
      cases.map(({ id }) => id).filter((id) => !(id in tests)),
      ["slow-but-alive"]
    )
  })
})
