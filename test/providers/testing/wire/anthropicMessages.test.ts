/** Anthropic's Messages API, from the server's side: what it reads of a request, and what it writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { signatureOf } from "../../../../packages/providers/src/testing/wire/parts.ts"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" }
const sent = (body: object, path = "/v1/messages") => received(path, { model: "m", max_tokens: 9, ...body }, headers)

const hello = { role: "user", content: "hello" }
const text = (words: string) => ({ type: "text", text: words })
const schema = { type: "object" }
const tools = [
  { name: "f", description: "F.", input_schema: schema },
  { name: "g", input_schema: schema }
]

describe("a request", () => {
  it.effect("is read with its texts, files, thoughts, calls, results and tools", () =>
    Effect.gen(function* () {
      const attached = (type: string, source: object, more: object = {}) => ({ type, source, ...more })
      const kinds = [
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "search_result"
      ]
      const call = (id: string, name: string) => ({ type: "tool_use", id, name, input: { n: 1 } })
      const messages = [
        {
          role: "user",
          content: [
            text("see"),
            attached("image", { type: "base64", media_type: "image/png", data: "AQID" }),
            attached("image", { type: "url", url: "https://a.test/a.png" }),
            attached("image", { type: "file", file_id: "file_1" }),
            attached("document", { type: "text", media_type: "text/plain", data: "words" }, { title: "a.txt" }),
            attached("document", { type: "file", file_id: "file_2" }),
            { type: "container_upload", file_id: "file_3" }
          ]
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: signatureOf("hm") },
            text("I look"),
            ...kinds.map((type) => ({ type })),
            call("t1", "f"),
            call("t2", "g")
          ]
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t2",
              content: [text("a"), { type: "image" }, text("b")],
              is_error: true
            },
            { type: "tool_result", tool_use_id: "t1", content: "x" },
            text("and?")
          ]
        },
        { role: "assistant", content: "done" }
      ]
      const web = { type: "web_search_20250305", name: "web_search" }
      const body = {
        messages,
        system: [text("Be brief."), text("In French.")],
        tools: [...tools, web],
        tool_choice: { type: "tool", name: "g" },
        stream: true
      }
      const { asked } = yield* served(sent(body))
      assert.deepStrictEqual<unknown>(asked, {
        format: "anthropic-messages",
        model: "m",
        messages: [
          Message.system("Be brief."),
          Message.system("In French."),
          Message.user([
            Message.text("see"),
            Message.image("image/png", { data: "AQID" }),
            Message.image("image/*", { url: "https://a.test/a.png" }),
            Message.image("image/*", { url: "file_1" }),
            Message.file("text/plain", { data: "words" }, "a.txt"),
            Message.file("application/pdf", { url: "file_2" }),
            Message.file("application/octet-stream", { url: "file_3" })
          ]),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm" },
              Message.text("I look"),
              ...kinds.map((kind) => ({ type: "provider-item", kind, opaque: { provider: "anthropic", data: null } })),
              { type: "tool-call", id: "t1", name: "f", arguments: { n: 1 } },
              { type: "tool-call", id: "t2", name: "g", arguments: { n: 1 } }
            ]
          },
          { role: "tool", callId: "t2", text: "ab", isError: true },
          { role: "tool", callId: "t1", text: "x", isError: false },
          Message.user([Message.text("and?")]),
          { role: "assistant", content: [Message.text("done")] }
        ],
        tools: [
          { name: "f", description: "F.", parameters: schema },
          { name: "g", description: "", parameters: schema }
        ],
        toolChoice: { tool: "g" },
        isStreamed: true
      })
    })
  )

  it.effect("may have one message alone, and any choice among its tools", () =>
    Effect.gen(function* () {
      const bare = yield* served(sent({ messages: [hello], system: "Be brief." }))
      assert.deepStrictEqual<unknown>(bare.asked, {
        format: "anthropic-messages",
        model: "m",
        messages: [Message.system("Be brief."), Message.user("hello")],
        tools: [],
        toolChoice: "auto",
        isStreamed: false
      })
      const plain = yield* served(sent({ messages: [hello] }))
      assert.deepStrictEqual(plain.asked?.messages, [Message.user("hello")])
      for (const [type, toolChoice] of [
        ["auto", "auto"],
        ["none", "none"],
        ["any", "required"]
      ] as const) {
        const { asked } = yield* served(sent({ messages: [hello], tools, tool_choice: { type } }))
        assert.strictEqual(asked?.toolChoice, toolChoice)
      }
      const elsewhere = yield* served(sent({ messages: [hello] }, "/proxy/v1/messages?beta=true"))
      assert.isDefined(elsewhere.asked)
    })
  )

  it.effect("is refused with the place of what is wrong", () =>
    Effect.gen(function* () {
      const calls = {
        role: "assistant",
        content: ["t1", "t2"].map((id) => ({ type: "tool_use", id, name: "f", input: {} }))
      }
      const stray = { role: "user", content: [text("so"), { type: "tool_result", tool_use_id: "", content: "x" }] }
      for (const [messages, message] of [
        [
          [hello, { role: "assistant", content: [text("a")] }, { role: "user", content: "" }],
          "messages.2: text content blocks must be non-empty"
        ],
        [
          [hello, calls],
          "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1, t2. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        ],
        [
          [hello, { role: "assistant", content: "a" }, stray],
          "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: . Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ]
      ] as const) {
        const { answer } = yield* served(sent({ messages }))
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(JSON.parse(textOf(answer)).error.message, message)
      }
    })
  )
})

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5, cacheWriteTokens: 3 })
const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "Let me see" },
    Message.text("so"),
    { type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } }
  ],
  usage
}
const input = { input_tokens: 22, cache_creation_input_tokens: 3, cache_read_input_tokens: 5 }
const head = { id: "msg_7", type: "message", role: "assistant", model: "m" }
const call = { type: "tool_use", id: "c1", name: "f", caller: { type: "direct" } }
const signature = signatureOf("Let me see")

describe("a reply", () => {
  it.effect("is one message", () =>
    Effect.gen(function* () {
      const { answer } = yield* served(sent({ messages: [hello] }), reply)
      assert.deepStrictEqual([answer.status, answer.headers?.["request-id"]], [undefined, "req_7"])
      assert.deepStrictEqual(JSON.parse(textOf(answer)), {
        ...head,
        content: [
          { type: "thinking", thinking: "Let me see", signature },
          { type: "text", text: "so" },
          { ...call, input: { a: 1 } }
        ],
        stop_reason: "tool_use",
        stop_sequence: null,
        usage: { ...input, output_tokens: 9 }
      })
    })
  )

  it.effect("is a stream of events with blanks behind them, and one ping", () =>
    Effect.gen(function* () {
      const { answer } = yield* served(sent({ messages: [hello], stream: true }), reply)
      assert.deepStrictEqual(answer.headers, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "request-id": "req_7"
      })
      const start = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block })
      const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta })
      const stop = (index: number) => ({ type: "content_block_stop", index })
      const json = (partial_json: string) => delta(2, { type: "input_json_delta", partial_json })
      const begun = { ...head, content: [], stop_reason: null, stop_sequence: null }
      const ended = { stop_reason: "tool_use", stop_sequence: null }
      const events: ReadonlyArray<readonly [{ readonly type: string }, blanks: number]> = [
        [Object.assign({ type: "message_start" }, { message: { ...begun, usage: { ...input, output_tokens: 1 } } }), 0],
        [start(0, { type: "thinking", thinking: "", signature: "" }), 5],
        [{ type: "ping" }, 0],
        [delta(0, { type: "thinking_delta", thinking: "Let me" }), 15],
        [delta(0, { type: "thinking_delta", thinking: " see" }), 4],
        [delta(0, { type: "signature_delta", signature }), 9],
        [stop(0), 14],
        [start(1, { type: "text", text: "" }), 3],
        [delta(1, { type: "text_delta", text: "so" }), 8],
        [stop(1), 13],
        [start(2, { ...call, input: {} }), 2],
        [json(""), 7],
        [json('{"a":1'), 12],
        [json("}"), 1],
        [stop(2), 6],
        [Object.assign({ type: "message_delta" }, { delta: ended, usage: { output_tokens: 9 } }), 11],
        [{ type: "message_stop" }, 0]
      ]
      const written = events.map(
        ([data, blanks]) => `event: ${data.type}\ndata: ${JSON.stringify(data)}${" ".repeat(blanks)}\n\n`
      )
      assert.strictEqual(textOf(answer), written.join(""))
    })
  )

  it.effect("has its end in the words of Anthropic, and a filter takes its content away", () =>
    Effect.gen(function* () {
      const reasons = {
        stop: "end_turn",
        "tool-calls": "tool_use",
        length: "max_tokens",
        filtered: "refusal",
        paused: "pause_turn",
        other: "other"
      }
      for (const [finish, stop_reason] of Object.entries(reasons)) {
        // the keys of an object are known as texts alone
        const ending = { ...reply, finish: finish as keyof typeof reasons }
        const { answer } = yield* served(sent({ messages: [hello] }), ending)
        const { content, stop_details, stop_reason: said } = JSON.parse(textOf(answer))
        const isFiltered = finish === "filtered"
        assert.deepStrictEqual([said, content.length], [stop_reason, isFiltered ? 0 : 3])
        const details = isFiltered ? { type: "refusal", category: null, explanation: null } : undefined
        assert.deepStrictEqual(stop_details, details)
      }
    })
  )
})

describe("a failure", () => {
  const resends = { "x-should-retry": "true" }
  const ends = { "x-should-retry": "false" }
  const failures: ReadonlyArray<readonly [Wire.Failure, number, string, string, Readonly<Record<string, string>>]> = [
    [{ type: "invalid-request", message: "no" }, 400, "invalid_request_error", "no", ends],
    [{ type: "unauthorized", isKeyGiven: true }, 401, "authentication_error", "invalid x-api-key", ends],
    [{ type: "unauthorized", isKeyGiven: false }, 401, "authentication_error", "x-api-key header is required", ends],
    [{ type: "unknown-model", model: "x" }, 404, "not_found_error", "model: x", ends],
    [
      { type: "rate-limited", retryAfter: "1500 millis" },
      429,
      "rate_limit_error",
      "This request would exceed the rate limit for your organization of 50 requests per minute.",
      {
        "retry-after": "2",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        ...resends
      }
    ],
    [
      { type: "quota-exhausted" },
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
      ends
    ],
    [{ type: "overloaded" }, 529, "overloaded_error", "Overloaded", resends],
    [{ type: "server-error" }, 500, "api_error", "Internal server error", resends]
  ]

  it.effect("has its status, its words and its headers, and is the last event of a stream", () =>
    Effect.gen(function* () {
      const asked = sent({ messages: [hello] })
      const stream = { status: 200, headers: { "content-type": "text/event-stream" }, body: "event: a\n\nevent: b\n\n" }
      for (const [failure, status, type, message, headers] of failures) {
        const answer = yield* AnyWire.failing(failure)(Effect.die(new Error("no brain is asked")), asked)
        assert.strictEqual(answer.status, status)
        assert.deepInclude(answer.headers, { "request-id": "req_refused", ...headers })
        const error = { type, message }
        assert.deepStrictEqual(JSON.parse(textOf(answer)), { type: "error", error, request_id: "req_refused" })
        const broken = yield* AnyWire.breakingOff(failure, 1)(Effect.succeed(stream), asked)
        const last = JSON.stringify({ type: "error", error: { details: null, ...error } })
        assert.deepStrictEqual(
          { ...broken, body: textOf(broken) },
          { ...stream, body: `event: a\n\nevent: error\ndata: ${last}\n\n` }
        )
      }
    })
  )
})
