/** Ollama's chat API, from the server's side: what it reads of a request, and what it writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const sent = (body: object) => received("/ollama/api/chat", body)

const hello = { role: "user", content: "hello" }

describe("a request", () => {
  it.effect("is read with its texts, images, thoughts, calls, results and tools", () =>
    Effect.gen(function* () {
      const called = (name: string, id?: string) => ({
        ...(id === undefined ? {} : { id }),
        function: { name, arguments: { n: 1 } }
      })
      const { asked } = yield* served(
        sent({
          model: "m",
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "see", images: ["AQID"] },
            { role: "assistant", thinking: "hm", content: "I look", tool_calls: [called("f"), called("g", "x1")] },
            { role: "tool", content: "one" },
            { role: "tool", content: "two" },
            { role: "tool", content: "lost" },
            { role: "assistant", tool_calls: [called("f")] },
            { role: "tool", tool_call_id: "x9", content: "nine" },
            { role: "tool" },
            { role: "assistant", content: "", thinking: "" },
            { role: "user", images: null }
          ],
          tools: [
            { type: "function", function: { name: "f", description: "F.", parameters: { type: "object" } } },
            { function: { name: "g" } },
            { type: "other" }
          ]
        })
      )
      const call = (id: string, name: string) => ({ type: "tool-call", id, name, arguments: { n: 1 } })
      const result = (callId: string, text: string) => ({ role: "tool", callId, text })
      assert.deepStrictEqual<unknown>(asked, {
        format: "ollama-chat",
        model: "m",
        messages: [
          Message.system("Be brief."),
          Message.user([Message.text("see"), Message.image("image/*", { data: "AQID" })]),
          {
            role: "assistant",
            content: [{ type: "reasoning", text: "hm" }, Message.text("I look"), call("call_1", "f"), call("x1", "g")]
          },
          result("call_1", "one"),
          result("x1", "two"),
          result("", "lost"),
          { role: "assistant", content: [call("call_2", "f")] },
          result("x9", "nine"),
          result("call_2", ""),
          { role: "assistant", content: [] },
          Message.user([Message.text("")])
        ],
        tools: [
          { name: "f", description: "F.", parameters: { type: "object" } },
          { name: "g", description: "", parameters: {} }
        ],
        toolChoice: "auto",
        isStreamed: true
      })
    })
  )

  it.effect("needs a model, and may have nothing else", () =>
    Effect.gen(function* () {
      const { asked } = yield* served(sent({ model: "m", stream: false, tools: null }))
      const facts = { format: "ollama-chat", model: "m", tools: [], toolChoice: "auto", isStreamed: false }
      assert.deepStrictEqual<unknown>(asked, { ...facts, messages: [] })
      const lost = yield* served(sent({ model: "m", messages: [{ role: "tool" }] }))
      assert.deepStrictEqual<unknown>(lost.asked?.messages, [{ role: "tool", callId: "", text: "" }])
      for (const body of [{}, { model: "" }]) {
        const { answer, asked } = yield* served(sent(body))
        assert.isUndefined(asked)
        assert.strictEqual(textOf(answer), '{"error":"model is required"}')
      }
      for (const message of [{ content: "x" }, { role: "user", content: 5 }, { role: "assistant", tool_calls: [{}] }]) {
        assert.isUndefined((yield* served(sent({ model: "m", messages: [message] }))).asked)
      }
    })
  )
})

const usage = Usage.make({ inputTokens: 30, outputTokens: 9 })
const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "Let me see" },
    Message.text("so it is"),
    { type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } },
    { type: "tool-call", id: "c2", name: "g", arguments: null }
  ],
  usage
}
const head = { model: "m", created_at: "2026-01-05T10:00:01.234Z" }
const counted = (prompt_eval_count: number, eval_count: number) => ({
  total_duration: 3_000_000,
  load_duration: 1_000_000,
  prompt_eval_count,
  prompt_eval_duration: 1_000_000,
  eval_count,
  eval_duration: 1_000_000
})
const calls = [
  { id: "c1", function: { index: 0, name: "f", arguments: { a: 1 } } },
  { id: "c2", function: { index: 1, name: "g", arguments: {} } }
]

describe("a reply", () => {
  it.effect("is written whole", () =>
    Effect.gen(function* () {
      const whole = (reply: Wire.BrainReply) =>
        Effect.map(served(sent({ model: "m", stream: false, messages: [hello] }), reply), ({ answer }) => {
          assert.deepStrictEqual(answer.headers, { "content-type": "application/json; charset=utf-8" })
          return JSON.parse(textOf(answer))
        })
      assert.deepStrictEqual(yield* whole(reply), {
        ...head,
        message: { role: "assistant", content: "so it is", thinking: "Let me see", tool_calls: calls },
        done: true,
        done_reason: "stop",
        ...counted(30, 9)
      })
      assert.deepStrictEqual(yield* whole({ content: [Message.text("cut")], finish: "length" }), {
        ...head,
        message: { role: "assistant", content: "cut" },
        done: true,
        done_reason: "length",
        ...counted(0, 0)
      })
    })
  )

  it.effect("is written in pieces, a line each", () =>
    Effect.gen(function* () {
      const { answer } = yield* served(sent({ model: "m", messages: [hello] }), reply)
      assert.deepStrictEqual([answer.headers, answer.split], [{ "content-type": "application/x-ndjson" }, "line"])
      const lines = textOf(answer).split("\n")
      assert.strictEqual(lines.pop(), "")
      const said = [
        { content: "", thinking: "Let me" },
        { content: "", thinking: " see" },
        { content: "so it " },
        { content: "is" },
        ...calls.map((call) => ({ content: "", tool_calls: [call] }))
      ]
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line)),
        [
          ...said.map((fields) => ({ ...head, message: { role: "assistant", ...fields }, done: false })),
          {
            ...head,
            message: { role: "assistant", content: "" },
            done: true,
            done_reason: "stop",
            ...counted(30, 9)
          }
        ]
      )
    })
  )
})

describe("a failure", () => {
  const failures: ReadonlyArray<readonly [Wire.Failure, number, string, object?]> = [
    [{ type: "invalid-request", message: "bad" }, 400, "bad"],
    [{ type: "unauthorized", isKeyGiven: false }, 401, "unauthorized"],
    [{ type: "unknown-model", model: "x" }, 404, "model 'x' not found"],
    [{ type: "rate-limited", retryAfter: "1500 millis" }, 429, "too many requests", { "retry-after": "2" }],
    [{ type: "quota-exhausted" }, 402, "you've reached your usage limit, upgrade for higher limits"],
    [{ type: "overloaded" }, 503, "server busy, please try again.  maximum pending requests exceeded"],
    [{ type: "server-error" }, 500, "llama runner process has terminated: exit status 2"]
  ]

  it.effect("has its status and its words, and is the last line of a stream", () =>
    Effect.gen(function* () {
      const asked = sent({ model: "m", messages: [hello] })
      const stream = { headers: { "content-type": "application/x-ndjson" }, body: "a\nb\n" }
      for (const [failure, status, error, headers = {}] of failures) {
        const answer = yield* AnyWire.failing(failure)(Effect.die(new Error("no brain is asked")), asked)
        assert.strictEqual(answer.status, status)
        assert.deepStrictEqual(answer.headers, { "content-type": "application/json; charset=utf-8", ...headers })
        assert.deepStrictEqual(JSON.parse(textOf(answer)), { error })
        const broken = yield* AnyWire.breakingOff(failure, 1)(Effect.succeed(stream), asked)
        assert.strictEqual(textOf(broken), `a\n${JSON.stringify({ error })}\n`)
      }
    })
  )
})
