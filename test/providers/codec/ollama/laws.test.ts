/** Laws of Ollama's format, on anything that a server may send. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import type * as Provider from "@kintsugi/providers/Provider"
import { Schema } from "effect"
import * as fc from "fast-check"
import { anyText, isTotal, nearMiss, ok, streamed, whole } from "../../../_support/codec.ts"
import { fixtures, pieces } from "../../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "ollama", model: "llama3", secrets: [] }
const codec = OllamaChat.make(source, { numCtx: 100 })
const isReply = Schema.is(Message.Reply)

const names = [
  "model",
  "created_at",
  "message",
  "role",
  "content",
  "thinking",
  "tool_calls",
  "function",
  "index",
  "id",
  "name",
  "arguments",
  "done",
  "done_reason",
  "prompt_eval_count",
  "eval_count",
  "error"
]

const json = nearMiss(names, ["stop", "length", "load", "2025-06-09T17:58:55Z"])

/** Lines whose outline is right, and whose members are anything. */
const anyLine = fc.oneof(
  json,
  fc
    .record({ content: json, thinking: json, calls: fc.array(json, { maxLength: 3 }), done: fc.boolean(), count: json })
    .map(({ calls, content, count, done, thinking }) => ({
      message: { content, thinking, tool_calls: calls },
      done,
      prompt_eval_count: count
    }))
)

const recorded = fixtures.filter(({ api, status }) => api === "ollama" && status === 200).flatMap(pieces)

const anyEvent = fc.oneof(
  anyText(anyLine),
  fc.constantFrom(...recorded),
  fc.tuple(fc.constantFrom(...recorded), fc.nat(200)).map(([line, length]) => line.slice(0, length))
)

// Finds out nothing of its own: what fails on a value of a wrong type is new code, and no small mistake in this code
it("any body and any lines, recorded ones out of order too, are a reply, one typed error or a stream that was cut off [T8]", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 6 }), (lines) => {
      isTotal(streamed(codec, lines), isReply)
      for (const body of lines) isTotal(whole(codec, body), isReply)
    })
  )
})

/** A reply as Ollama writes it: thoughts, text, calls. */
const anyMessage = fc.record({
  thinking: fc.string({ maxLength: 12 }),
  content: fc.string({ maxLength: 12 }),
  calls: fc.array(
    fc.record({ id: fc.option(fc.uuid(), { nil: undefined }), args: fc.dictionary(fc.string(), fc.integer()) }),
    { maxLength: 3 }
  )
})

describe("there and back", () => {
  it("a reply is the same whole and in lines, and goes back as it came [A114 P1002]", () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(12), ({ calls, content, thinking }, cut) => {
        const tool_calls = calls.map(({ args, id }) => ({
          ...(id === undefined ? {} : { id }),
          function: { name: "f", arguments: args }
        }))
        const end = { done: true, done_reason: "stop", created_at: "2025" }
        const created_at = "2025"
        const reply = Model.collected(ok(whole(codec, { message: { thinking, content, tool_calls }, ...end })))
        const lines = [
          { message: { thinking: thinking.slice(0, cut) }, created_at },
          { message: { thinking: thinking.slice(cut), content: content.slice(0, cut) }, created_at },
          ...tool_calls.map((call) => ({ message: { content: "", tool_calls: [call] }, created_at })),
          { message: { content: content.slice(cut) }, ...end }
        ]
        assert.deepStrictEqual(ok(streamed(codec, lines)), reply)

        const messages = [Message.settle(reply, [])]
        const [sent = { content: "" }] = JSON.parse(
          codec.encode({ messages, tools: [], toolChoice: "auto" }, "whole")
        ).messages
        assert.strictEqual(sent.content, content)
        assert.strictEqual(sent.thinking ?? "", thinking)
        assert.deepStrictEqual(
          (sent.tool_calls ?? []).map((call: { function: object }) => call.function),
          tool_calls.map((call) => call.function)
        )
      })
    )
  })
})
