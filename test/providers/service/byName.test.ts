/** Models by their name: where their requests go, and with which key. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, Kimi, Ollama, OpenAi, OpenRouter } from "@kintsugi/providers"
import { type Config, ConfigProvider, Effect, type Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as ByName from "../../../packages/providers/src/service/byName.ts"
import { collect } from "../_support/replay.ts"
import { keeps, seen, texts } from "../_support/observers.ts"
import { failureOf, failsWith, fakeNetwork, finished, generate, respond, streamParts } from "../../_support/network.ts"

const transport = { retry: false } as const

interface Seen {
  readonly url: string
  readonly headers: Headers
}

/** What would be sent, whole and streamed. */
const sendingOf = (
  layer: Layer.Layer<Model.Model, Config.ConfigError>,
  environment: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const refusing: typeof fetch = (input, init) => {
      seen.push({ url: String(input), headers: new Headers(init?.headers) })
      return Promise.reject(new TypeError("fetch failed"))
    }
    for (const call of [generate, collect]) {
      yield* Effect.exit(
        Effect.provide(call, layer).pipe(
          Effect.provideService(FetchHttpClient.Fetch, refusing),
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
        )
      )
    }
    return seen
  })

const apiKey = Redacted.make("key-of-the-header")

/** A model at a base URL, and the paths that its format adds, whole and streamed. */
const bases: Readonly<
  Record<string, readonly [(baseUrl: string) => ReturnType<typeof OpenAi.layer>, whole: string, streamed?: string]>
> = {
  openai: [(baseUrl) => OpenAi.layer({ model: "m", apiKey, transport, baseUrl }), "/chat/completions"],
  responses: [(baseUrl) => OpenAi.layerResponses({ model: "m", apiKey, transport, baseUrl }), "/responses"],
  openrouter: [(baseUrl) => OpenRouter.layer({ model: "m", apiKey, transport, baseUrl }), "/chat/completions"],
  kimi: [(baseUrl) => Kimi.layer({ model: "m", apiKey, transport, baseUrl }), "/chat/completions"],
  anthropic: [(baseUrl) => Anthropic.layer({ model: "m", apiKey, transport, baseUrl }), "/v1/messages"],
  gemini: [
    (baseUrl) => Gemini.layer({ model: "m", apiKey, transport, baseUrl }),
    "/models/m:generateContent",
    "/models/m:streamGenerateContent?alt=sse"
  ],
  ollama: [(baseUrl) => Ollama.layer({ model: "m", apiKey, transport, baseUrl }), "/api/chat"]
}

const planted = "Zk9-aB3xY7qW-planted-0123"

/** A base URL, and what becomes of it with `/path` behind it. */
const written: ReadonlyArray<readonly [base: string, path: string, query: string]> = [
  ["https://g.test/v1", "https://g.test/v1", ""],
  ["https://g.test/v1//", "https://g.test/v1", ""],
  [" https://g.test/v1/\n", "https://g.test/v1", ""],
  ["https://g.test/v1?api-version=2024", "https://g.test/v1", "api-version=2024"],
  ["https://g.test/v1/?a=1&b=%2F", "https://g.test/v1", "a=1&b=%2F"],
  [`https://g.test?api-version=2024&key=${planted}#part`, "https://g.test", `api-version=2024&key=${planted}`]
]

describe("a base URL", () => {
  for (const [name, [at, whole, streamed = whole]] of Object.entries(bases)) {
    it.effect(`keeps its query behind the path of ${name}`, () =>
      Effect.gen(function* () {
        for (const [base, before, query] of written) {
          const network = fakeNetwork(respond(500))
          for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
            yield* finished(call.pipe(Effect.provide(at(base)), Effect.provide(network.layer)))
          }
          const [path = "", own] = streamed.split("?")
          const all = [query, own ?? ""].filter((part) => part !== "").join("&")
          assert.deepStrictEqual(
            network.sent.map(({ url }) => url),
            [
              new URL(`${before}${whole}${query === "" ? "" : `?${query}`}`).href,
              new URL(`${before}${path}${all === "" ? "" : `?${all}`}`).href
            ],
            base
          )
        }
      })
    )

    it.effect(`repeats the key in the query of ${name} nowhere [T8 P202]`, () =>
      Effect.gen(function* () {
        for (const query of [`key=${planted}`, `api-version=2024&x=${encodeURIComponent(planted)}`]) {
          for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
            const network = fakeNetwork(respond(400, { error: { message: `what is ${planted}?`, code: planted } }))
            const layer = at(`https://g.test/v1?${query}`)
            const found = yield* seen(call.pipe(Effect.provide(layer), Effect.provide(network.layer)))
            assert.strictEqual(network.sent.length, 1)
            keeps(texts(found), planted, query)
          }
        }
      })
    )

    it.effect(`that is invalid is a bad request of ${name}: not sent, not resent, not quoted [T8]`, () =>
      Effect.gen(function* () {
        for (const [base, why] of [
          ["", "is not a URL"],
          ["not a url", "is not a URL"],
          [`ht!tp//${planted}@x`, "is not a URL"],
          ["localhost:9/v1", "begin with http://"],
          [`${planted}:pw@host/v1`, "begin with http://"],
          ["127.0.0.1:11434", "is not a URL"],
          ["ftp://g.test", "begin with http://"],
          ["file:///v1", "begin with http://"],
          [`http://user:${planted}@g.test`, "a user name or a password"],
          [`https://${planted}@g.test/v1`, "a user name or a password"]
        ] as const) {
          for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
            const network = fakeNetwork([])
            const found = yield* seen(call.pipe(Effect.provide(at(base)), Effect.provide(network.layer)))
            const error = failsWith(found.exit, LlmError.InvalidRequestError)
            assert.include(error.message, why, base)
            assert.isFalse(error.isRetryable)
            assert.strictEqual(network.sent.length, 0)
            keeps(texts(found), planted, base)
          }
        }
      })
    )
  }

  it.effect("has no parameter that the path has", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(500))
      const layer = Gemini.layer({ model: "m", apiKey, transport, baseUrl: "https://g.test/v1?alt=json&a=1&alt=proto" })
      yield* finished(Effect.asVoid(streamParts).pipe(Effect.provide(layer), Effect.provide(network.layer)))
      assert.deepStrictEqual(
        network.sent.map(({ url }) => url),
        ["https://g.test/v1/models/m:streamGenerateContent?a=1&alt=sse"]
      )
    })
  )

  it("is redacted where a value looks like a credential, and a version of the API is none", () => {
    const secrets = (query: string) => ByName.secretsOf(undefined, {}, `https://g.test?${query}`).map(Redacted.value)
    assert.deepStrictEqual(secrets("api-version=2024-10-01-preview&deployment=a&sig=ab%2Fc&x=12345678y"), [
      "ab/c",
      "12345678y"
    ])
    assert.deepStrictEqual(secrets("a=2024-10-01-beta2&b=v1.2.34-rc.1&c=2024-10-01-previews"), ["2024-10-01-previews"])
    assert.deepStrictEqual(secrets("key="), [""])
    const path = "https://resource-1234.test/accounts/abc123def456/v1/chat/abcdefghijklmnop/123456789012/abc123def45"
    assert.deepStrictEqual(ByName.secretsOf(undefined, {}, path).map(Redacted.value), ["abc123def456"])
  })
})

describe("Gemini.model", () => {
  const official = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"

  it.live("calls the official address, another one for streams, with the key in a header of its own", () =>
    Effect.gen(function* () {
      const seen = yield* sendingOf(Gemini.model("gemini-2.5-flash", { transport }), { GEMINI_API_KEY: " key-1234\n" })
      assert.deepStrictEqual(
        seen.map(({ url }) => url),
        [`${official}:generateContent`, `${official}:streamGenerateContent?alt=sse`]
      )
      for (const { headers } of seen) assert.strictEqual(headers.get("x-goog-api-key"), "key-1234")
    })
  )

  it.live("takes the other name of the key, and the base URL of the environment", () =>
    Effect.gen(function* () {
      const environment = { GEMINI_API_KEY: "", GOOGLE_API_KEY: "other-key", GEMINI_BASE_URL: "https://g.test/v1/" }
      const [sent] = yield* sendingOf(Gemini.model("tunedModels/a b", { transport }), environment)
      assert.strictEqual(sent?.url, "https://g.test/v1/tunedModels/a%20b:generateContent")
      assert.strictEqual(sent?.headers.get("x-goog-api-key"), "other-key")
    })
  )

  it.live("fails with a ConfigError that names the key where there is none", () =>
    Effect.gen(function* () {
      const call = Effect.provide(generate, Gemini.model("m")).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))
      )
      const error = failureOf(yield* Effect.exit(call))
      assert.strictEqual(error._tag, "ConfigError")
      assert.strictEqual(error.message, "set GEMINI_API_KEY")
      assert.include(String(error), "set GEMINI_API_KEY")
      assert.include(String(error.cause), "set GEMINI_API_KEY")
    })
  )
})

describe("Ollama.model", () => {
  it.live("needs nothing, and sends no key", () =>
    Effect.gen(function* () {
      const seen = yield* sendingOf(Ollama.model("llama3", { transport }), {})
      const url = "http://localhost:11434/api/chat"
      assert.deepStrictEqual(
        seen.map((sent) => sent.url),
        [url, url]
      )
      assert.isNull(seen[0]?.headers.get("authorization"))
    })
  )

  it.live("reads the host in the forms that Ollama takes", () =>
    Effect.gen(function* () {
      for (const [host, base] of [
        ["10.0.0.7", "http://10.0.0.7:11434"],
        ["gpu.test:8080", "http://gpu.test:8080"],
        [":8080", "http://localhost:8080"],
        ["0.0.0.0", "http://localhost:11434"],
        ["0.0.0.0:8080", "http://localhost:8080"],
        ["[::1]", "http://[::1]:11434"],
        ["[::]:8080", "http://localhost:8080"],
        ["gpu.test/ollama", "http://gpu.test:11434/ollama"],
        ["https://gpu.test/ollama/", "https://gpu.test/ollama"],
        ["http://gpu.test:8080", "http://gpu.test:8080"],
        [" gpu.test ", "http://gpu.test:11434"],
        ["gpu.test/to/http://x", "http://gpu.test:11434/to/http://x"]
      ] as const) {
        const [sent] = yield* sendingOf(Ollama.model("m", { transport }), { OLLAMA_HOST: host })
        assert.strictEqual(sent?.url, `${base}/api/chat`, host)
      }
    })
  )

  it.live("sends nothing to another host if it cannot read the host", () =>
    Effect.gen(function* () {
      for (const host of ["::1", "gpu.test:8080:1", "gpu.test:port"]) {
        assert.deepStrictEqual(yield* sendingOf(Ollama.model("m", { transport }), { OLLAMA_HOST: host }), [], host)
      }
    })
  )

  it.live("prefers options to the environment, and there the base URL to the host", () =>
    Effect.gen(function* () {
      const environment = { OLLAMA_HOST: "gpu.test", OLLAMA_BASE_URL: "https://base.test", OLLAMA_API_KEY: "key-1234" }
      const [sent] = yield* sendingOf(Ollama.model("m", { transport }), environment)
      assert.strictEqual(sent?.url, "https://base.test/api/chat")
      assert.strictEqual(sent?.headers.get("authorization"), "Bearer key-1234")
      const given = { transport, baseUrl: "https://ollama.com", apiKey: Redacted.make("given-key") }
      const [other] = yield* sendingOf(Ollama.model("m", given), environment)
      assert.strictEqual(other?.url, "https://ollama.com/api/chat")
      assert.strictEqual(other?.headers.get("authorization"), "Bearer given-key")
    })
  )
})
