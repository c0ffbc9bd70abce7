/** Layers of all wires by their transport, their chunks, and how a stream of them ends. */
import { assert } from "@effect/vitest"
import { LlmError, type Model } from "@kintsugi/core"
import { Anthropic, Gemini, Ollama, OpenAi, type Transport } from "@kintsugi/providers"
import { Effect, Exit, type Layer, Redacted } from "effect"
import { body, event, failsWith, fakeNetwork, finished, respondWith, streamText } from "../../../_support/network.ts"

export type Provided = Layer.Layer<Model.Model, never, Transport.HttpClient>

export const common = { apiKey: Redacted.make("k"), baseUrl: "https://api.test", model: "m" }

/** How a stream with these chunks ends, and its text. */
export const streamed = (layer: Provided, chunks: ReadonlyArray<string | Uint8Array>) => {
  const network = fakeNetwork([respondWith(200, () => body(chunks))])
  return Effect.map(finished(streamText.pipe(Effect.provide(layer), Effect.provide(network.layer)), 0), (exit) => {
    assert(Exit.isSuccess(exit))
    assert.strictEqual(network.sent.length, 1)
    return exit.value
  })
}

/** The option that a failure names, with its limit. */
export const tooLarge = (exit: Exit.Exit<unknown, LlmError.LlmError>) => {
  const error = failsWith(exit, LlmError.ReplyTooLargeError)
  assert.isFalse(error.isRetryable)
  assert.strictEqual(error.recovery, "shrink")
  assert.include(error.message, `${error.option} admits, ${error.limit} bytes`)
  return [error.option, error.limit]
}

export const thoughtChunk = (reasoning_content: string) =>
  event({ choices: [{ index: 0, delta: { reasoning_content } }] })

export const callChunk = (args: string) =>
  event({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: args } }] } }]
  })

export const named = (data: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${data.type}\n${event(data)}`

export const item = (type: "added" | "done", output_index: number, item: object) =>
  named({ type: `response.output_item.${type}`, output_index, item })

export const chat = (transport: Transport.Options) => OpenAi.layer({ ...common, transport })
export const responses = (transport: Transport.Options) => OpenAi.layerResponses({ ...common, transport })
export const anthropic = (transport: Transport.Options) => Anthropic.layer({ ...common, transport })
export const gemini = (transport: Transport.Options) => Gemini.layer({ ...common, transport })
export const ollama = (transport: Transport.Options) =>
  Ollama.layer({ model: "m", baseUrl: "https://api.test", transport })
