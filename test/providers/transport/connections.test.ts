/** A proxy, certificates and a pool on each layer, as `docs/guide/connections.md` shows them. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError, Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Undici from "undici"
import { failsWith, key, request } from "../../_support/network.ts"
import { counting, guarded, pem, tunnelling } from "./_support/fronts.ts"

const brain = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "five words and some more" }] }))

const calls = [
  Effect.asVoid(Effect.flatMap(Model.Model, (model) => model.generate(request))),
  Effect.asVoid(Effect.flatMap(Model.Model, (model) => Stream.runDrain(model.stream(request))))
]

type Over = (dispatcher: Undici.Dispatcher) => Layer.Layer<Transport.HttpClient>

/** The layers, each with a dispatcher of `undici`. */
const layers: ReadonlyArray<readonly [name: string, over: Over]> = [
  ["layerUndici", (dispatcher) => Transport.layerUndici({ dispatcher })],
  [
    "layerFetch, by the dispatcher of the process",
    (dispatcher) => {
      const globally = Effect.acquireRelease(
        Effect.sync(() => {
          const before = Undici.getGlobalDispatcher()
          Undici.setGlobalDispatcher(dispatcher)
          return before
        }),
        (before) => Effect.sync(() => Undici.setGlobalDispatcher(before))
      )
      return Layer.merge(Transport.layerFetch, Layer.effectDiscard(globally))
    }
  ],
  [
    "a client of one's own",
    (dispatcher) => {
      const fetch = ((url: string, init: object) => Undici.fetch(url, { ...init, dispatcher })) as never
      return Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
    }
  ]
]

const dispatching = <D extends Undici.Dispatcher>(make: () => D) =>
  Effect.acquireRelease(Effect.sync(make), (dispatcher) => Effect.promise(() => dispatcher.destroy()))

const modelAt = (baseUrl: string, client: Layer.Layer<Transport.HttpClient>) =>
  OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl, transport: { retry: false } }).pipe(
    Layer.provide(client)
  )

describe.each(layers)("%s", (_, over) => {
  it.live("sends through a proxy, whole and streamed [P1402]", () =>
    Effect.gen(function* () {
      const proxy = yield* tunnelling
      const server = yield* LoopbackServer.make(brain)
      const dispatcher = yield* dispatching(() => new Undici.ProxyAgent({ uri: proxy.url, proxyTunnel: true }))
      for (const call of calls) yield* Effect.provide(call, modelAt(server.url, over(dispatcher)))
      assert.isAtLeast(proxy.count(), 1)
      assert.strictEqual((yield* server.requests).length, 2)
    })
  )

  it.live("keeps to the connections of a pool [P1402]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      const front = yield* counting(server.url)
      const dispatcher = yield* dispatching(() => new Undici.Agent({ connections: 2 }))
      const all = Effect.all(
        Array.from({ length: 8 }, (_, index) => calls[index % 2] ?? Effect.void),
        { concurrency: "unbounded" }
      )
      yield* Effect.provide(all, modelAt(front.url, over(dispatcher)))
      assert.strictEqual(front.count(), 2)
      assert.strictEqual((yield* server.requests).length, 8)
    })
  )

  it.live("shows the certificate of the client to a server of one's own authority, whole and streamed [P1402]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      const front = yield* guarded(server.url)
      const dispatcher = yield* dispatching(() => new Undici.Agent({ connect: pem }))
      for (const call of calls) yield* Effect.provide(call, modelAt(front.url, over(dispatcher)))
      assert.include(front.names, "kintsugi test client")
      assert.strictEqual((yield* server.requests).length, 2)
    })
  )

  it.live.each<readonly [lacks: string, connect: object, says: RegExp]>([
    // TLS 1.3: the server closes the connection after the handshake, with an alert or before it is read
    ["the certificate of the client", { ca: pem.ca }, /^The connection to 127\.0\.0\.1:\d+ /],
    ["the authority", { cert: pem.cert, key: pem.key }, /^The certificate of 127\.0\.0\.1:\d+ is not trusted/]
  ])("is a NetworkError without %s, and no request arrives [P1402]", ([, connect, says]) =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(brain)
      const front = yield* guarded(server.url)
      const dispatcher = yield* dispatching(() => new Undici.Agent({ connect }))
      for (const call of calls) {
        const exit = yield* Effect.exit(Effect.provide(call, modelAt(front.url, over(dispatcher))))
        assert.match(failsWith(exit, LlmError.NetworkError).message, says)
      }
      assert.deepStrictEqual([front.names, yield* server.requests], [[], []])
    })
  )
})
