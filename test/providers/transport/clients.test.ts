/** The clients of a transport over real connections: which limits of time hold, and what stands in the way of a request. */
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, Model } from "@kintsugi/core"
import { OpenAi, Resilience, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer, Recording } from "@kintsugi/providers/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Latch, Layer, Redacted, Schedule, Scope, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Undici from "undici"
import { undiciLayer } from "../../../packages/providers/src/transport/clients.ts"
import { failsWith, fakeNetwork, key, ok, openAi, request, streamText } from "../../_support/network.ts"

const brain = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "five words and some more" }] }))

const modelAt = (
  baseUrl: string,
  transport: Transport.Options,
  client: Layer.Layer<Transport.HttpClient> = Transport.layerUndici()
) => OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl, transport }).pipe(Layer.provide(client))

const whole = Effect.asVoid(Effect.flatMap(Model.Model, (model) => model.generate(request)))
const streamed = Effect.asVoid(Effect.flatMap(Model.Model, (model) => Stream.runDrain(model.stream(request))))

const agent = (options: Undici.Agent.Options) =>
  Effect.acquireRelease(
    Effect.sync(() => new Undici.Agent(options)),
    (dispatcher) => Effect.promise(() => dispatcher.destroy())
  )

/** Waits until a request of its own, with nothing around it, has failed with this limit of the dispatcher. */
const outlasted = (dispatcher: Undici.Dispatcher, url: string, code: string) =>
  Effect.promise(async () => {
    const failure: unknown = await Undici.fetch(url, { dispatcher }).then(
      (response) => response.text().catch((error: unknown) => error),
      (error: unknown) => error
    )
    assert(failure instanceof Error)
    assert.propertyVal(failure.cause, "code", code)
  })

const asked = (server: LoopbackServer.LoopbackServer, times: number) =>
  Effect.gen(function* () {
    while ((yield* server.requests).length < times) yield* Effect.yieldNow
  })

describe("layerUndici", () => {
  it.effect("a requestTimeout of 3 s holds over a dispatcher whose limit is 1 s, whole and streamed [P1402]", () =>
    Effect.gen(function* () {
      const dispatcher = yield* agent({ headersTimeout: 1000 })
      const gate = yield* Latch.make()
      const silent = yield* LoopbackServer.make(Fault.inFront(() => Fault.cut("nothing", "silence"), brain))
      const late = yield* LoopbackServer.make(Fault.inFront(() => Fault.delayed(gate.await), brain))
      const options = { requestTimeout: "3 seconds", retry: false } as const
      const calling = (url: string) =>
        Effect.forEach([whole, streamed], (call) =>
          Effect.forkChild(
            Effect.exit(Effect.provide(call, modelAt(url, options, Transport.layerUndici({ dispatcher }))))
          )
        )
      const answered = yield* calling(late.url)
      const unanswered = yield* calling(silent.url)
      yield* Effect.all([asked(late, 2), asked(silent, 2)])
      // begins after all of them
      yield* outlasted(dispatcher, silent.url, "UND_ERR_HEADERS_TIMEOUT")
      yield* gate.open
      for (const fiber of answered) assert(Exit.isSuccess(yield* Fiber.join(fiber)))
      yield* TestClock.adjust("2999 millis")
      for (const fiber of unanswered) assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      for (const fiber of unanswered) failsWith(yield* Fiber.join(fiber), LlmError.RequestTimeoutError)
    })
  )

  it.effect("a stream may be silent for longer than a dispatcher admits [P1402]", () =>
    Effect.gen(function* () {
      const dispatcher = yield* agent({ bodyTimeout: 1000 })
      const gate = yield* Latch.make()
      const begun = yield* Deferred.make<void>()
      const pausing = Fault.all(
        Fault.split("event"),
        Fault.gated((index) =>
          index < 2 ? Effect.void : Effect.andThen(Deferred.succeed(begun, undefined), gate.await)
        )
      )
      const late = yield* LoopbackServer.make(Fault.inFront(() => pausing, brain))
      const stalled = yield* LoopbackServer.make(Fault.inFront(() => Fault.cut(5, "silence"), brain))
      const layer = modelAt(late.url, { retry: false }, Transport.layerUndici({ dispatcher }))
      const reading = yield* Effect.forkChild(Effect.provide(streamText, layer))
      yield* Deferred.await(begun)
      yield* outlasted(dispatcher, stalled.url, "UND_ERR_BODY_TIMEOUT")
      yield* gate.open
      const { exit, text } = yield* Fiber.join(reading)
      assert(Exit.isSuccess(exit))
      assert.strictEqual(text, "five words and some more")
    })
  )

  it.live("follows no redirect, and gives its connection back when it is interrupted [P1402 A111]", () =>
    Effect.gen(function* () {
      const aside = yield* LoopbackServer.make(
        Fault.inFront([Fault.status(307, "", { location: "http://b.test/" })], brain)
      )
      const exit = yield* Effect.exit(Effect.provide(whole, modelAt(aside.url, {})))
      assert.include(failsWith(exit, LlmError.InvalidRequestError).message, "to http://b.test (status 307)")
      const silent = yield* LoopbackServer.make(Fault.inFront(() => Fault.cut("nothing", "silence"), brain))
      const calling = yield* Effect.forkChild(Effect.provide(streamed, modelAt(silent.url, {})))
      yield* asked(silent, 1)
      yield* Fiber.interrupt(calling)
      assert.strictEqual((yield* silent.nextAbort).number, 1)
    })
  )

  it.effect("has an agent of its own, which ends with the layer [P1402]", () =>
    Effect.gen(function* () {
      let ended = 0
      class Agent {
        compose = () => this
        destroy = () => Promise.resolve(void ended++)
      }
      const own = { fetch: globalThis.fetch, Agent }
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(
        undiciLayer(() => Promise.resolve(own)),
        scope
      )
      assert.strictEqual(ended, 0)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(ended, 1)
    })
  )

  it.effect("says how to install undici where it is missing [P1402]", () =>
    Effect.gen(function* () {
      const missing = Object.assign(new Error("Cannot find package 'undici'"), { code: "ERR_MODULE_NOT_FOUND" })
      for (const [failure, says] of [
        [missing, "needs the package undici, which is not installed: npm install undici"],
        [new Error("Cannot find module 'undici'\nRequire stack:"), "which is not installed"],
        [new Error("Cannot find package 'ws' imported from /undici/index.js"), "could not load the package undici"],
        [new Error("it is broken"), "could not load the package undici"]
      ] as const) {
        const exit = yield* Effect.exit(Layer.build(undiciLayer(() => Promise.reject(failure))))
        assert(Exit.isFailure(exit))
        const defect = Cause.squash(exit.cause)
        assert(defect instanceof Error)
        assert.include(defect.message, says)
        assert.strictEqual(defect.cause, failure)
      }
    })
  )

  it.effect("says that a dispatcher of an older undici does not do [P1402]", () =>
    Effect.gen(function* () {
      // without types, as a program in JavaScript gives it
      const old = Object.assign(Object.create(null), { dispatch: () => true })
      const exit = yield* Effect.exit(Layer.build(Transport.layerUndici({ dispatcher: old })))
      assert(Exit.isFailure(exit))
      const defect = Cause.squash(exit.cause)
      assert(defect instanceof TypeError)
      assert.include(defect.message, "needs a dispatcher of undici 7 or newer")
    })
  )
})

describe("layerFetch", () => {
  const built = (transport: Transport.Options, client: Layer.Layer<Transport.HttpClient>) =>
    Effect.exit(Layer.build(Layer.provide(openAi(transport), client)))

  it.effect("a requestTimeout above 300 s is refused when the layer is built [P1402]", () =>
    Effect.gen(function* () {
      const around = Resilience.layerHttp.pipe(Layer.provideMerge(Transport.layerFetch))
      const guarded = Layer.provide(
        Layer.provide(openAi({ requestTimeout: "301 seconds" }), Resilience.layerHttp),
        Transport.layerFetch
      )
      assert(Exit.isFailure(yield* Effect.exit(Layer.build(guarded))))
      for (const client of [Transport.layerFetch, around]) {
        for (const requestTimeout of ["301 seconds", "15 minutes", Infinity] as const) {
          const exit = yield* built({ requestTimeout }, client)
          assert(Exit.isFailure(exit))
          const defect = Cause.squash(exit.cause)
          assert(defect instanceof RangeError)
          assert.match(
            defect.message,
            /^Transport: requestTimeout is .+, and fetch ends each wait for an answer after 5m; put Transport.layerUndici\(\)/
          )
        }
        assert(Exit.isSuccess(yield* built({ requestTimeout: "300 seconds" }, client)))
        assert(Exit.isSuccess(yield* built({ betweenParts: Infinity }, client)))
      }
    })
  )

  const within = (make: (client: HttpClient.HttpClient) => HttpClient.HttpClient) =>
    Layer.provide(Layer.effect(Transport.HttpClient, Effect.map(Transport.HttpClient, make)), Transport.layerFetch)
  const tagged = HttpClient.mapRequest(HttpClientRequest.setHeader("x-team", "search"))

  it.effect("is found behind other clients, when the layer is built [P1402]", () =>
    Effect.gen(function* () {
      const file = Path.join(Os.tmpdir(), "unused.json")
      const recording = Layer.orDie(Layer.provide(Recording.record(file), Transport.layerFetch))
      const around = [within((client) => client), within(tagged), within(HttpClient.filterStatusOk), recording]
      for (const client of around) {
        const exit = yield* built({ requestTimeout: "15 minutes" }, client)
        assert(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof RangeError)
        assert(Exit.isSuccess(yield* built({}, client)))
      }
    })
  )

  it.effect("is found behind clients that hide it at the first request, and nothing is sent [P1402]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      const client = within((client) => tagged(HttpClient.filterStatusOk(client)))
      for (const call of [whole, streamed]) {
        const model = modelAt(server.url, { requestTimeout: "15 minutes" }, client)
        const exit = yield* Effect.exit(Effect.provide(call, model))
        assert(Exit.isFailure(exit))
        const defect = Cause.squash(exit.cause)
        assert(defect instanceof RangeError)
        assert.include(defect.message, "Transport: requestTimeout is 15m, and fetch ends")
        yield* Effect.provide(call, modelAt(server.url, {}, client))
      }
      assert.strictEqual((yield* server.requests).length, 2)
    })
  )

  it.effect("is not refused over layerUndici, nor over a client of one's own beside layerFetch [P1402]", () =>
    Effect.gen(function* () {
      assert(Exit.isSuccess(yield* built({ requestTimeout: Infinity }, Transport.layerUndici())))
      const own = Layer.provide(openAi({ requestTimeout: Infinity }), fakeNetwork([ok]).layer)
      const agent = Agent.make("worker", { model: own })
      assert.strictEqual(yield* Effect.provide(agent("go"), Transport.layerFetch), "ok")
      assert(Exit.isSuccess(yield* Effect.exit(Layer.build(Layer.provide(own, Transport.layerFetch)))))
    })
  )

  it.effect("Effect's own FetchHttpClient is refused too, at the first request, and nothing is sent [P1402]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      const retried = (client: HttpClient.HttpClient) =>
        HttpClient.retryTransient(client, { times: 2, schedule: Schedule.spaced(0) })
      const around = (make: (client: HttpClient.HttpClient) => HttpClient.HttpClient) =>
        Layer.provide(
          Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, make)),
          FetchHttpClient.layer
        )
      const guarded = Layer.provide(Resilience.layerHttp, FetchHttpClient.layer)
      for (const client of [FetchHttpClient.layer, around(tagged), around(retried), guarded]) {
        for (const call of [whole, streamed]) {
          const exit = yield* Effect.exit(
            Effect.provide(call, modelAt(server.url, { requestTimeout: "15 minutes" }, client))
          )
          assert(Exit.isFailure(exit))
          const defect = Cause.squash(exit.cause)
          assert(defect instanceof RangeError)
          assert.include(defect.message, "Transport: requestTimeout is 15m, and fetch ends")
        }
      }
      assert.lengthOf(yield* server.requests, 0)
      for (const call of [whole, streamed]) yield* Effect.provide(call, modelAt(server.url, {}, FetchHttpClient.layer))
    })
  )

  it.effect("a fetch of one's own is not refused, nor a client of another kind [P1402]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      let own = 0
      const fetching = Layer.succeed(FetchHttpClient.Fetch, (url, init) => {
        own++
        return globalThis.fetch(url, init)
      })
      const overOwn = Layer.provide(FetchHttpClient.layer, fetching)
      const hidden = (client: Layer.Layer<HttpClient.HttpClient>) =>
        Layer.provide(
          Layer.effect(
            HttpClient.HttpClient,
            Effect.map(HttpClient.HttpClient, (inner) => HttpClient.make((request) => inner.execute(request)))
          ),
          client
        )
      const undici = Transport.layerUndici()
      for (const client of [overOwn, hidden(overOwn), undici, hidden(undici)]) {
        for (const call of [whole, streamed]) {
          yield* Effect.provide(call, modelAt(server.url, { requestTimeout: "15 minutes" }, client))
        }
      }
      const around = Effect.provide(whole, modelAt(server.url, { requestTimeout: "15 minutes" }, FetchHttpClient.layer))
      yield* Effect.provide(around, fetching)
      assert.strictEqual(own, 5)
      yield* Effect.provide(whole, modelAt(server.url, { requestTimeout: "15 minutes" }, fakeNetwork([ok]).layer))
    })
  )
})
