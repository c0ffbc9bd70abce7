/** A planted key must not come out again: in no error, no event, no span, no log. */
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { OpenAi } from "@kintsugi/providers"
import { Cause, Effect, Exit, Redacted } from "effect"
import { keeps, seen, texts } from "../_support/observers.ts"
import {
  body,
  completion,
  event,
  fakeNetwork,
  generate,
  key,
  type Reaction,
  respond,
  respondWith,
  silence,
  streamParts,
  textChunk
} from "../../_support/network.ts"

const headerSecret = "gateway-Hush-0815-hush"

const layer = (overrides: Partial<Parameters<typeof OpenAi.layer>[0]> = {}) =>
  OpenAi.layer({
    model: "m",
    apiKey: Redacted.make(key),
    baseUrl: "https://api.test/v1",
    headers: { "x-gateway-token": Redacted.make(headerSecret), "x-visible": "visible" },
    ...overrides
  })

const throwing =
  (make: () => unknown): Reaction =>
  () =>
    Effect.suspend(() => Effect.fail(make()))

const cases: ReadonlyArray<readonly [string, ReadonlyArray<Reaction> | Reaction]> = [
  ["a success", respond(200, completion("x"))],
  ["a provider that quotes the key", respond(401, { error: { message: `Incorrect API key provided: ${key}.` } })],
  ["a provider that quotes a header", respond(400, { error: { message: `what is ${headerSecret}?`, code: key } })],
  ["a page that quotes the key", respond(500, `oops: authorization was Bearer ${key}`)],
  ["an unreadable answer that quotes the key", respond(200, `{ "key": "${key}"`)],
  ...Array.from({ length: key.length }, (_, cut): readonly [string, Reaction] => [
    `an unreadable answer that quotes the key where its quotation ends, after ${cut} characters`,
    respond(200, `${"x".repeat(200 - cut)}${key} and more`)
  ]),
  ["an unreadable answer that is the key", respond(200, key)],
  ["an unreadable answer with the key where it is broken", respond(200, `{"a": ${key}}`)],
  ["an unreadable event that is the key", respondWith(200, () => body([`data: ${key}\n\n`]))],
  [
    "a provider that quotes half the key",
    respond(401, { error: { message: `no: ${key.slice(0, 14)}****${key.slice(-9)}` } })
  ],
  ["the key in base64", respond(401, { error: { message: `got ${btoa(`Bearer ${key}`)}` } })],
  ["an error within a success", respond(200, { error: { message: `${key} is spent`, type: key } })],
  ["a runtime that quotes the key", throwing(() => new TypeError(`Headers.append: "Bearer ${key}" is invalid`))],
  [
    "a runtime that quotes the key in a cause",
    throwing(
      () => new TypeError("fetch failed", { cause: Object.assign(new Error(`sent ${key}`), { code: "ECONNRESET" }) })
    )
  ],
  ["a runtime that quotes the key bare", throwing(() => new TypeError(`bad value ${key}`))],
  ["a timeout", silence],
  [
    "a stream that quotes the key",
    respondWith(200, () => body([textChunk("a"), event({ error: { message: `bad ${key}`, code: key } })]))
  ],
  ["an event that is no JSON and quotes the key", respondWith(200, () => body([event(`{${key}`)]))],
  ["a redirect that quotes the key", respond(307, "", { location: `https://other.test/?api_key=${key}` })],
  ["a request id", respond(500, "{}", { "x-request-id": "req-9" })]
]

describe("secrets", () => {
  for (const [what, script] of cases) {
    it.effect(`never come out: ${what} [T8 P202]`, () =>
      Effect.gen(function* () {
        for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
          const network = fakeNetwork(script)
          const found = yield* seen(call.pipe(Effect.provide(layer()), Effect.provide(network.layer)))
          assert.deepInclude(
            found.spans.map(({ name }) => name),
            "Transport.send"
          )
          keeps(texts(found), key, what)
          keeps(texts(found), headerSecret, what)
          // they were sent, so that there was something to keep
          assert.strictEqual(network.sent[0]?.headers["authorization"], `Bearer ${key}`)
          assert.strictEqual(network.sent[0]?.headers["x-gateway-token"], headerSecret)
          assert.strictEqual(network.sent[0]?.headers["x-visible"], "visible")
        }
      })
    )
  }

  it.effect("a key in the path of the base URL is in no span and no error [P1394 T8]", () =>
    Effect.gen(function* () {
      const inPath = "aB3dE5gH7jK9mN1p"
      const network = fakeNetwork(respond(500, `no route ${inPath}`))
      const provider = layer({ baseUrl: `https://api.test/k/${inPath}/v1`, transport: { retry: false } })
      const found = yield* seen(Effect.asVoid(generate).pipe(Effect.provide(provider), Effect.provide(network.layer)))
      assert.include(network.sent[0]?.url, inPath)
      const paths = found.spans.map(({ attributes }) => attributes.get("url.path")).filter((path) => path !== undefined)
      assert.deepStrictEqual(paths, ["/k/<redacted>/v1/chat/completions"])
      keeps(texts(found), inPath)
    })
  )

  it.effect("a key that cannot be sent fails typed, unsent, and is not quoted [T8]", () =>
    Effect.gen(function* () {
      for (const broken of [`${key}\nx`, `${key}\u200b`, `ключ-${key}`]) {
        const network = fakeNetwork([])
        const call = generate.pipe(
          Effect.provide(layer({ apiKey: Redacted.make(broken) })),
          Effect.provide(network.layer)
        )
        const found = yield* seen(call)
        assert(Exit.isFailure(found.exit))
        const [reason] = found.exit.cause.reasons
        assert(reason?._tag === "Fail" && reason.error instanceof LlmError.AuthenticationError)
        assert.include(reason.error.message, "'authorization' holds a character")
        keeps(texts(found), key)
        assert.strictEqual(network.sent.length, 0)
      }
    })
  )

  it.effect("a broken header that is no secret is a bad request [T8]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([])
      const call = generate.pipe(Effect.provide(layer({ headers: { "x-a": "a\nb" } })), Effect.provide(network.layer))
      const { exit } = yield* seen(call)
      assert(Exit.isFailure(exit))
      assert.include(Cause.pretty(exit.cause), "InvalidRequestError")
    })
  )

  it("are not in what can be seen of a layer's options [P202]", () => {
    const source = { provider: "openai", model: "m", secrets: [Redacted.make(key)] }
    assert.notInclude(inspect(source, { depth: Infinity, showHidden: true }), key)
    assert.notInclude(JSON.stringify(source), key)
  })
})
