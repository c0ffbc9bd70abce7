/** `@google/genai` as a judge of the loopback server. */
import { assert, describe, it } from "@effect/vitest"
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI } from "@google/genai"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { city, drain, greeting, key, serving, thrownBy, until, weatherSchema } from "./playing.ts"

const clientAt = (baseUrl: string, apiKey = key) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl } }).models

const plain = { model: "m", contents: "hello" }

const config = { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: weatherSchema }] }] }

const asked: Content = { role: "user", parts: [{ text: "hello" }] }

const withTool = { model: "m", contents: [asked], config }

const partsOf = (responses: ReadonlyArray<GenerateContentResponse>) =>
  responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])

describe("@google/genai", () => {
  it.live("reads a text, whole and streamed, with the same usage", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.generateContent(plain))
      const streamed = yield* Effect.promise(async () => drain(await client.generateContentStream(plain)))
      for (const responses of [[whole], streamed]) {
        assert.strictEqual(responses.map(({ text }) => text).join(""), greeting)
        const last = responses.at(-1)
        assert.strictEqual(last?.candidates?.[0]?.finishReason, "STOP")
        assert.deepInclude(last?.usageMetadata, {
          promptTokenCount: 20,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 4,
          cachedContentTokenCount: 5,
          totalTokenCount: 29
        })
      }
      assert.isAbove(streamed.length, 1)
    })
  )

  it.live("reads parallel calls, whole and streamed, and sends their responses with the signatures", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.generateContent(withTool))
      const streamed = yield* Effect.promise(async () => drain(await client.generateContentStream(withTool)))
      for (const responses of [[whole], streamed]) {
        const calls = responses.flatMap(({ functionCalls }) => functionCalls ?? [])
        assert.deepStrictEqual(calls, [
          { id: "call_1", name: "weather", args: city },
          { id: "call_2", name: "weather", args: { city: "Oslo" } }
        ])
        const results = calls.map(({ id, name }, index) => ({
          functionResponse: { id: id ?? "", name: name ?? "", response: { output: `${index}°` } }
        }))
        const contents = (parts: Content["parts"] & {}): Array<Content> => [
          asked,
          { role: "model", parts },
          { role: "user", parts: results }
        ]
        const parts = partsOf(responses)
        const answer = yield* Effect.promise(() => client.generateContent({ ...withTool, contents: contents(parts) }))
        assert.strictEqual(answer.text, "It is 0° and 1°.")
        const unsigned = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [{ functionCall }]))
        const refused = yield* thrownBy(() => client.generateContent({ ...withTool, contents: contents(unsigned) }))
        assert(refused instanceof ApiError)
        assert.match(refused.message, /missing a thought_signature/)
      }
    })
  )

  it.live("throws its own error for each failure, with its status", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([
        AnyWire.failing({ type: "rate-limited", retryAfter: "34400 millis" }),
        AnyWire.failing({ type: "overloaded" }),
        AnyWire.failing({ type: "server-error" })
      ])
      const ask = (apiKey?: string, more = {}) =>
        thrownBy(() => clientAt(url, apiKey).generateContent({ ...plain, ...more }))
      for (const [status, words] of [
        [429, /RESOURCE_EXHAUSTED.*"retryDelay":"34s"/s],
        [503, /UNAVAILABLE/],
        [500, /INTERNAL/]
      ] as const) {
        const thrown = yield* ask()
        assert(thrown instanceof ApiError)
        assert.strictEqual(thrown.status, status)
        assert.match(thrown.message, words)
      }
      const wrong = yield* ask("the-wrong-one")
      assert(wrong instanceof ApiError)
      assert.strictEqual(wrong.status, 400)
      assert.match(wrong.message, /API_KEY_INVALID/)
      const unknown = yield* ask(key, { model: "gemini-unknown" })
      assert(unknown instanceof ApiError)
      assert.strictEqual(unknown.status, 404)
    })
  )

  it.live("throws in the middle of a stream, after its text", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([AnyWire.breakingOff({ type: "overloaded" }, 2)])
      let said = ""
      const thrown = yield* thrownBy(async () =>
        until(await clientAt(url).generateContentStream(plain), ({ text }) => {
          said += text ?? ""
        })
      )
      assert(thrown instanceof ApiError)
      assert.strictEqual(thrown.status, 503)
      assert.strictEqual(said, "grüße 🙂, fiv")
    })
  )
})
