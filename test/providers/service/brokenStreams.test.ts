/** Streams with faulty ends, over the transport: Gemini's, without any end mark, and lines. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import { Gemini, Ollama, type Transport } from "@kintsugi/providers"
import { Effect, Exit, type Layer, Redacted } from "effect"
import { body, failsWith, fakeNetwork, key, respondWith, streamText } from "../../_support/network.ts"

const transport = { retry: false } as const

const gemini = Gemini.layer({ model: "m", apiKey: Redacted.make(key), transport })
const ollama = Ollama.layer({ model: "m", transport })

/** What comes of these chunks: the text until the end, and the end. */
const reading = (layer: Layer.Layer<Model.Model, never, Transport.HttpClient>, ...chunks: ReadonlyArray<string>) => {
  const network = fakeNetwork([respondWith(200, () => body(chunks))])
  return streamText.pipe(Effect.provide(layer), Effect.provide(network.layer))
}

const chunk = (text: string, more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, ...more }] })}\r\n\r\n`

const error = { error: { code: 429, message: "Resource has been exhausted.", status: "RESOURCE_EXHAUSTED" } }

const line = (content: string, more: object = {}) => JSON.stringify({ message: { content }, done: false, ...more })

describe("Gemini", () => {
  it.effect("needs no mark of an end beyond the reason [A114]", () =>
    Effect.gen(function* () {
      const { exit, text } = yield* reading(gemini, chunk("a"), chunk("b", { finishReason: "STOP" }))
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(text, "ab")
    })
  )

  for (const [how, text] of [
    ["an event", `data: ${JSON.stringify(error)}\r\n\r\n`],
    ["bare JSON", JSON.stringify(error)],
    ["bare JSON over several lines", `${JSON.stringify(error, undefined, 2).replaceAll("\n", "\r\n")}\r\n`]
  ] as const) {
    it.effect(`an error in the middle is that error, as ${how} [T8]`, () =>
      Effect.gen(function* () {
        const read = yield* reading(gemini, chunk("a"), text)
        assert.strictEqual(read.text, "a")
        assert.strictEqual(failsWith(read.exit, LlmError.RateLimitError).status, 429)
      })
    )
  }

  it.effect("an end without a reason is a NetworkError [P504]", () =>
    Effect.gen(function* () {
      const read = yield* reading(gemini, chunk("a"), chunk("b").slice(0, -9))
      assert.strictEqual(read.text, "a")
      failsWith(read.exit, LlmError.NetworkError)
    })
  )
})

describe("Ollama", () => {
  it.effect("the last line needs no line end, be it a reply's or an error [A114]", () =>
    Effect.gen(function* () {
      const whole = yield* reading(ollama, `${line("a")}\n`, line("b", { done: true }))
      assert.isTrue(Exit.isSuccess(whole.exit))
      assert.strictEqual(whole.text, "ab")
      const failing = yield* reading(ollama, `${line("a")}\n`, '{"error":"unexpected EOF"}')
      assert.strictEqual(failing.text, "a")
      failsWith(failing.exit, LlmError.ServerError)
    })
  )

  it.effect("a line that was cut off is a NetworkError, and so is an end after a whole one [P504]", () =>
    Effect.gen(function* () {
      for (const rest of ["", line("b", { done: true }).slice(0, -5)]) {
        const read = yield* reading(ollama, `${line("a")}\n`, rest)
        assert.strictEqual(read.text, "a")
        failsWith(read.exit, LlmError.NetworkError)
      }
    })
  )

  it.effect("a line that is not JSON cannot be read [T8]", () =>
    Effect.gen(function* () {
      for (const page of ["<html>busy</html>", "<html>busy</html>\n", '{"message":\n']) {
        failsWith((yield* reading(ollama, page)).exit, LlmError.UnknownLlmError)
      }
    })
  )
})
