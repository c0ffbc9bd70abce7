/** Recorded answers, served over a real connection and read through the public interface. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import {
  Anthropic,
  DeepSeek,
  Gemini,
  Kimi,
  Ollama,
  OpenAi,
  OpenRouter,
  Perplexity,
  Transport
} from "@kintsugi/providers"
import { type Fault, LoopbackServer } from "@kintsugi/providers/testing"
import type { Schema } from "effect"
import { Duration, Effect, type Exit, Layer, Redacted, Stream } from "effect"
import { failureOf, request } from "../../_support/network.ts"
import { type Fixture, fixtures } from "../../_support/wireFixtures.ts"

export type ModelAt = (
  baseUrl: string,
  apiKey: Redacted.Redacted
) => Layer.Layer<Model.Model, never, Transport.HttpClient>

const transport = { retry: false } as const

/** Every provider and format that recorded answers are read by, as `provider/format`, sending everything once. */
export const models: Readonly<Record<string, ModelAt>> = {
  "anthropic/anthropic": (baseUrl, apiKey) => Anthropic.layer({ model: "m", apiKey, baseUrl, transport }),
  "openai/openai-responses": (baseUrl, apiKey) => OpenAi.layerResponses({ model: "m", apiKey, baseUrl, transport }),
  "openai/openai-chat": (baseUrl, apiKey) => OpenAi.layer({ model: "m", apiKey, baseUrl, transport }),
  "deepseek/openai-chat": (baseUrl, apiKey) => DeepSeek.layer({ model: "m", apiKey, baseUrl, transport }),
  "kimi/openai-chat": (baseUrl, apiKey) => Kimi.layer({ model: "m", apiKey, baseUrl, transport }),
  "openrouter/openai-chat": (baseUrl, apiKey) => OpenRouter.layer({ model: "m", apiKey, baseUrl, transport }),
  "perplexity/openai-chat": (baseUrl, apiKey) =>
    Perplexity.layer({ api: "chat", model: "m", apiKey, baseUrl, transport }),
  "gemini/gemini": (baseUrl, apiKey) => Gemini.layer({ model: "m", apiKey, baseUrl, transport }),
  "ollama/ollama": (baseUrl) => Ollama.layer({ model: "m", baseUrl, transport }),
  // the other format that its server speaks
  "ollama/openai-chat": (baseUrl, apiKey) => OpenAi.layer({ model: "m", apiKey, baseUrl, transport })
}

export const nameOf = ({ api, provider }: Fixture): string => `${provider}/${api}`

/** The recordings that some model here reads. */
export const replayed: ReadonlyArray<Fixture> = fixtures.filter((fixture) => nameOf(fixture) in models)

export const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))

/** The reply that a stream folds to. */
export const collect = Effect.gen(function* () {
  const model = yield* Model.Model
  const collector = new Model.Collector()
  yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  const reply = collector.reply()
  assert(reply !== undefined, "the stream had no end")
  return reply
})

/** Runs against a server that gives this answer, cut into pieces in this way. */
export const replay = <A, E>(
  fixture: Fixture,
  effect: Effect.Effect<A, E, Model.Model>,
  split: Parameters<typeof Fault.split>[0] = "whole",
  edit = (text: string) => text,
  at: (url: string) => Layer.Layer<Model.Model> = (url) => modelAt(fixture, url)
) =>
  Effect.gen(function* () {
    const server = yield* LoopbackServer.make(() =>
      Effect.succeed({ status: fixture.status, headers: fixture.headers, body: edit(fixture.body), split })
    )
    return yield* Effect.exit(effect.pipe(Effect.provide(at(server.url))))
  })

export const modelAt = (fixture: Fixture, url: string): Layer.Layer<Model.Model> => {
  const make = models[nameOf(fixture)]
  assert(make !== undefined)
  return Layer.provide(make(url, Redacted.make("sk-test-1234")), Transport.layerFetch)
}

const finishOf: Readonly<Record<string, Message.FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length"
}

/** A reply says what an independent reader found in the body. */
export const checkReply = (reply: Message.Reply, { api, expected }: Fixture): void => {
  assert.strictEqual(reply.finish, finishOf[expected.outcome ?? ""])
  const text = Message.textOf(reply)
  if (expected.text !== undefined) assert.strictEqual(text.slice(0, 2000), expected.text)
  assert.strictEqual(Array.from(text).length, expected.textLength)
  if (expected.textSha256 !== undefined) {
    assert.strictEqual(createHash("sha256").update(text).digest("hex"), expected.textSha256)
  }
  assert.strictEqual(reply.model, expected.model ?? undefined)
  const calls = Message.callsOf(reply)
  assert.deepStrictEqual<unknown>(
    calls.map(({ arguments: args, name }) => ({ name, args: parsed(args) })),
    (expected.toolCalls ?? []).map(({ args, name }) => ({ name, args }))
  )
  for (const [index, { id }] of (expected.toolCalls ?? []).entries()) {
    if (id !== undefined && id !== null) assert.strictEqual(calls[index]?.id, id)
  }
  assert.strictEqual(new Set(calls.map(({ id }) => id)).size, calls.length, "ids are told apart")
  let thoughts = 0
  for (const part of reply.content) if (part.type === "reasoning") thoughts += part.text.length
  if (expected.reasoningLength !== undefined) assert.strictEqual(thoughts, expected.reasoningLength)
  assert.deepStrictEqual(reply.usage, usageOf(api, expected.usage))
}

/** Our usage: the input includes cached tokens, the output includes reasoning. */
export const usageOf = (api: Fixture["api"], usage: Fixture["expected"]["usage"]) => {
  const { cacheWrite = 0, cachedInput = 0, input = 0, output = 0, reasoning = 0 } = usage ?? {}
  return {
    inputTokens: api === "anthropic" ? input + cachedInput + cacheWrite : input,
    outputTokens: api === "gemini" ? output + reasoning : output,
    cachedInputTokens: cachedInput,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning
  }
}

const parsed = (args: Schema.Json): unknown => {
  if (typeof args !== "string") return args ?? {}
  if (args === "") return {}
  try {
    return JSON.parse(args)
  } catch {
    return { __invalid_json__: args }
  }
}

const tagOf: Readonly<Record<string, ReadonlyArray<LlmError.LlmError["_tag"]>>> = {
  AUTHENTICATION_FAILED: ["AuthenticationError"],
  MODEL_NOT_FOUND: ["ModelNotFoundError"],
  CONTENT_FILTERED: ["ContentFilteredError"],
  INVALID_REQUEST: ["InvalidRequestError"],
  MODEL_OVERLOADED: ["ModelOverloadedError"],
  CONTEXT_TOO_LONG: ["ContextTooLongError"],
  SERVER_ERROR: ["ServerError"],
  MALFORMED_TOOL_CALL: ["MalformedToolCallError"],
  CAPABILITY_MISMATCH: ["CapabilityMismatchError"],
  UNKNOWN: ["UnknownLlmError"],
  RateLimit: ["RateLimitError", "QuotaExhaustedError"],
  Network: ["NetworkError"],
  Timeout: ["RequestTimeoutError"]
}

/** An error is of the category that was expected, with the hints that the answer gave. */
export const checkError = (error: LlmError.LlmError, expected: NonNullable<Fixture["expected"]["error"]>): void => {
  const admitted = [expected.category, ...(expected.acceptable ?? [])].flatMap((category) => tagOf[category] ?? [])
  assert.include(admitted, error._tag)
  // a malformed call is repaired by asking again
  assert.strictEqual(error.isRetryable || error.recovery === "repair", expected.retrySameRequest)
  assert.strictEqual(error._tag === "QuotaExhaustedError", expected.quotaExhausted ?? false)
  const asked = expected.retryAfterMs
  if (asked === undefined || error._tag === "QuotaExhaustedError") return
  // some say it again in whole seconds, and the largest value wins
  assert(error.retryAfter !== undefined)
  const hint = Duration.toMillis(error.retryAfter)
  assert.isAtLeast(hint, asked)
  assert.isBelow(hint, asked + 1000)
}

export const errorOfExit = <A>(exit: Exit.Exit<A, LlmError.LlmError>): LlmError.LlmError => failureOf(exit)
