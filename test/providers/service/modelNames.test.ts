/** Names of models as a stranger may choose them: no provider is led to another path. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Providers from "@kintsugi/providers"
import { Effect, Redacted } from "effect"
import { failsWith, fakeNetwork, generate, respond, streamParts } from "../../_support/network.ts"

const { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } = Providers

const options = {
  apiKey: Redacted.make("k"),
  baseUrl: "https://p.test/base/v1?tenant=7",
  transport: { retry: false }
} as const

/** All layers that take the name of a model, by the module of the provider. */
const makers = {
  Anthropic: [(model: string) => Anthropic.layer({ ...options, model })],
  DeepSeek: [(model: string) => DeepSeek.layer({ ...options, model })],
  Gemini: [(model: string) => Gemini.layer({ ...options, model })],
  Kimi: [(model: string) => Kimi.layer({ ...options, model })],
  Ollama: [(model: string) => Ollama.layer({ ...options, model })],
  OpenAi: [
    (model: string) => OpenAi.layer({ ...options, model }),
    (model: string) => OpenAi.layerResponses({ ...options, model })
  ],
  OpenRouter: [(model: string) => OpenRouter.layer({ ...options, model })],
  Perplexity: [
    (model: string) => Perplexity.layer({ ...options, model }),
    (model: string) => Perplexity.layer({ ...options, api: "chat", model })
  ]
} as const

/** Sent whole and streamed, or what came instead. */
const calls = [Effect.asVoid(generate), Effect.asVoid(streamParts)]

const sending = Effect.fnUntraced(function* (make: (model: string) => ReturnType<typeof Ollama.layer>, model: string) {
  const network = fakeNetwork(respond(500))
  const exits = []
  for (const call of calls) {
    exits.push(yield* Effect.exit(call.pipe(Effect.provide(make(model)), Effect.provide(network.layer))))
  }
  return { sent: network.sent, exits }
})

const hostile = [
  "../../../admin/delete",
  "..\\..\\admin",
  "%2e%2e/%2e%2e/admin",
  "/admin",
  "//evil.test/v1",
  "https://evil.test/v1",
  "a/../../b",
  "models/../../admin",
  "tunedModels/../admin",
  "tunedModels/a/../../b",
  "m?alt=media&key=1",
  "m#fragment",
  "m:delete",
  "m;v=1",
  "\t..\n/\r..",
  "a b\u202e\u0000",
  "\u00e9\ud83d\ude00"
]

/** What no escape makes a segment of its own. */
const refused = [".", "..", "", "models/..", "tunedModels/.", "tunedModels/", "a\ud800b"]

describe("a model's name", () => {
  it("is tried with every provider that there is [P1388]", () => {
    const named = Object.entries(Providers).filter(([, module]) => "model" in module && "layer" in module)
    assert.deepStrictEqual(
      named.map(([name]) => name),
      Object.keys(makers)
    )
  })

  for (const [name, layers] of Object.entries(makers)) {
    it.effect(`is one segment of the path at most with ${name}, whole and streamed [P1388]`, () =>
      Effect.gen(function* () {
        for (const make of layers) {
          const plain = yield* sending(make, "plain")
          assert.strictEqual(plain.sent.length, 2)
          for (const model of hostile) {
            const { sent } = yield* sending(make, model)
            assert.strictEqual(sent.length, 2, model)
            for (const [index, { url }] of sent.entries()) {
              const as = new URL(plain.sent[index]?.url ?? "")
              const is = new URL(url)
              const differs = segments(is).filter((segment, at) => segment !== segments(as)[at])
              assert.strictEqual(is.origin, as.origin, model)
              assert.strictEqual(is.search, as.search, model)
              assert.strictEqual(segments(is).length, segments(as).length, `${model}: ${url}`)
              // of a tuned model the collection before it is another one
              assert.isAtMost(differs.length, model.startsWith("tunedModels/") ? 2 : 1, `${model}: ${url}`)
            }
          }
        }
      })
    )
  }

  it.effect("reaches the provider as it was given, where it is in the path [P1388]", () =>
    Effect.gen(function* () {
      const names = new Map([
        ["gemini-2.5-flash", "models/gemini-2.5-flash"],
        ["models/gemini-2.5-flash", "models/gemini-2.5-flash"],
        ["tunedModels/a b", "tunedModels/a b"],
        ["tunedModels/a\nb", "tunedModels/a\nb"],
        ["my-models/a", "models/my-models/a"],
        ["../../../admin/delete", "models/../../../admin/delete"],
        ["%2e%2e/x", "models/%2e%2e/x"]
      ])
      for (const [model, resource] of names) {
        const { sent } = yield* sending(makers.Gemini[0], model)
        for (const [index, { url }] of sent.entries()) {
          const [collection, segment = ""] = segments(new URL(url)).slice(-2)
          const method = index === 0 ? ":generateContent" : ":streamGenerateContent"
          assert.isTrue(segment.endsWith(method), url)
          assert.strictEqual(`${collection}/${decodeURIComponent(segment.slice(0, -method.length))}`, resource)
        }
      }
    })
  )

  it.effect("that no escape makes a segment is a bad request, and nothing is sent [P1388]", () =>
    Effect.gen(function* () {
      for (const model of refused) {
        const { exits, sent } = yield* sending(makers.Gemini[0], model)
        assert.strictEqual(sent.length, 0, model)
        for (const exit of exits) {
          const error = failsWith(exit, LlmError.InvalidRequestError)
          assert.include(error.message, "was not sent", model)
          assert.include(error.message, "not a single path segment", model)
          assert.isFalse(error.isRetryable)
        }
      }
    })
  )

  it.effect("that is unusual is sent by all other providers, in the body [P1388]", () =>
    Effect.gen(function* () {
      for (const [name, layers] of Object.entries(makers)) {
        if (name === "Gemini") continue
        for (const make of layers) {
          for (const model of [".", "..", "../../../admin/delete"]) {
            const { sent } = yield* sending(make, model)
            assert.deepStrictEqual(
              // the body of a chat is JSON with a field for it
              sent.map(({ body }) => (JSON.parse(body) as { readonly model?: string }).model),
              [model, model],
              name
            )
          }
        }
      }
    })
  )
})

const segments = (url: URL): ReadonlyArray<string> => url.pathname.split("/")
