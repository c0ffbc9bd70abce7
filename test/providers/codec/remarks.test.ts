/** What providers say about a text: its sources, and how likely its tokens were. It is kept, whole and streamed, and never sent back. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result, type Schema } from "effect"
import { answerOf, ok, streamed, whole } from "../../_support/codec.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const item = (kind: string, data: Schema.Json): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider: "p", data }
})

const itemsOf = ({ content }: Message.Reply) => content.filter(({ type }) => type === "provider-item")

/** The next request after a reply. */
const sentBack = (codec: Provider.Codec, reply: Message.Reply): string =>
  codec.encode(
    { messages: [Message.user("hi"), Message.settle(reply, []), Message.user("and?")], tools: [], toolChoice: "auto" },
    "whole"
  )

const citation = (at: number) => ({
  type: "url_citation",
  url_citation: { url: `https://a.test/${at}`, start_index: at }
})

const token = (token: string) => ({ token, logprob: -0.1, bytes: [1], top_logprobs: [{ token, logprob: -0.1 }] })

describe("a chat completion", () => {
  const codec = OpenAiChat.make(source)
  const piece = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
  const ending = piece({}, { finish_reason: "stop" })

  it("keeps annotations and log probabilities, whole and streamed, and sends neither back [P1407]", () => {
    const annotations = [citation(0), citation(1)]
    const logprobs = { content: ["s", "o"].map(token), refusal: null }
    const message = { content: "so", annotations }
    const reply = ok(whole(codec, { choices: [{ index: 0, message, logprobs, finish_reason: "stop" }] }))
    assert.deepStrictEqual(reply.content, [
      Message.text("so"),
      item("annotations", annotations),
      item("logprobs", { content: ["s", "o"].map(token) })
    ])
    const events = [
      piece({ content: "" }, { logprobs: null }),
      piece({ content: "s" }, { logprobs: { content: [token("s")], refusal: null } }),
      piece({ content: "o", annotations: [citation(0)] }, { logprobs: { content: [token("o")] } }),
      // some servers repeat them
      piece({ annotations }),
      ending,
      "[DONE]"
    ]
    assert.deepStrictEqual(ok(streamed(codec, events)), Model.collected(reply))
    assert.notMatch(sentBack(codec, reply), /annotations|logprob|a\.test/)
  })

  it("keeps them with calls, and where the message comes instead of pieces [P1407]", () => {
    const call = { index: 0, id: "c1", function: { name: "f", arguments: "{}" } }
    const calling = [
      piece({ tool_calls: [call] }, { logprobs: { content: [token("f")] } }),
      piece({}, { finish_reason: "tool_calls" })
    ]
    assert.deepStrictEqual(itemsOf(ok(streamed(codec, calling))), [item("logprobs", { content: [token("f")] })])
    const message = { content: "so", annotations: [citation(0)] }
    const instead = [{ choices: [{ index: 0, message, finish_reason: "stop" }] }]
    assert.deepStrictEqual(itemsOf(ok(streamed(codec, instead))), [item("annotations", [citation(0)])])
    const once = [piece({ content: "so", annotations: [citation(1)] }), ending]
    assert.deepStrictEqual(itemsOf(ok(streamed(codec, once))), [item("annotations", [citation(1)])])
  })

  it("has none of them without a text and a call: it stays an empty reply [P1407]", () => {
    const logprobs = { content: [token("hm")] }
    const message = { content: null, reasoning_content: "hm", annotations: [citation(0)] }
    const reply = ok(whole(codec, { choices: [{ index: 0, message, logprobs, finish_reason: "stop" }] }))
    assert.deepStrictEqual(itemsOf(reply), [])
    assert.deepStrictEqual(
      itemsOf(
        ok(streamed(codec, [piece({ reasoning_content: "hm", annotations: [citation(0)] }, { logprobs }), ending]))
      ),
      []
    )
  })

  it("keeps the addresses that a server cites beside the choices [P1407]", () => {
    const citations = ["https://a.test/0"]
    const body = { citations, choices: [{ index: 0, message: { content: "so" }, finish_reason: "stop" }] }
    assert.deepStrictEqual(itemsOf(ok(whole(codec, body))), [item("sources", { citations })])
    const events = [piece({ content: "so" }), { ...ending, citations }, "[DONE]"]
    assert.deepStrictEqual(itemsOf(ok(streamed(codec, events))), [item("sources", { citations })])
  })

  it("ignores what is no list of either [P1407]", () => {
    const message = { content: "so", annotations: { url: "x" } }
    for (const logprobs of [[], "no", { content: "no" }, { content: [] }, 1]) {
      const body = { choices: [{ index: 0, message, logprobs, finish_reason: "stop" }] }
      assert.deepStrictEqual(ok(whole(codec, body)).content, [Message.text("so")])
    }
  })
})

describe("a response", () => {
  const codec = OpenAiResponses.make(source)
  const url = { type: "url_citation", url: "https://a.test", start_index: 0 }
  const message = (part: object) => ({
    type: "message",
    id: "msg_1",
    status: "completed",
    content: [{ type: "output_text", text: "so", annotations: [url], ...part }]
  })

  it("keeps the log probabilities of a text beside its annotations, and sends only these back [P1407]", () => {
    const logprobs = ["s", "o"].map(token)
    const output = [message({ logprobs })]
    const reply = ok(whole(codec, { status: "completed", output }))
    const kept = item("message", { id: "msg_1", status: "completed", annotations: [url], logprobs })
    assert.deepStrictEqual(reply.content, [Message.text("so"), kept])
    const at = { output_index: 0, item_id: "msg_1", content_index: 0 }
    const pieces = ["s", "o"].map((delta) => ({
      type: "response.output_text.delta",
      ...at,
      delta,
      logprobs: [token(delta)]
    }))
    // some servers do not repeat them in the whole item
    for (const part of [{ logprobs }, { logprobs: [] }, {}]) {
      const done = { type: "response.output_item.done", ...at, item: message(part) }
      const ended = { type: "response.completed", response: { status: "completed", output: [message(part)] } }
      assert.deepStrictEqual(ok(streamed(codec, [...pieces, done, ended])).content, reply.content)
    }
    const text = sentBack(codec, reply)
    assert.include(text, "https://a.test")
    assert.notInclude(text, "logprob")
  })
})

it("Gemini's log probabilities are those of all chunks, beside its citations, and are not sent back [P1407]", () => {
  const codec = GeminiContent.make(source)
  const citationMetadata = { citationSources: [{ uri: "https://a.test", startIndex: 0 }] }
  const result = (...tokens: ReadonlyArray<string>) => ({
    chosenCandidates: tokens.map((token) => ({ token, logProbability: -0.1 })),
    topCandidates: tokens.map((token) => ({ candidates: [{ token, logProbability: -0.1 }] }))
  })
  const candidate = (text: string, ...tokens: ReadonlyArray<string>) => ({
    content: { parts: [{ text }] },
    logprobsResult: result(...tokens)
  })
  const ending = { finishReason: "STOP", citationMetadata }
  const reply = ok(whole(codec, { candidates: [{ ...candidate("so", "s", "o"), ...ending }] }))
  assert.deepStrictEqual(itemsOf(reply), [
    item("logprobsResult", result("s", "o")),
    item("citationMetadata", citationMetadata)
  ])
  const events = [{ candidates: [candidate("s", "s")] }, { candidates: [{ ...candidate("o", "o"), ...ending }] }]
  assert.deepStrictEqual(ok(streamed(codec, events)).content, reply.content)
  assert.notMatch(sentBack(codec, reply), /logprobsResult|a\.test/)
})

it("Ollama's log probabilities are those of all lines, and are not sent back [P1407]", () => {
  const codec = OllamaChat.make(source)
  const line = (content: string, done: boolean) => ({ message: { content }, logprobs: [token(content)], done })
  const logprobs = ["s", "o"].map(token)
  const reply = ok(whole(codec, { message: { content: "so" }, logprobs, done: true }))
  assert.deepStrictEqual(reply.content, [Message.text("so"), item("logprobs", { logprobs })])
  assert.deepStrictEqual(ok(streamed(codec, [line("s", false), line("o", true)])).content, reply.content)
  assert.notInclude(sentBack(codec, reply), "logprob")
  const silent = ok(whole(codec, { message: { thinking: "hm" }, logprobs, done: true }))
  assert.deepStrictEqual(itemsOf(silent), [])
})

describe("what a stream holds back", () => {
  it("counts an annotation that a server repeats once [P1401 P1407]", () => {
    const decoder = OpenAiChat.make(source).decoder(answerOf(""), { messages: [], tools: [], toolChoice: "auto" })
    const heldAfter = (...annotations: ReadonlyArray<object>) => {
      Result.getOrThrow(decoder.push(JSON.stringify({ choices: [{ index: 0, delta: { annotations } }] })))
      return decoder.held?.() ?? 0
    }
    const one = heldAfter(citation(0))
    assert.isAbove(one, 40)
    assert.strictEqual(heldAfter(citation(0)), one)
    assert.strictEqual(heldAfter(citation(0), citation(1)), 2 * one)
  })

  const line = { message: { content: "s" }, logprobs: [token("s")] }
  const candidate = { content: { parts: [{ text: "s" }] }, logprobsResult: { chosenCandidates: [token("s")] } }
  const piece = { index: 0, delta: { content: "s", annotations: [citation(0)] }, logprobs: { content: [token("s")] } }
  const at = { output_index: 0, item_id: "msg_1" }
  const ending = { type: "response.completed", response: { status: "completed", output: [] } }
  const streams: ReadonlyArray<readonly [string, Provider.Codec, object, object | string]> = [
    ["chat completions", OpenAiChat.make(source), { choices: [piece] }, "[DONE]"],
    [
      "responses",
      OpenAiResponses.make(source),
      { type: "response.output_text.delta", ...at, delta: "s", logprobs: [token("s")] },
      ending
    ],
    ["Gemini", GeminiContent.make(source), { candidates: [candidate] }, { candidates: [{ finishReason: "STOP" }] }],
    ["Ollama", OllamaChat.make(source), line, { ...line, done: true }]
  ]

  for (const [name, codec, event, last] of streams) {
    it(`counts for the limit of a reply until it is given: ${name} [P1401 P1407]`, () => {
      const decoder = codec.decoder(answerOf(""), { messages: [], tools: [], toolChoice: "auto" })
      const push = (event: object | string) =>
        Result.getOrThrow(decoder.push(typeof event === "string" ? event : JSON.stringify(event)))
      push(event)
      const held = decoder.held?.() ?? 0
      assert.isAbove(held, 40)
      push(event)
      assert.isAbove(decoder.held?.() ?? 0, held)
      push(last)
      if (decoder.state() !== "done") Result.getOrThrow(decoder.end())
      assert.strictEqual(decoder.held?.(), 0)
    })
  }
})
