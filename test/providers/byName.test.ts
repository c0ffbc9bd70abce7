/** Models by their name: where their requests go, and with which key. */
import { assert, describe, it } from "@effect/vitest"
import type * as Model from "@kintsugi/core/Model"
import { Gemini, Ollama } from "@kintsugi/providers"
import { type Config, ConfigProvider, Effect, type Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { collect } from "./replay.ts"
import { failureOf, generate } from "./support.ts"

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

describe("Gemini.model", () => {
  const official = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"

  it.live("asks the official address, another one for streams, with the key in a header of its own", () =>
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
      assert.include(String(error), "GEMINI_API_KEY")
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
        ["https://gpu.test/ollama/", "https://gpu.test/ollama"],
        ["http://gpu.test:8080", "http://gpu.test:8080"]
      ] as const) {
        const [sent] = yield* sendingOf(Ollama.model("m", { transport }), { OLLAMA_HOST: host })
        assert.strictEqual(sent?.url, `${base}/api/chat`, host)
      }
    })
  )

  it.live("prefers what is given to the environment, and there the base URL to the host", () =>
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
