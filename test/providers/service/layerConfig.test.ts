/** Layers whose options are read from the configuration, and the client that models by name have. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, type Budget, Message, Model } from "@kintsugi/core"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { Config, ConfigProvider, Context, Effect, Layer, type Redacted } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { failureOf, fakeNetwork, generate, ok, respond, streamParts } from "../../_support/network.ts"

type Configured = Layer.Layer<Model.Model, Config.ConfigError, HttpClient.HttpClient>

/** What the options of every provider have in common. */
interface Common {
  readonly model: string | Config.Config<string>
  readonly apiKey?: Config.Config<Redacted.Redacted>
  readonly baseUrl?: string | Config.Config<string>
  readonly maxTokens?: Config.Config<number>
  readonly price?: Budget.Price
  readonly capabilities?: { readonly contextWindow: number }
  readonly transport?: { readonly retry: false }
}

interface Way {
  readonly layerConfig: (options: Common) => Configured
  readonly model: (
    name: string,
    options?: { readonly transport: { readonly retry: false } }
  ) => Layer.Layer<Model.Model, Config.ConfigError>
  /** The variables of the key and of the base URL. */
  readonly variables: readonly [key: string, baseUrl: string]
  readonly header?: string
}

const bearer = (key: string, prefix: string) => ({ variables: [key, `${prefix}_BASE_URL`] as const })

const ways: Readonly<Record<string, Way>> = {
  OpenAi: { ...OpenAi, ...bearer("OPENAI_API_KEY", "OPENAI") },
  "OpenAi's Responses": {
    layerConfig: OpenAi.layerResponsesConfig,
    model: OpenAi.responses,
    ...bearer("OPENAI_API_KEY", "OPENAI")
  },
  Anthropic: { ...Anthropic, ...bearer("ANTHROPIC_API_KEY", "ANTHROPIC"), header: "x-api-key" },
  Gemini: { ...Gemini, ...bearer("GOOGLE_API_KEY", "GEMINI"), header: "x-goog-api-key" },
  DeepSeek: { ...DeepSeek, ...bearer("DEEPSEEK_API_KEY", "DEEPSEEK") },
  Kimi: { ...Kimi, ...bearer("MOONSHOT_API_KEY", "MOONSHOT") },
  OpenRouter: { ...OpenRouter, ...bearer("OPENROUTER_API_KEY", "OPENROUTER") },
  Perplexity: { ...Perplexity, ...bearer("PERPLEXITY_API_KEY", "PERPLEXITY") },
  "Perplexity's chat": {
    layerConfig: (options) => Perplexity.layerConfig({ ...options, api: "chat" }),
    model: (name, options) => Perplexity.model(name, { ...options, api: "chat" }),
    ...bearer("PERPLEXITY_API_KEY", "PERPLEXITY")
  },
  Ollama: { ...Ollama, ...bearer("OLLAMA_API_KEY", "OLLAMA") },
  "a host": {
    layerConfig: (options) => OpenAiCompatible.layerConfig("mistral", options),
    model: (name, options) => OpenAiCompatible.model("mistral", name, options),
    ...bearer("MISTRAL_API_KEY", "MISTRAL")
  },
  "the Responses of a host": {
    layerConfig: (options) => OpenAiCompatible.layerResponsesConfig("azure", options),
    model: (name, options) => OpenAiCompatible.responses("azure", name, options),
    ...bearer("AZURE_OPENAI_API_KEY", "AZURE_OPENAI")
  },
  Bedrock: {
    layerConfig: ({ apiKey, ...options }) =>
      Bedrock.layerConfig({ ...options, ...(apiKey && { credentials: keyOf(apiKey) }) }),
    model: Bedrock.model,
    variables: ["AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"]
  }
}

const keyOf = (secretAccessKey: Config.Config<Redacted.Redacted>) =>
  Config.all({ accessKeyId: Config.String("MY_ID"), secretAccessKey })

/** What the other variables of a provider are. */
const around = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", MY_ID: "MYID" }

const transport = { retry: false } as const

const inEnvironment = (variables: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ ...around, ...variables }))

/** What a request was signed or opened with. */
const keyIn = (headers: Readonly<Record<string, string>>, header = "authorization") => headers[header] ?? ""

const own: Config.Config<Redacted.Redacted> = Config.Redacted("MY_KEY")

describe("layerConfig", () => {
  for (const [name, { header, layerConfig, variables }] of Object.entries(ways)) {
    const [key, baseUrl] = variables
    const isSigned = name === "Bedrock"

    it.effect(`of ${name} reads options from the configuration, whole and streamed [P1414]`, () =>
      Effect.gen(function* () {
        const mine = { MY_KEY: "my-key-1234", MY_URL: "https://mine.test/v1", MY_MODEL: "vendor/m-7", MY_MOST: "321" }
        const layer = layerConfig({
          model: Config.String("MY_MODEL"),
          apiKey: own,
          baseUrl: Config.String("MY_URL"),
          maxTokens: Config.Int("MY_MOST"),
          transport
        })
        const network = fakeNetwork(respond(500))
        for (const call of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
          const asked = call.pipe(Effect.provide(layer), Effect.provide(network.layer))
          yield* Effect.exit(inEnvironment({ ...mine, [key]: "not-this", [baseUrl]: "https://not.test" })(asked))
        }
        assert.strictEqual(network.sent.length, 2)
        for (const { body, headers, url } of network.sent) {
          assert.strictEqual(new URL(url).host, "mine.test")
          assert.include(`${url} ${body}`, "m-7")
          assert.include(body, "321")
          assert.include(keyIn(headers, header), isSigned ? "Credential=MYID/" : "my-key-1234")
        }
      })
    )

    it.effect(`of ${name} takes key and base URL of the environment for what is not given, or undefined [P1414]`, () =>
      Effect.gen(function* () {
        const layer = layerConfig({ model: "m", transport })
        const network = fakeNetwork(respond(500))
        const asked = generate.pipe(Effect.provide(layer), Effect.provide(network.layer))
        yield* Effect.exit(inEnvironment({ [key]: " key-9876\n", [baseUrl]: "https://there.test/" })(asked))
        assert.strictEqual(new URL(network.sent[0]?.url ?? "").host, "there.test")
        assert.include(keyIn(network.sent[0]?.headers ?? {}, header), isSigned ? "Credential=AKIDEXAMPLE/" : "key-9876")
      })
    )

    it.effect(`of ${name} fails with a ConfigError that names what is missing, and sends nothing [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        const ask = (layer: Configured) =>
          Effect.exit(inEnvironment({})(generate.pipe(Effect.provide(layer), Effect.provide(network.layer))))
        const missing = failureOf(yield* ask(layerConfig({ model: "m", apiKey: own, baseUrl: "https://mine.test" })))
        assert.strictEqual(missing._tag, "ConfigError")
        assert.include(String(missing), "MY_KEY")
        if (name !== "Ollama") {
          const unset = failureOf(yield* ask(layerConfig({ model: "m" })))
          assert.strictEqual(unset._tag, "ConfigError")
          assert.include(String(unset), name === "Gemini" ? "GEMINI_API_KEY" : key)
        }
        assert.strictEqual(network.sent.length, 0)
      })
    )

    it.effect(`of ${name} fails with a ConfigError for an option out of its range, and sends nothing [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        const price = { usdPerMillionTokens: { input: -1, output: 1 } }
        const all = [
          [{ maxTokens: Config.Int("MOST") }, "maxTokens must be"],
          [{ price }, "input must be"],
          [{ transport: { ...transport, requestTimeout: 0 } }, "requestTimeout must be"]
        ] as const
        for (const [options, said] of all) {
          const layer = layerConfig({ model: "m", baseUrl: "https://b.test", ...options })
          const asked = generate.pipe(Effect.provide(layer), Effect.provide(network.layer))
          const failed = failureOf(yield* Effect.exit(inEnvironment({ [key]: "k", MOST: "-3" })(asked)))
          assert.strictEqual(failed._tag, "ConfigError")
          assert.include(failed.message, said)
        }
        assert.strictEqual(network.sent.length, 0)
      })
    )

    it.effect(`of ${name} takes the price and the capabilities of its options [P1382 P1410]`, () =>
      Effect.gen(function* () {
        const price = { usdPerMillionTokens: { input: 7, output: 8 } }
        const layer = layerConfig({
          model: "m",
          price,
          capabilities: { contextWindow: 4242 },
          baseUrl: "https://b.test"
        })
        const built = Effect.provide(Effect.service(Model.Model), Layer.provide(layer, fakeNetwork([]).layer))
        const model = yield* inEnvironment({ [key]: "k" })(built)
        assert.deepStrictEqual(model.price, price)
        assert.strictEqual(model.contextWindow, 4242)
      })
    )
  }
})

it.effect("a server of one's own needs no key, and is sent none [P1414]", () =>
  Effect.gen(function* () {
    const network = fakeNetwork(respond(500))
    for (const layer of [
      OpenAiCompatible.layerConfig("lmStudio", { model: "m", transport }),
      OpenAiCompatible.layerResponsesConfig("lmStudio", { model: "m", transport })
    ]) {
      yield* Effect.exit(inEnvironment({})(generate.pipe(Effect.provide(layer), Effect.provide(network.layer))))
    }
    assert.deepStrictEqual(
      network.sent.map(({ headers, url }) => [url, headers["authorization"]]),
      [
        ["http://localhost:1234/v1/chat/completions", undefined],
        ["http://localhost:1234/v1/responses", undefined]
      ]
    )
  })
)

it.effect("an option that the configuration has as undefined is absent: a host keeps its name [P1414]", () =>
  Effect.gen(function* () {
    const undefinedHost: Config.Config<string> = Config.map(Config.succeed(0), () => undefined as unknown as string)
    const layer = OpenAiCompatible.layerResponsesConfig("mistral", { model: "m", host: undefinedHost })
    const built = Effect.provide(Effect.service(Model.Model), Layer.provide(layer, fakeNetwork([]).layer))
    assert.strictEqual((yield* inEnvironment({ MISTRAL_API_KEY: "k" })(built)).provider, "mistral")
  })
)

class First extends Context.Service<First, Model.Service>()("test/First") {}
class Second extends Context.Service<Second, Model.Service>()("test/Second") {}

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const unasked: typeof fetch = () => assert.fail("the runtime's own fetch was asked")

describe("a model by name", () => {
  for (const [name, { model, variables }] of Object.entries(ways)) {
    const environment = inEnvironment({ [variables[0]]: "k", [variables[1]]: "https://there.test" })
    const withoutFetch = Effect.provideService(FetchHttpClient.Fetch, unasked)

    it.effect(`of ${name} sends over the HttpClient of the context, beneath it or around it [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork(respond(500))
        for (const ask of [Effect.asVoid(generate), Effect.asVoid(streamParts)]) {
          const beneath = Effect.provide(ask, Layer.provide(model("m", { transport }), network.layer))
          const around = ask.pipe(Effect.provide(model("m", { transport })), Effect.provide(network.layer))
          for (const asked of [beneath, around]) yield* Effect.exit(environment(withoutFetch(asked)))
        }
        assert.strictEqual(network.sent.length, 4)
      })
    )

    it.effect(`of ${name} sends over the runtime's own fetch where there is none [P1414]`, () =>
      Effect.gen(function* () {
        let sends = 0
        const counting: typeof fetch = () => {
          sends++
          return Promise.reject(new TypeError("fetch failed"))
        }
        const asked = Effect.provide(generate, model("m", { transport }))
        yield* Effect.exit(environment(Effect.provideService(asked, FetchHttpClient.Fetch, counting)))
        assert.strictEqual(sends, 1)
      })
    )
  }

  it.effect("has in each of two places the client of its own place [P1414]", () =>
    Effect.gen(function* () {
      const [one, other] = [fakeNetwork(ok), fakeNetwork(ok)]
      const layers = Layer.mergeAll(
        Layer.effect(First, Model.Model).pipe(Layer.provide(OpenAi.model("m")), Layer.provide(one.layer)),
        Layer.effect(Second, Model.Model).pipe(Layer.provide(OpenAi.model("m")), Layer.provide(other.layer))
      )
      const asked = Effect.gen(function* () {
        yield* (yield* First).generate(request)
        assert.deepStrictEqual([one.sent.length, other.sent.length], [1, 0])
        yield* (yield* Second).generate(request)
      })
      yield* inEnvironment({ OPENAI_API_KEY: "k" })(Effect.provide(asked, layers))
      assert.deepStrictEqual([one.sent.length, other.sent.length], [1, 1])
    })
  )

  it.effect("has in an agent the client of the run [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const agent = Agent.make("clerk", { model: OpenAi.model("m") })
      const asked = agent("hi").pipe(
        Effect.provide(network.layer),
        Effect.provideService(FetchHttpClient.Fetch, unasked)
      )
      yield* inEnvironment({ OPENAI_API_KEY: "k" })(asked)
      assert.strictEqual(network.sent.length, 1)
    })
  )
})
