/** What the services with chat completions of their own, and Perplexity's agent API, take: what is sent, and what is refused unsent. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { DeepSeek, Kimi, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { Effect } from "effect"
import * as BedrockConverse from "../../../packages/providers/src/codec/bedrock/BedrockConverse.ts"
import { failsWith } from "../../_support/network.ts"
import { chosen, exchangeWith, type ModelLayer, output, tool } from "./_support/chatRequests.ts"

/** The body of what is sent; `undefined` if it is refused, in words that name what can be sent. */
const sentOf = (layer: ModelLayer, request: Partial<Model.Request>) =>
  Effect.map(exchangeWith(layer, request), ({ exit, sent }) => {
    if (sent !== undefined) return JSON.parse(sent.body)
    assert.notInclude(failsWith(exit, LlmError.CapabilityMismatchError).message, "undefined")
    return undefined
  })

const choices: ReadonlyArray<readonly [string, Model.ToolChoice]> = [
  ["none", "none"],
  ["required", "required"],
  ["named", { tool: tool.name }]
]

const addresses = { data: "aGk=", url: "https://a.test/a", id: "file-abc_1" }

const ways: ReadonlyArray<readonly [string, Parameters<typeof Message.image>[1]]> = [
  ["data", { data: addresses.data }],
  ["url", { url: addresses.url }],
  ["id", { url: addresses.id }]
]

const formats = ["wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24", "midi"]

/** Those of these requests that a service is sent. */
const among = <A>(
  layer: ModelLayer,
  all: ReadonlyArray<readonly [string, A]>,
  of: (one: A) => Partial<Model.Request>,
  isSent: (body: { readonly tools?: unknown; readonly tool_choice?: unknown }) => boolean = () => true
) =>
  Effect.map(
    Effect.forEach(all, ([name, one]) => Effect.map(sentOf(layer, of(one)), (body) => [name, body] as const)),
    (sent) => sent.flatMap(([name, body]) => (body !== undefined && isSent(body) ? [name] : []))
  )

const attached = (part: Message.UserContent[number]) => ({ messages: [Message.user([part])] })

const takenBy = Effect.fnUntraced(function* (layer: ModelLayer) {
  const { response_format } = yield* sentOf(layer, { output })
  return {
    choices: yield* among(
      layer,
      choices,
      (toolChoice) => ({ tools: [tool], toolChoice }),
      ({ tool_choice, tools }) => tools !== undefined && tool_choice !== undefined
    ),
    images: yield* among(layer, ways, (given) => attached(Message.image("image/png", given))),
    files: yield* among(layer, ways, (given) => attached(Message.file("application/pdf", given))),
    audio: yield* among(
      layer,
      formats.map((format) => [format, format]),
      (format) => attached(Message.file(`audio/${format}`, { data: addresses.data }))
    ),
    output: response_format?.type
  }
})

const all = ["none", "required", "named"]
const services: Readonly<Record<string, readonly [ModelLayer, object]>> = {
  deepSeek: [DeepSeek.layer(chosen), { choices: all, images: [], files: [], audio: [], output: "json_object" }],
  kimi: [Kimi.layer(chosen), { choices: all, images: ["data", "id"], files: [], audio: [], output: "json_object" }],
  openRouter: [
    OpenRouter.layer(chosen),
    {
      choices: all,
      images: ["data", "url"],
      files: ["data", "url"],
      audio: formats.filter((format) => format !== "midi"),
      output: "json_schema"
    }
  ],
  perplexity: [
    Perplexity.layer(chosen),
    { choices: all, images: ["data", "url"], files: [], audio: [], output: "json_schema" }
  ],
  "perplexity's chat": [
    Perplexity.layer({ ...chosen, api: "chat" }),
    { choices: [], images: ["data", "url"], files: ["data", "url"], audio: [], output: "json_schema" }
  ],
  openAi: [
    OpenAi.layer(chosen),
    { choices: all, images: ["data", "url"], files: ["data", "id"], audio: ["wav", "mp3"], output: "json_schema" }
  ],
  "openAi at Mistral": [
    OpenAi.layer({ ...chosen, baseUrl: "https://mistral.ai/v1" }),
    {
      choices: all,
      images: ["data", "url"],
      files: ["data", "url", "id"],
      audio: ["wav", "mp3"],
      output: "json_schema"
    }
  ],
  "openAi at another host": [
    OpenAi.layer({ ...chosen, baseUrl: "https://notmistral.ai/v1" }),
    { choices: all, images: ["data", "url"], files: ["data", "id"], audio: ["wav", "mp3"], output: "json_schema" }
  ]
}

describe("what a service takes", () => {
  for (const [name, [layer, expected]] of Object.entries(services)) {
    it.effect(`is sent, and nothing else: ${name} [A814]`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual<unknown>(yield* takenBy(layer), expected)
      })
    )
  }
})

it("each format and each service says of itself how it takes failed calls, thoughts and the beginning of a prompt", () => {
  const of = ({ promptCache, reasoning, toolErrors }: typeof Kimi.capabilities) => [toolErrors, reasoning, promptCache]
  assert.deepStrictEqual(
    {
      anthropic: of(AnthropicMessages.capabilities),
      bedrock: of(BedrockConverse.capabilities),
      gemini: of(GeminiContent.capabilities),
      ollama: of(OllamaChat.capabilities),
      openAiChat: of(OpenAiChat.capabilities),
      openAiResponses: of(OpenAiResponses.capabilities),
      deepSeek: of(DeepSeek.capabilities),
      kimi: of(Kimi.capabilities),
      openRouter: of(OpenRouter.capabilities),
      perplexity: of(Perplexity.capabilities),
      perplexityChat: of(Perplexity.chatCapabilities)
    },
    {
      anthropic: ["flag", "demanded", "breakpoints"],
      bedrock: ["flag", "demanded", "breakpoints"],
      gemini: ["field", "demanded", "automatic"],
      ollama: ["text", "shown", "automatic"],
      openAiChat: ["text", "none", "key"],
      openAiResponses: ["text", "demanded", "key"],
      deepSeek: ["text", "demanded", "automatic"],
      kimi: ["text", "demanded", "key"],
      openRouter: ["text", "demanded", "automatic"],
      perplexity: ["text", "none", "none"],
      perplexityChat: ["text", "shown", "none"]
    }
  )
})
