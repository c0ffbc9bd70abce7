/** A planted key must not come out again: under every fault of a real connection, and in every format of failures. */
import { assert, describe, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import { ScriptedModel } from "@kintsugi/core/testing"
import { OpenAi, Transport } from "@kintsugi/providers"
import type * as Provider from "@kintsugi/providers/Provider"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Predicate, Redacted, Result, Stream } from "effect"
import { keeps, seen, texts } from "../_support/observers.ts"
import { event, generate, key, outwaiting, streamParts } from "../../_support/network.ts"
import { apis, fixtures, formats } from "../../_support/wireFixtures.ts"

const live = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.exit(effect)

/** Nothing observable of the call holds the key. The server has it, so there was something to keep. */
const keepsIt = Effect.fnUntraced(function* (
  server: LoopbackServer.LoopbackServer,
  call: Effect.Effect<unknown, LlmError.LlmError>,
  what: string,
  run = live
) {
  keeps(texts(yield* seen(call, run)), key, what)
  const [first] = yield* server.requests
  assert(first?.authorization !== undefined)
  assert.strictEqual(Redacted.value(first.authorization), `Bearer ${key}`)
})

const brain = AnyWire.handler(() => Effect.succeed({ content: [{ type: "text", text: "some words to send" }] }))

const respond =
  (answer: { readonly body: string; readonly headers?: Readonly<Record<string, string>> }): Fault.Fault =>
  () =>
    Effect.succeed(answer)

/** What servers and proxies may do with a key that they were sent. */
const echoes: ReadonlyArray<Fault.Fault> = [
  ...[400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529].flatMap((status) => [
    Fault.status(status, { error: { message: `the key ${key} is wrong`, type: key, code: key, param: key } }),
    Fault.status(status, `<html>authorization: Bearer ${key}</html>`)
  ]),
  Fault.status(500, "", { "x-request-id": key, "request-id": key, "retry-after": key, server: key }),
  Fault.status(429, "", { "x-ratelimit-reset-requests": key, "x-ratelimit-remaining-requests": key }),
  Fault.status(302, "", { location: `http://127.0.0.1:1/${key}?key=${key}` }),
  respond({ body: `{"choices": "${key}"}` }),
  respond({ body: `{"error": {"message": "${key}"}}` }),
  respond({ body: `<html>${key}` }),
  respond({ body: event(`{${key}`), headers: { "content-type": "text/event-stream" } }),
  respond({
    body: event({ error: { message: key, code: key } }),
    headers: { "content-type": "text/event-stream" }
  })
]

const faults: ReadonlyArray<Fault.Fault> = [
  ...echoes,
  ...echoes.map((echo) => Fault.all(echo, Fault.cut(20, "reset"))),
  ...echoes.map((echo) => Fault.all(echo, Fault.cut(20, "end"))),
  ...echoes.map((echo) => Fault.all(echo, Fault.split("byte"))),
  Fault.cut("nothing", "reset"),
  Fault.cut(0, "reset"),
  Fault.cut(60, "reset"),
  Fault.cut(60, "end"),
  Fault.split("byte")
]

describe("secrets over a real connection", () => {
  const modelAt = (baseUrl: string, transport: Transport.Options) =>
    OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl, transport }).pipe(
      Layer.provide(Transport.layerFetch)
    )

  for (const [way, modelCall] of Object.entries({
    whole: Effect.asVoid(generate),
    streamed: Effect.asVoid(streamParts)
  })) {
    it.live(`never come out, for every fault of the server (${way}) [T8 P202]`, () =>
      Effect.gen(function* () {
        for (const [index, fault] of faults.entries()) {
          const server = yield* LoopbackServer.make(Fault.inFront(() => fault, brain))
          const model = modelAt(server.url, { retry: { retries: 1, initialBackoff: 0 } })
          yield* keepsIt(server, Effect.provide(modelCall, model), `fault ${index}`)
        }
      })
    )

    it.live(`never come out when the server is silent (${way}) [T8 P202]`, () =>
      Effect.gen(function* () {
        for (const fault of [Fault.cut("nothing", "silence"), Fault.cut(60, "silence")]) {
          const server = yield* LoopbackServer.make(Fault.inFront([fault], brain))
          const model = modelAt(server.url, { requestTimeout: "1 minute" })
          yield* keepsIt(server, Effect.provide(modelCall, model), "silence", <A, E, R>(call: Effect.Effect<A, E, R>) =>
            outwaiting(server, call)
          )
        }
      })
    )
  }
})

/** The same JSON with the key in every text of it. */
const planted = (json: unknown): unknown => {
  if (Predicate.isString(json)) return `${json} ${key}`
  if (Array.isArray(json)) return json.map(planted)
  if (!Predicate.isObject(json)) return json
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, planted(value)]))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe("secrets in the failures of each format", () => {
  const failing = fixtures.filter(({ status, streaming }) => !streaming && (status < 200 || status >= 300))

  it("have a recorded failure of each [T8 P202]", () => {
    assert.deepStrictEqual(
      apis.filter((api) => !failing.some((fixture) => fixture.api === api)),
      []
    )
  })

  for (const api of apis) {
    it.live(`never come out of ${api}, wherever a failure repeats them [T8 P202]`, () =>
      Effect.gen(function* () {
        const own = failing.filter((fixture) => fixture.api === api)
        assert.isNotEmpty(own)
        for (const fixture of own) {
          const json = parsed(fixture.body)
          assert.isDefined(json, fixture.id)
          const body = JSON.stringify(planted(json))
          const ofBody = new Set(["content-length", "content-encoding", "transfer-encoding", "content-type"])
          const sentHeaders = Object.entries(fixture.headers).filter(([name]) => !ofBody.has(name.toLowerCase()))
          const headers = { ...Object.fromEntries(sentHeaders), "x-request-id": key }
          const server = yield* LoopbackServer.make(() => Effect.succeed({ status: fixture.status, body, headers }))
          const source: Provider.Source = { provider: fixture.provider, model: "m", secrets: [Redacted.make(key)] }
          const transport = Effect.provide(
            Transport.make(
              {
                source,
                url: server.url,
                headers: { authorization: Redacted.make(`Bearer ${key}`) },
                classify: (answer) => formats[api].classify(source, answer)
              },
              { retry: false }
            ),
            Transport.layerFetch
          )
          const posted = Effect.flatMap(transport, ({ post }) =>
            post("{}", () => Result.succeed(ScriptedModel.reply({})))
          )
          const nothing: ReturnType<Provider.Codec["decoder"]> = {
            push: () => Result.succeed([]),
            end: () => Result.succeed([]),
            state: () => "done"
          }
          const opened = Effect.flatMap(transport, ({ stream }) => Stream.runDrain(stream("{}", () => nothing)))
          for (const call of [posted, opened]) {
            // it fails, so that there is something to look at
            yield* Effect.flip(call)
            yield* keepsIt(server, call, fixture.id)
          }
        }
      })
    )
  }
})
