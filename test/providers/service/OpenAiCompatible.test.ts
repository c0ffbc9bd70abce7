/** Each host of `hosts`: what it is sent, and its name in errors, spans and the ledger. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Agent, Message, Model, Telemetry, Tool } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { ConfigProvider, Effect, Layer, Redacted, Schema, Stream, Tracer } from "effect"
import { eventLog } from "../../_support/dialogue.ts"
import { fakeNetwork, failureOf, generate, key, ok, respond } from "../../_support/network.ts"
import { runners } from "../../_support/run.ts"
import { specOf } from "../_support/toolSpecs.ts"

const { hosts } = OpenAiCompatible
const names = Object.keys(hosts) as ReadonlyArray<keyof typeof hosts>
const apiKey = Redacted.make(key)

const once = { transport: { retry: false } } as const

const weather = Tool.make("weather", {
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.String,
  run: ({ city }) => Effect.succeed(`sun in ${city}`)
})

/** Calls the tool, and repeats what it says. */
const brain: AnyWire.Brain = ({ messages }) => {
  const last = messages.at(-1)
  const call = { type: "tool-call", id: "c1", name: "weather", arguments: { city: "Graz" } } as const
  return Effect.succeed({
    content: last?.role === "user" ? [call] : [Message.text("sun in Graz")]
  })
}

/** What a request may say only to some hosts. */
const fields = ["max_tokens", "max_completion_tokens", "stream_options", "seed", "random_seed"]

const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
  azure: ["max_completion_tokens", "seed", "stream_options"],
  bedrock: ["max_completion_tokens", "seed", "stream_options"],
  cerebras: ["max_completion_tokens", "seed", "stream_options"],
  cloudflareGateway: ["max_completion_tokens", "seed", "stream_options"],
  cohere: ["max_tokens", "seed"],
  groq: ["max_completion_tokens", "seed", "stream_options"],
  mistral: ["max_tokens", "random_seed"],
  xai: ["max_completion_tokens", "seed", "stream_options"]
}

describe("hosts", () => {
  for (const name of names) {
    for (const [way, run] of Object.entries(runners)) {
      it.live(`${name} plays an exchange with a tool call (${way}) [P1414]`, () =>
        Effect.gen(function* () {
          const server = yield* LoopbackServer.make(AnyWire.handler(brain))
          const host: OpenAiCompatible.Host = hosts[name]
          const path = new URL(host.baseUrl ?? "https://host.test/v1").pathname
          const layer = OpenAiCompatible.layer(name, {
            model: "m",
            apiKey,
            baseUrl: `${server.url}${path}`,
            maxTokens: 100,
            seed: 7
          })
          const log = eventLog()
          const agent = Agent.make("clerk", { tools: [weather] }).pipe(log.listen)
          const answer = yield* run(agent, "weather?").pipe(Effect.provide(Layer.provide(layer, Transport.layerFetch)))
          assert.strictEqual(answer, "sun in Graz")
          const entries = log.all.flatMap((event) => (event.type === "run-completed" ? event.ledger : []))
          assert.deepStrictEqual(
            entries.map(({ provider }) => provider),
            [host.provider, host.provider]
          )
          for (const { body, path: sent } of yield* server.requests) {
            assert.strictEqual(sent, `${path}/chat/completions`)
            const said = body as Readonly<Record<string, unknown>>
            const streamed = run.isStreamed ? fields : fields.filter((field) => field !== "stream_options")
            assert.sameMembers(
              streamed.filter((field) => field in said),
              (expected[name] ?? ["max_tokens", "seed", "stream_options"]).filter((field) => streamed.includes(field))
            )
            assert.strictEqual(JSON.stringify(body).includes('"strict":true'), name === "azure")
          }
        })
      )
    }
  }

  for (const [way, run] of Object.entries(runners)) {
    it.live(`of other formats, Gemini on Vertex and Claude on Bedrock, play one too (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        const server = yield* LoopbackServer.make(AnyWire.handler(brain))
        const token = Effect.succeed(apiKey)
        const project = "/v1/projects/p/locations/l/publishers/google"
        const at = (host: string, path: string) =>
          ({ host, baseUrl: `${server.url}${path}`, apiKey: token, bearer: true }) as const
        const layers = {
          vertex: Gemini.layer({ ...at("vertex", project), model: "gemini-3.8-flash" }),
          bedrock: Anthropic.layer({ ...at("bedrock", "/anthropic"), model: "anthropic.claude-opus-5-5" })
        }
        for (const [name, layer] of Object.entries(layers)) {
          const log = eventLog()
          const agent = Agent.make("clerk", { tools: [weather] }).pipe(log.listen)
          const answer = yield* run(agent, "weather?").pipe(Effect.provide(Layer.provide(layer, Transport.layerFetch)))
          assert.strictEqual(answer, "sun in Graz")
          const entries = log.all.flatMap((event) => (event.type === "run-completed" ? event.ledger : []))
          assert.deepStrictEqual(
            entries.map(({ provider }) => provider),
            [name, name]
          )
        }
        const action = run.isStreamed ? "streamGenerateContent?alt=sse" : "generateContent"
        const asked = `${project}/models/gemini-3.8-flash:${action}`
        const sent = yield* server.requests
        assert.deepStrictEqual(
          sent.map(({ path }) => path),
          [asked, asked, "/anthropic/v1/messages", "/anthropic/v1/messages"]
        )
        for (const { authorization, headers } of sent) {
          assert(authorization !== undefined)
          assert.strictEqual(Redacted.value(authorization), `Bearer ${key}`)
          assert.notProperty(headers, "x-goog-api-key")
          assert.notProperty(headers, "x-api-key")
        }
      })
    )
  }

  it("stand in the table of the page, with address, key and field of the longest reply [P1414]", () => {
    const page = readFileSync(new URL("../../../docs/guide/openai-compatible.md", import.meta.url), "utf8")
    const strict = names.filter((name) => (hosts[name] as OpenAiCompatible.Host).dialect.strict === true)
    assert.deepStrictEqual(strict, ["azure"])
    assert.include(page, "`strict` is sent only to Azure")
    for (const name of names) {
      const host: OpenAiCompatible.Host = hosts[name]
      const [, baseUrl, apiKey, field, notSent] =
        page
          .split("\n")
          .find((line) => line.startsWith(`| \`${name}\` |`))
          ?.slice(2)
          .split(" | ") ?? []
      if (host.baseUrl === undefined) assert.include(baseUrl, "{")
      else assert.strictEqual(baseUrl, `\`${host.baseUrl}\``)
      assert.strictEqual(apiKey, host.variables.apiKey === undefined ? "–" : `\`${host.variables.apiKey}\``)
      assert.strictEqual(field, `\`${host.dialect.maxTokensField ?? "max_completion_tokens"}\``)
      const { promptCache, refusedOptions = [] } = host.takes ?? {}
      const left = [
        ...(host.dialect.streamOptions === false ? ["`stream_options`"] : []),
        ...(promptCache === "none"
          ? ["`promptCache`"]
          : promptCache === "key-only"
            ? ["`promptCache` but its key"]
            : []),
        ...refusedOptions.map((option) => `\`${option}\``)
      ]
      assert.strictEqual(notSent, left.length === 0 ? "–" : left.join(", "), name)
    }
  })

  it("are known by their exact names [P1414]", () => {
    for (const name of ["Azure", "constructor"]) {
      assert.throws(
        () => OpenAiCompatible.layer(name as "groq", { model: "m" }),
        TypeError,
        `no host is named '${name}'`
      )
    }
  })

  it("have names, variables and addresses of their own, and none is more than 30 lines [P1414]", () => {
    const all: ReadonlyArray<OpenAiCompatible.Host> = Object.values(hosts)
    for (const of of [
      all.map(({ provider }) => provider),
      all.map(({ variables }) => variables.baseUrl),
      all.flatMap(({ baseUrl }) => baseUrl ?? [])
    ]) {
      assert.strictEqual(new Set(of).size, of.length)
    }
    for (const { dialect, ...one } of all) {
      // its capabilities are OpenAI's, one entry excepted
      const { capabilities: _, ...others } = dialect
      assert.isAtMost(JSON.stringify({ ...one, dialect: others }, undefined, 2).split("\n").length, 30)
    }
  })

  it.effect("are named in errors and spans, on each wire [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(401, { detail: "Invalid API Key" }))
      const options = { model: "m", apiKey, transport: { retry: false } } as const
      const layers = [
        OpenAiCompatible.layer("mistral", options),
        OpenAiCompatible.layer("groq", { ...options, host: "mistral" }),
        OpenAiCompatible.layerResponses("mistral", options),
        OpenAi.layer({ ...options, host: "mistral" }),
        Anthropic.layer({ ...options, host: "mistral" }),
        Gemini.layer({ ...options, host: "mistral" }),
        Ollama.layer({ ...options, host: "mistral" })
      ]
      for (const layer of layers) {
        for (const run of Object.values(runners)) {
          const spans: Array<Tracer.Span> = []
          const tracer = Tracer.make({
            span: (options) => {
              const span = new Tracer.NativeSpan(options)
              spans.push(span)
              return span
            }
          })
          const exit = yield* Effect.exit(
            run(Agent.make("clerk", {}), "hi").pipe(
              Effect.provide(Layer.provide(layer, network.layer)),
              Effect.provide(Telemetry.layer),
              Effect.withTracer(tracer)
            )
          )
          const error = failureOf(exit)
          assert(error._tag === "AuthenticationError")
          assert.include(error.message, "(mistral, status 401): Invalid API Key")
          assert.strictEqual(error.provider, "mistral")
          const named = spans.flatMap(({ attributes }) => attributes.get("gen_ai.provider.name") ?? [])
          assert.deepStrictEqual([...new Set(named)], ["mistral"])
        }
      }
    })
  )

  it.effect("of your own are data, and options override what is known of a host [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const acme: OpenAiCompatible.Host = {
        provider: "acme",
        baseUrl: "https://acme.test/v1",
        variables: { baseUrl: "ACME_BASE_URL" },
        dialect: { maxTokensField: "max_tokens" }
      }
      const sent = Effect.fnUntraced(function* (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>) {
        yield* generate.pipe(Effect.provide(layer), Effect.provide(network.layer))
        const last = network.sent.at(-1)
        assert(last !== undefined)
        return { ...last, body: JSON.parse(last.body) }
      })
      const options = { model: "m", maxTokens: 5 }
      const plain = yield* sent(OpenAiCompatible.layer(acme, options))
      assert.strictEqual(plain.url, "https://acme.test/v1/chat/completions")
      assert.strictEqual(plain.body.max_tokens, 5)
      assert.notProperty(plain.headers, "authorization")
      const newer = yield* sent(OpenAiCompatible.layer(acme, { ...options, maxTokensField: "max_completion_tokens" }))
      assert.strictEqual(newer.body.max_completion_tokens, 5)
      assert.notProperty(newer.body, "max_tokens")
    })
  )

  it.effect("are sent neither fields that they refuse nor, but for Azure, schemas as strict [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const asked = { model: "m", serviceTier: "flex", verbosity: "low", transport: { retry: false } } as const
      const promptCache = { key: "k", ttl: "24h", breakpoints: ["system"] } as const
      const request = {
        messages: [Message.user("hi")],
        tools: [specOf("look", Schema.Struct({ at: Schema.String }))],
        toolChoice: "auto"
      } as const
      const sent = Effect.fnUntraced(function* (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>) {
        const model = yield* Effect.provide(Model.Model, Layer.provide(layer, network.layer))
        yield* Effect.exit(model.generate(request))
        yield* Effect.exit(Stream.runDrain(model.stream(request)))
        const bodies = network.sent.splice(0).map(({ body }) => body)
        assert.strictEqual(bodies.length, 2)
        const all = ["prompt_cache_key", "prompt_cache_retention", "service_tier", "verbosity"]
        const isStrict = bodies.map((body) => body.includes('"strict":true'))
        return {
          isStrict: isStrict.every((is) => is),
          fields: bodies.map((body) => all.filter((field) => body.includes(`"${field}"`)).join(" ")),
          changes: model.adapts?.(request)?.changes.map(({ option }) => option)
        }
      })
      const both = (fields: string) => [fields, fields]
      const refusing = (name: keyof typeof hosts, more: object = {}) =>
        sent(OpenAiCompatible.layer(name, { ...asked, promptCache, apiKey, ...more }))
      assert.deepStrictEqual(yield* refusing("cerebras"), {
        isStrict: false,
        fields: both("service_tier verbosity"),
        changes: ["promptCache"]
      })
      assert.deepStrictEqual((yield* refusing("cohere")).fields, both("service_tier verbosity"))
      assert.deepStrictEqual(yield* refusing("mistral"), {
        isStrict: false,
        fields: both("prompt_cache_key"),
        changes: ["serviceTier", "verbosity", "promptCache"]
      })
      const knows = { refusedOptions: [], promptCache: "key" }
      assert.deepStrictEqual(
        (yield* refusing("mistral", { capabilities: knows })).fields,
        both("prompt_cache_key prompt_cache_retention service_tier verbosity")
      )
      for (const name of names) {
        const responses = { model: "m", apiKey, baseUrl: "https://host.test/v1" }
        const strictly = yield* sent(OpenAiCompatible.layerResponses(name, responses))
        assert.strictEqual(strictly.isStrict, name === "azure")
      }
      const asStrict = OpenAiCompatible.layerResponses("xai", { model: "m", apiKey, strict: true })
      assert.isTrue((yield* sent(asStrict)).isStrict)
    })
  )

  it.effect("that need a base URL say by which variable, if none is given [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(ok)
      const needing = names.filter((name) => !("baseUrl" in hosts[name]))
      assert.sameMembers(needing, ["azure", "bedrock", "cloudflareGateway", "vertex", "workersAi"])
      for (const name of needing) {
        const { apiKey: keyName, baseUrl }: OpenAiCompatible.Host["variables"] = hosts[name].variables
        for (const model of [OpenAiCompatible.model, OpenAiCompatible.responses]) {
          const from = (environment: object) =>
            Effect.exit(Effect.provide(generate, Layer.provide(model(name, "m", once), network.layer))).pipe(
              Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
            )
          const missing = failureOf<unknown, unknown>(yield* from({ [String(keyName)]: key }))
          assert.strictEqual((missing as Error).message, `set ${String(baseUrl)}`)
          yield* from({ [String(keyName)]: key, [String(baseUrl)]: "https://host.test/v1" })
          assert.match(network.sent.pop()?.url ?? "", /^https:\/\/host\.test\/v1\//)
        }
      }
      assert.lengthOf(network.sent, 0)
    })
  )

  it.live("take their key and base URL from variables of their own [P1414]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(AnyWire.handler(brain))
      const environment = { MISTRAL_API_KEY: key, MISTRAL_BASE_URL: `${server.url}/v1` }
      const within = Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
      yield* within(Effect.provide(generate, OpenAiCompatible.model("mistral", "m")))
      yield* within(Effect.provide(generate, OpenAiCompatible.responses("mistral", "m")))
      const sent = yield* server.requests
      assert.deepStrictEqual(
        sent.map(({ path }) => path),
        ["/v1/chat/completions", "/v1/responses"]
      )
      const missing = yield* Effect.exit(within(Effect.provide(generate, OpenAiCompatible.model("groq", "m"))))
      assert.include(String(failureOf<unknown, unknown>(missing)), "GROQ_API_KEY")
    })
  )
})
