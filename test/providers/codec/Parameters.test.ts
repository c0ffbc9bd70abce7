/** Invalid options are refused when a model is made, and never sent. */
import { assert, describe, it } from "@effect/vitest"
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import * as Parameters from "../../../packages/providers/src/codec/Parameters.ts"
import { Message, type Model } from "@kintsugi/core"
import { Redacted } from "effect"

type Given = Parameters<typeof Parameters.checked>[0]

const source = { provider: "p", model: "m", secrets: [] }
const chosen = { model: "m", apiKey: Redacted.make("a-key-of-some-length") }

interface Asked {
  readonly temperature?: number
  readonly topP?: number
  readonly maxTokens?: number
}

/** Functions that make a model. */
const makers: Readonly<Record<string, (options: Asked) => unknown>> = {
  "the format of Anthropic": (options) => AnthropicMessages.make(source, options),
  "the format of Gemini": (options) => GeminiContent.make(source, options),
  "the format of Ollama": (options) => OllamaChat.make(source, options),
  "chat completions": (options) => OpenAiChat.make(source, options),
  responses: (options) => OpenAiResponses.make(source, options),
  Anthropic: (options) => Anthropic.layer({ ...chosen, ...options }),
  DeepSeek: (options) => DeepSeek.layer({ ...chosen, ...options }),
  Gemini: (options) => Gemini.layer({ ...chosen, ...options }),
  Kimi: (options) => Kimi.layer({ ...chosen, ...options }),
  Ollama: (options) => Ollama.layer({ ...chosen, ...options }),
  OpenAi: (options) => OpenAi.layer({ ...chosen, ...options }),
  "OpenAi's responses": (options) => OpenAi.layerResponses({ ...chosen, ...options }),
  OpenRouter: (options) => OpenRouter.layer({ ...chosen, ...options }),
  Perplexity: (options) => Perplexity.layer({ ...chosen, ...options }),
  "chat completions of Perplexity": (options) => Perplexity.layer({ ...chosen, api: "chat", ...options })
}

const senseless: ReadonlyArray<readonly [Asked, string]> = [
  [{ temperature: Number.NaN }, "temperature must be at least 0, got NaN"],
  [{ temperature: -0.1 }, "temperature must be at least 0, got -0.1"],
  [{ temperature: Infinity }, "temperature must be at least 0, got Infinity"],
  [{ topP: Number.NaN }, "topP must be between 0 and 1, got NaN"],
  [{ topP: 1.5 }, "topP must be between 0 and 1, got 1.5"],
  [{ maxTokens: -5 }, "maxTokens must be an integer of at least 1, got -5"],
  [{ maxTokens: 0 }, "maxTokens must be an integer of at least 1, got 0"],
  [{ maxTokens: 1.5 }, "maxTokens must be an integer of at least 1, got 1.5"],
  [{ maxTokens: Infinity }, "maxTokens must be an integer of at least 1, got Infinity"]
]

describe("numbers", () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`that are invalid are a RangeError of ${name}`, () => {
      for (const [options, message] of senseless) assert.throws(() => make(options), RangeError, message)
    })

    it(`that are valid are accepted by ${name}`, () => {
      for (const options of [{}, { temperature: 0, topP: 0, maxTokens: 1 }, { temperature: 2, topP: 1 }]) {
        assert.doesNotThrow(() => make(options))
      }
    })
  }

  it("of one format alone are checked as well", () => {
    const others: ReadonlyArray<readonly [Given, string]> = [
      [{ seed: 1.5 }, "seed must be an integer"],
      [{ topK: 0 }, "topK must be an integer of at least 1"],
      [{ numCtx: -1 }, "numCtx must be an integer of at least 1"],
      [{ keepAlive: Number.NaN }, "keepAlive must be a number of seconds"],
      [{ reasoning: { maxTokens: Number.NaN } }, "reasoning.maxTokens must be an integer of at least -1"],
      [{ reasoning: { maxTokens: -2 } }, "reasoning.maxTokens must be an integer of at least -1"]
    ]
    for (const [options, message] of others) {
      assert.throws(() => Parameters.checked(options), RangeError, message)
    }
    const fit = { seed: -7, topK: 1, numCtx: 4096, keepAlive: "5m", reasoning: { maxTokens: -1 } }
    assert.strictEqual(Parameters.checked(fit), fit)
    assert.doesNotThrow(() => Parameters.checked({ keepAlive: -1, reasoning: "high" }))
  })
})

describe("tools of the provider", () => {
  it("are those of the option, and those that a field of the body switches on", () => {
    assert.isFalse(Parameters.providesTools({}))
    assert.isFalse(Parameters.providesTools({ providerTools: [], extra: { tools: [], search: true } }))
    assert.isTrue(Parameters.providesTools({ providerTools: [{ type: "web_search" }] }))
    for (const name of ["web_search_options", "plugins", "mcp_servers", "search_parameters"]) {
      assert.isTrue(Parameters.providesTools({ extra: { [name]: null } }), name)
    }
  })
})

describe("a tool choice of the layer", () => {
  it("is that of requests that leave it open; a forced one only of requests that end with words of the user", () => {
    const tools = [{ name: "f", description: "F.", parameters: { type: "object" } }]
    const ended = [Message.user("hi"), Message.assistant("ho")]
    const chosen = (wanted: Model.ToolChoice | undefined, more: Partial<Model.Request> = {}) =>
      Parameters.choiceOf({ messages: [Message.user("hi")], tools, toolChoice: "auto", ...more }, wanted)
    const named = { tool: "f" } as const
    for (const wanted of ["required", named] as const) {
      assert.deepStrictEqual(chosen(wanted), wanted)
      assert.deepStrictEqual(chosen(wanted, { messages: ended }), "auto")
      assert.deepStrictEqual(chosen(wanted, { messages: [] }), "auto")
      assert.deepStrictEqual(chosen(wanted, { tools: [] }), "auto")
      assert.deepStrictEqual(chosen(wanted, { toolChoice: "none" }), "none")
    }
    assert.strictEqual(chosen("none", { messages: ended }), "none")
    assert.strictEqual(chosen(undefined), "auto")
    assert.deepStrictEqual(chosen("none", { toolChoice: named }), named)
  })
})
