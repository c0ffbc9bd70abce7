/** What replies say about themselves: ids, names and words of their provider, the same whole and streamed. */
import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result } from "effect"
import type { Answer } from "../../../packages/providers/src/transport/Answer.ts"
import { answerOf, ok, take } from "../../_support/codec.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

type Facts = Omit<Message.Reply, "content" | "finish" | "usage">

interface Wire {
  readonly codec: Provider.Codec
  readonly headers: Answer["headers"]
  readonly whole: object
  readonly events: ReadonlyArray<object | string>
  readonly facts: Facts
}

const chatHead = { id: "chatcmpl-1", model: "gpt-x-2026" }
const chatPiece = (delta: object, more: object = {}) => ({ ...chatHead, choices: [{ index: 0, delta, ...more }] })

const chat: Wire = {
  codec: OpenAiChat.make(source),
  headers: { "x-request-id": "req_1" },
  whole: {
    ...chatHead,
    service_tier: "flex",
    choices: [{ index: 0, message: { content: "so" }, finish_reason: "length" }]
  },
  events: [
    chatPiece({ role: "assistant", content: "" }),
    chatPiece({ content: "s" }),
    chatPiece({ content: "o" }),
    { ...chatPiece({}, { finish_reason: "length" }), service_tier: "flex" },
    "[DONE]"
  ],
  facts: {
    model: "gpt-x-2026",
    responseId: "chatcmpl-1",
    requestId: "req_1",
    rawFinish: "length",
    serviceTier: "flex"
  }
}

const routed: Wire = {
  ...chat,
  whole: {
    ...chatHead,
    choices: [{ index: 0, message: { content: "so" }, finish_reason: "stop", native_finish_reason: "end_turn" }]
  },
  events: [
    chatPiece({ content: "so" }),
    chatPiece({}, { finish_reason: "stop", native_finish_reason: "end_turn" }),
    "[DONE]"
  ],
  facts: { model: "gpt-x-2026", responseId: "chatcmpl-1", requestId: "req_1", rawFinish: "end_turn" }
}

const response = {
  id: "resp_1",
  model: "gpt-x-2026",
  status: "incomplete",
  incomplete_details: { reason: "max_output_tokens" },
  service_tier: "priority",
  output: [{ type: "message", id: "msg_1", content: [{ type: "output_text", text: "so", annotations: [] }] }]
}

const anthropicMessage = {
  id: "msg_1",
  type: "message",
  model: "claude-x-1",
  stop_reason: "stop_sequence",
  content: [{ type: "text", text: "so" }],
  usage: { input_tokens: 1, output_tokens: 2, service_tier: "standard" }
}

const candidate = { content: { parts: [{ text: "so" }] }, finishReason: "RECITATION_LIKE" }
const ollamaLine = { model: "llama3", message: { role: "assistant", content: "so" } }

const wires: Readonly<Record<string, Wire>> = {
  "chat completions": chat,
  "chat completions of a router": routed,
  responses: {
    codec: OpenAiResponses.make(source),
    headers: { "x-request-id": "req_1" },
    whole: response,
    events: [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, delta: "so" },
      { type: "response.incomplete", response }
    ],
    facts: {
      model: "gpt-x-2026",
      responseId: "resp_1",
      requestId: "req_1",
      rawFinish: "max_output_tokens",
      serviceTier: "priority"
    }
  },
  messages: {
    codec: AnthropicMessages.make(source),
    headers: { "request-id": "req_1" },
    whole: anthropicMessage,
    events: [
      { type: "message_start", message: { ...anthropicMessage, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "so" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "stop_sequence" }, usage: { output_tokens: 2 } },
      { type: "message_stop" }
    ],
    facts: {
      model: "claude-x-1",
      responseId: "msg_1",
      requestId: "req_1",
      rawFinish: "stop_sequence",
      serviceTier: "standard"
    }
  },
  generateContent: {
    codec: GeminiContent.make(source),
    headers: { "x-gemini-service-tier": "priority" },
    whole: { candidates: [candidate], modelVersion: "gemini-x-1", responseId: "r1" },
    events: [
      { candidates: [{ content: { parts: [{ text: "s" }] } }], modelVersion: "gemini-x-1", responseId: "r1" },
      {
        candidates: [{ ...candidate, content: { parts: [{ text: "o" }] } }],
        modelVersion: "gemini-x-1",
        responseId: "r1"
      }
    ],
    facts: {
      model: "gemini-x-1",
      responseId: "r1",
      rawFinish: "RECITATION_LIKE",
      serviceTier: "priority"
    }
  },
  ollama: {
    codec: OllamaChat.make(source),
    headers: { "x-request-id": "of a proxy" },
    whole: { ...ollamaLine, done: true, done_reason: "load" },
    events: [
      { ...ollamaLine, done: false },
      { model: "llama3", message: { content: "" }, done: true, done_reason: "load" }
    ],
    facts: { model: "llama3", requestId: "of a proxy", rawFinish: "load" }
  }
}

const factsOf = ({ content: _content, finish: _finish, usage: _usage, ...facts }: Message.Reply): Facts => facts

const readWhole = ({ codec, headers, whole }: Wire) => codec.decode({ ...answerOf(JSON.stringify(whole)), headers })

const readStreamed = ({ codec, events, headers }: Wire): Message.Reply => {
  const decoder = codec.decoder({ ...answerOf(""), headers })
  const collector = new Model.Collector()
  for (const event of events) {
    take(collector, Result.getOrThrow(decoder.push(typeof event === "string" ? event : JSON.stringify(event))))
  }
  if (decoder.state() !== "done") take(collector, Result.getOrThrow(decoder.end()))
  const reply = collector.reply()
  assert(reply !== undefined)
  return reply
}

describe("a reply", () => {
  for (const [name, wire] of Object.entries(wires)) {
    it(`has its ids, its model, its tier and the word of its finish, whole and streamed: ${name} [P1407]`, () => {
      const whole = ok(readWhole(wire))
      assert.deepStrictEqual(factsOf(whole), wire.facts)
      assert.deepStrictEqual(readStreamed(wire), whole)
    })
  }

  it("has none of them where the server names none, or sends something else than a text [P1407]", () => {
    const bare = { ...chat, headers: { "x-request-id": "" } }
    const whole = {
      id: 1,
      model: "",
      service_tier: null,
      choices: [{ message: { content: "so" }, finish_reason: null }]
    }
    assert.deepStrictEqual(factsOf(ok(readWhole({ ...bare, whole }))), {})
  })

  it("quotes the id of a request as errors do: short, and without a secret [P1407]", () => {
    const headers = { "x-request-id": ` Bearer ${"sk-ant-api03-"}${"a".repeat(93)}AA ${"x".repeat(2000)}` }
    const { requestId = "" } = ok(readWhole({ ...chat, headers }))
    assert.isAtMost(requestId.length, 1001)
    assert.notInclude(requestId, "sk-ant")
  })
})
