/** What replies say about themselves, and how files arrive, over real connections in every format. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Layer, Redacted, Stream } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"

const options = { apiKey: Redacted.make("k"), model: "m", transport: { retry: false } } as const

const clients: Readonly<
  Record<Wire.ClientFormat, (url: string) => Layer.Layer<Model.Model, never, Transport.HttpClient>>
> = {
  "anthropic-messages": (baseUrl) => Anthropic.layer({ ...options, baseUrl }),
  "openai-chat": (url) => OpenAi.layer({ ...options, baseUrl: `${url}/v1` }),
  "openai-responses": (url) => OpenAi.layerResponses({ ...options, baseUrl: `${url}/v1` }),
  "gemini-content": (url) => Gemini.layer({ ...options, baseUrl: `${url}/v1beta` }),
  "ollama-chat": (baseUrl) => Ollama.layer({ ...options, baseUrl })
}

/** Asks whole and then streamed; also what the server has read. */
const asked = Effect.fnUntraced(function* (format: Wire.ClientFormat, content: Message.UserContent) {
  const read: Array<Message.Foreign | undefined> = []
  const server = yield* LoopbackServer.make(
    AnyWire.handler(({ messages }) => {
      read.push(messages.findLast(({ role }) => role === "user"))
      return Effect.succeed({ content: [Message.text("so")] })
    })
  )
  const request: Model.Request = { messages: [Message.user(content)], tools: [], toolChoice: "auto" }
  const replies = yield* Effect.gen(function* () {
    const model = yield* Model.Model
    const whole = yield* model.generate(request)
    const collector = new Model.Collector()
    yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
    return [whole, collector.reply()]
  }).pipe(Effect.provide(Layer.provide(clients[format](server.url), Transport.layerFetch)))
  return { read, replies }
})

type Fact = "model" | "responseId" | "requestId" | "rawFinish"

/** What each server says; it numbers its replies from 1. */
const facts: Readonly<Record<Wire.ClientFormat, Readonly<Partial<Record<Fact, RegExp>>>>> = {
  "anthropic-messages": { model: /^m$/, responseId: /^msg_/, requestId: /^req_/, rawFinish: /^end_turn$/ },
  "openai-chat": { model: /^m$/, responseId: /^chatcmpl-/, rawFinish: /^stop$/ },
  "openai-responses": { model: /^m$/, responseId: /^resp_/, requestId: /^req_/, rawFinish: /^completed$/ },
  "gemini-content": { model: /^m$/, responseId: /^response_/, rawFinish: /^STOP$/ },
  "ollama-chat": { model: /^m$/, rawFinish: /^stop$/ }
}

describe("over a real connection", () => {
  for (const { format } of AnyWire.wires) {
    it.live(`a reply has what its server says about it, whole and streamed: ${format} [P1407]`, () =>
      Effect.gen(function* () {
        const { replies } = yield* asked(format, [Message.text("hi")])
        for (const reply of replies) {
          for (const name of ["model", "responseId", "requestId", "rawFinish"] as const) {
            const expected = facts[format][name]
            if (expected === undefined) assert.isUndefined(reply?.[name], name)
            else assert.match(reply?.[name] ?? "", expected)
          }
        }
        const [whole, streamed] = replies
        if (whole?.responseId !== undefined) assert.notStrictEqual(streamed?.responseId, whole.responseId)
      })
    )
  }

  const bytes = { data: "AQID" }
  const cases: ReadonlyArray<readonly [Wire.ClientFormat, Message.UserContent]> = [
    ["openai-chat", [Message.file("audio/wav", bytes), Message.file("application/pdf", { url: "file-abc123" })]],
    ["openai-responses", [Message.image("image/*", { url: "file-abc123" }), Message.image("image/png", bytes)]],
    ["anthropic-messages", [Message.image("image/*", { url: "file_1" }), Message.file("application/pdf", bytes)]],
    [
      "gemini-content",
      [Message.file("audio/mpeg", bytes), Message.image("image/png", { url: "https://a.test/files/1" })]
    ],
    ["ollama-chat", [Message.image("image/png", bytes)]]
  ]

  for (const [format, content] of cases) {
    it.live(`a server reads the files that were sent, whole and streamed: ${format} [P1408]`, () =>
      Effect.gen(function* () {
        const { read } = yield* asked(format, [Message.text("see"), ...content])
        assert.lengthOf(read, 2)
        for (const message of read) {
          const parts = message?.role === "user" ? message.content : []
          const gist = (parts: Message.UserContent) =>
            parts.map((part) => [part.type, "data" in part ? part.data : "url" in part ? part.url : part.text])
          assert.deepStrictEqual(gist(parts), gist([Message.text("see"), ...content]))
        }
      })
    )
  }
})
