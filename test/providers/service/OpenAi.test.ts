/** `OpenAi.model` over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { Model } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { ConfigProvider, Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { failureOf, key, request } from "../../_support/network.ts"
import { content, generate, serving } from "../_support/loopback.ts"

describe("OpenAi.model", () => {
  const environment = (values: Readonly<Record<string, string>>) =>
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(values))

  it.live("needs nothing but the environment", () =>
    Effect.gen(function* () {
      const server = yield* serving([])
      const call = Effect.provide(
        generate,
        OpenAi.model("gpt-4.1", { temperature: 0, organization: "org", project: "proj" })
      )
      const reply = yield* environment({ OPENAI_API_KEY: ` ${key}\n`, OPENAI_BASE_URL: `${server.url}/v1/` })(call)
      assert.deepStrictEqual(reply.content, content)
      const [sent] = yield* server.requests
      assert(sent?.authorization !== undefined)
      assert.strictEqual(Redacted.value(sent.authorization), `Bearer ${key}`)
      assert.strictEqual(sent.path, "/v1/chat/completions")
      assert.deepInclude(sent.headers, { "openai-organization": "org", "openai-project": "proj" })
      assert.deepInclude(sent.body, { model: "gpt-4.1", temperature: 0 })
    })
  )

  it.live("prefers the base URL that it is given", () =>
    Effect.gen(function* () {
      const server = yield* serving([])
      const call = Effect.provide(generate, OpenAi.model("m", { baseUrl: server.url }))
      yield* environment({ OPENAI_API_KEY: key, OPENAI_BASE_URL: "http://127.0.0.1:9" })(call)
      assert.strictEqual((yield* server.requests).length, 1)
    })
  )

  for (const values of [{}, { OPENAI_API_KEY: "" }] as const) {
    it.live(`fails with a ConfigError without a key: ${JSON.stringify(values)}`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(environment(values)(Effect.provide(generate, OpenAi.model("m"))))
        const error = failureOf(exit)
        assert.strictEqual(error._tag, "ConfigError")
        assert.strictEqual(error.message, "set OPENAI_API_KEY")
      })
    )
  }

  const asked = "http://localhost:1234/<redacted>/api/chat/completions"
  const html = { headers: { "content-type": "text/html" } }
  // what servers answer that are no API of models, or have another path for it
  const wrong = [
    {
      name: "404",
      answer: () => new Response("no such route", { status: 404 }),
      says: `Model 'm' was not found at ${asked} (openai, status 404): no such route.`
    },
    {
      name: "410",
      answer: () => new Response("gone", { status: 410 }),
      says: `Model 'm' was not found at ${asked} (openai, status 410): gone.`
    },
    {
      name: "405",
      answer: () => new Response("", { status: 405 }),
      says: `Model 'm' refused the request to ${asked} (openai, status 405)`
    },
    {
      name: "308",
      answer: () => new Response("", { status: 308, headers: { location: "https://other.test/v2" } }),
      says: `The server of model 'm' redirects ${asked} to https://other.test (status 308); redirects are not followed`
    },
    {
      name: "a page",
      answer: () => new Response("<html>welcome</html>", html),
      says: `The reply of model 'm' from ${asked} could not be read (openai, status 200): it is not JSON`,
      streamed: `The stream from ${asked} ended before the reply was complete`
    }
  ] as const
  for (const how of ["whole", "streamed"] as const) {
    for (const { answer, name, says, ...rest } of wrong) {
      it.live(`says at a wrong base URL what was asked, ${how}, after ${name}, and no secret of it`, () =>
        Effect.gen(function* () {
          const segment = "9f8e7d6c5b4a3f2e1d0c"
          const answering: typeof fetch = () => Promise.resolve(answer())
          const baseUrl = `http://localhost:1234/${segment}/api?api-key=${key}`
          const calling = Effect.flatMap(Model.Model, (model) =>
            how === "whole" ? model.generate(request) : Stream.runDrain(model.stream(request))
          )
          const call = Effect.provide(calling, OpenAi.model("m", { baseUrl, transport: { retry: false } })).pipe(
            Effect.provideService(FetchHttpClient.Fetch, answering)
          )
          const error = failureOf(yield* Effect.exit(environment({ OPENAI_API_KEY: key })(call)))
          assert.include(String(error), how === "streamed" && "streamed" in rest ? rest.streamed : says)
          assert.notInclude(JSON.stringify(error), key)
          assert.notInclude(JSON.stringify(error), segment)
        })
      )
    }
  }

  it.live("takes the official base URL without another one, and for an empty one", () =>
    Effect.gen(function* () {
      for (const values of [{}, { OPENAI_BASE_URL: "" }]) {
        const seen: Array<string> = []
        const refusing: typeof fetch = (input) => {
          seen.push(String(input))
          return Promise.reject(new TypeError("fetch failed"))
        }
        const call = Effect.provide(generate, OpenAi.model("m", { transport: { retry: false } }))
        yield* Effect.exit(
          environment({ OPENAI_API_KEY: key, ...values })(Effect.provideService(call, FetchHttpClient.Fetch, refusing))
        )
        assert.deepStrictEqual(seen, ["https://api.openai.com/v1/chat/completions"])
      }
    })
  )
})
