/** Chat completions, from the server's side: what it reads of a request, and what it writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect, Redacted } from "effect"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const sent = (body: object) => ({ ...received("/v1/chat/completions", body), authorization: Redacted.make("Bearer k") })

const hello = { role: "user", content: "hello" }

describe("a request", () => {
  it.effect("is read with its texts, files, thoughts, calls, results and tools", () =>
    Effect.gen(function* () {
      const called = (id: string) => ({ id, type: "function", function: { name: "f", arguments: '{"n":1}' } })
      const { asked } = yield* served(
        sent({
          model: "m",
          messages: [
            { role: "system", content: "Be brief." },
            { role: "developer", content: [{ type: "text", text: "In French." }] },
            {
              role: "user",
              content: [
                { type: "text", text: "see" },
                { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
                { type: "image_url", image_url: { url: "https://a.test/i" } },
                { type: "image_url", image_url: { url: "data:image/png,AQID" } },
                { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" } },
                { type: "file", file: { file_id: "f1" } },
                { type: "input_audio", input_audio: { data: "AQID", format: "wav" } }
              ]
            },
            { role: "assistant", reasoning_content: "hm", content: "I look", tool_calls: [called("c1"), called("c2")] },
            { role: "tool", tool_call_id: "c2", content: "two" },
            { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "one" }] },
            { role: "assistant", content: null, reasoning_content: null },
            { role: "assistant", tool_calls: [called("c3")] },
            { role: "tool", tool_call_id: "c3", content: "" }
          ],
          tools: [
            { type: "function", function: { name: "f", description: "F.", parameters: { type: "object" } } },
            { type: "function", function: { name: "g", strict: null } },
            { type: "web_search" }
          ],
          tool_choice: { type: "function", function: { name: "f" } },
          stream: true
        })
      )
      const call = (id: string) => ({ type: "tool-call", id, name: "f", arguments: '{"n":1}' })
      const result = (callId: string, text: string) => ({ role: "tool", callId, text })
      assert.deepStrictEqual<unknown>(asked, {
        format: "openai-chat",
        model: "m",
        messages: [
          Message.system("Be brief."),
          Message.system("In French."),
          Message.user([
            Message.text("see"),
            Message.image("image/png", { data: "AQID" }),
            Message.image("image/*", { url: "https://a.test/i" }),
            Message.image("image/*", { url: "data:image/png,AQID" }),
            Message.file("application/pdf", { data: "AQID" }, "a.pdf"),
            Message.file("application/pdf", { url: "f1" }),
            Message.file("audio/wav", { data: "AQID" })
          ]),
          {
            role: "assistant",
            content: [{ type: "reasoning", text: "hm" }, Message.text("I look"), call("c1"), call("c2")]
          },
          result("c2", "two"),
          result("c1", "one"),
          { role: "assistant", content: [] },
          { role: "assistant", content: [call("c3")] },
          result("c3", "")
        ],
        tools: [
          { name: "f", description: "F.", parameters: { type: "object" } },
          { name: "g", description: "", parameters: {} }
        ],
        toolChoice: { tool: "f" },
        isStreamed: true
      })
    })
  )

  it.effect("may have one message alone, and any choice among its tools", () =>
    Effect.gen(function* () {
      const { asked } = yield* served(sent({ model: "m", messages: [hello] }))
      assert.deepStrictEqual<unknown>(asked, {
        format: "openai-chat",
        model: "m",
        messages: [Message.user("hello")],
        tools: [],
        toolChoice: "auto",
        isStreamed: false
      })
      const tools = [{ type: "function", function: { name: "f" } }]
      for (const choice of ["none", "auto", "required"] as const) {
        const { asked } = yield* served(sent({ model: "m", messages: [hello], tools, tool_choice: choice }))
        assert.strictEqual(asked?.toolChoice, choice)
      }
    })
  )

  it.effect("is refused with a field of another form, a lax schema that is strict, or a result out of turn", () =>
    Effect.gen(function* () {
      const said = (content: object) => ({ messages: [{ role: "user", content: [content] }] })
      const lax = { type: "object", properties: { a: { type: "string" } } }
      const defining = (parameters: object, strict = true) => ({
        messages: [hello],
        tools: [{ function: { name: "f", parameters, strict } }]
      })
      const closed = (properties: object, more: object = {}) => ({
        type: "object",
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
        ...more
      })
      assert.isDefined((yield* served(sent({ model: "m", ...defining(lax, false) }))).asked)
      const fine = closed({ a: { anyOf: [closed({}), { type: "null" }] } }, { $defs: { d: closed({ b: {} }) } })
      assert.isDefined((yield* served(sent({ model: "m", ...defining(fine) }))).asked)
      const formatted = (strict: boolean) => ({
        messages: [hello],
        response_format: { type: "json_schema", json_schema: { name: "r", schema: lax, strict } }
      })
      assert.isDefined((yield* served(sent({ model: "m", ...formatted(false) }))).asked)
      const additional = (...at: ReadonlyArray<string>) =>
        `In context=(${at.map((step) => `'${step}'`).join(", ")}), 'additionalProperties' is required to be supplied and to be false.`
      const answeredCall = (fn: object) => ({
        messages: [
          { role: "assistant", tool_calls: [{ id: "c", function: fn }] },
          { role: "tool", tool_call_id: "c", content: "" }
        ]
      })
      assert.isDefined((yield* served(sent({ model: "m", ...answeredCall({ name: "f", arguments: "{}" }) }))).asked)
      for (const [body, words] of [
        [said({ type: "text" }), undefined],
        [said({ type: "input_audio", input_audio: { data: "AQID" } }), undefined],
        [said({ type: "image_url", image_url: {} }), undefined],
        [answeredCall({ name: "f" }), undefined],
        [answeredCall({ arguments: "{}" }), undefined],
        [
          { messages: [{ role: "tool", tool_call_id: "c", content: "" }] },
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        ],
        [defining(lax), `Invalid schema for function 'f': ${additional()}`],
        [
          defining(closed({ a: { anyOf: [{}, lax] } })),
          `Invalid schema for function 'f': ${additional("properties", "a", "anyOf", "1")}`
        ],
        [
          defining(closed({ a: { prefixItems: [lax] } })),
          `Invalid schema for function 'f': ${additional("properties", "a", "prefixItems", "0")}`
        ],
        [
          defining(closed({ a: { items: lax } })),
          `Invalid schema for function 'f': ${additional("properties", "a", "items")}`
        ],
        ...["$defs", "definitions"].map(
          (key) =>
            [
              defining(closed({}, { [key]: { d: lax } })),
              `Invalid schema for function 'f': ${additional(key, "d")}`
            ] as const
        ),
        [formatted(true), `Invalid schema for response_format 'r': ${additional()}`]
      ] as const) {
        const { answer, asked } = yield* served(sent({ model: "m", ...body }))
        assert.deepStrictEqual([answer.status, asked], [400, undefined])
        if (words !== undefined) assert.strictEqual(JSON.parse(textOf(answer)).error.message, words)
      }
    })
  )
})

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5, reasoningTokens: 2 })
const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "Let me see" },
    Message.text("so it is"),
    { type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } },
    { type: "tool-call", id: "c2", name: "g", arguments: null }
  ],
  usage
}
const head = { id: "chatcmpl-7", created: 0, model: "m" }
const counted = {
  prompt_tokens: 30,
  completion_tokens: 9,
  total_tokens: 39,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 2 }
}

describe("a reply", () => {
  it.effect("is written whole", () =>
    Effect.gen(function* () {
      const whole = (reply: Wire.BrainReply) =>
        Effect.map(served(sent({ model: "m", messages: [hello] }), reply), ({ answer }) => JSON.parse(textOf(answer)))
      const message = {
        role: "assistant",
        content: "so it is",
        refusal: null,
        reasoning_content: "Let me see",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "c2", type: "function", function: { name: "g", arguments: "" } }
        ]
      }
      assert.deepStrictEqual(yield* whole(reply), {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, logprobs: null, finish_reason: "tool_calls" }],
        usage: counted
      })
      for (const [finish, reason] of [
        ["stop", "stop"],
        ["length", "length"],
        ["filtered", "content_filter"],
        ["paused", "stop"]
      ] as const) {
        const { choices } = yield* whole({ content: [], finish })
        const message = { role: "assistant", content: null, refusal: null }
        assert.deepStrictEqual(choices, [{ index: 0, message, logprobs: null, finish_reason: reason }])
      }
    })
  )

  it.effect("is written in pieces, with its usage if that is asked for", () =>
    Effect.gen(function* () {
      for (const include_usage of [true, false]) {
        const body = { model: "m", messages: [hello], stream: true, stream_options: { include_usage } }
        const { answer } = yield* served(sent(body), reply)
        assert.strictEqual(answer.headers?.["content-type"], "text/event-stream; charset=utf-8")
        const events = textOf(answer).split("\n\n")
        assert.deepStrictEqual(events.splice(-2), ["data: [DONE]", ""])
        const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] })
        const deltas = [
          { role: "assistant", content: "" },
          { reasoning_content: "Let me" },
          { reasoning_content: " see" },
          { content: "so it " },
          { content: "is" },
          call(0, { id: "c1", type: "function", function: { name: "f", arguments: "" } }),
          call(0, { function: { arguments: '{"a":1' } }),
          call(0, { function: { arguments: "}" } }),
          call(1, { id: "c2", type: "function", function: { name: "g", arguments: "" } })
        ].map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
        const end = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }
        assert.deepStrictEqual(
          events.map((event) => JSON.parse(event.slice("data: ".length))),
          [...deltas, end, ...(include_usage ? [{ choices: [], usage: counted }] : [])].map((fields) => ({
            ...head,
            object: "chat.completion.chunk",
            ...fields
          }))
        )
      }
    })
  )
})

describe("a failure", () => {
  const invalid = "invalid_request_error"
  const failures: ReadonlyArray<
    readonly [Wire.Failure, number, type: string, code: string | null, message: string, headers?: object]
  > = [
    [{ type: "invalid-request", message: "bad" }, 400, invalid, null, "bad"],
    [{ type: "invalid-request", message: "bad", code: "odd" }, 400, invalid, "odd", "bad"],
    [{ type: "unauthorized", isKeyGiven: true }, 401, invalid, "invalid_api_key", "Incorrect API key provided."],
    [{ type: "unauthorized", isKeyGiven: false }, 401, invalid, null, "You didn't provide an API key."],
    [
      { type: "unknown-model", model: "x" },
      404,
      invalid,
      "model_not_found",
      "The model `x` does not exist or you do not have access to it."
    ],
    [
      { type: "rate-limited", retryAfter: "1500 millis" },
      429,
      "requests",
      "rate_limit_exceeded",
      "Rate limit reached for requests on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 1500ms.",
      {
        "retry-after-ms": "1500",
        "retry-after": "2",
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1500ms"
      }
    ],
    [
      { type: "quota-exhausted" },
      429,
      "insufficient_quota",
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details."
    ],
    [
      { type: "overloaded" },
      503,
      "service_unavailable_error",
      null,
      "The engine is currently overloaded, please try again later"
    ],
    [
      { type: "server-error" },
      500,
      "server_error",
      null,
      "The server had an error while processing your request. Sorry about that!"
    ]
  ]

  it.effect("has its status, its words and its headers, and is the last event of a stream", () =>
    Effect.gen(function* () {
      const asked = sent({ model: "m", messages: [hello] })
      const stream = { headers: { "content-type": "text/event-stream" }, body: "data: a\n\ndata: b\n\n" }
      for (const [failure, status, type, code, message, headers = {}] of failures) {
        const answer = yield* AnyWire.failing(failure)(Effect.die(new Error("no brain is asked")), asked)
        const error = { message, type, param: null, code }
        assert.strictEqual(answer.status, status)
        assert.deepStrictEqual(answer.headers, { "x-request-id": "req_refused", ...headers })
        assert.deepStrictEqual(JSON.parse(textOf(answer)), { error })
        const broken = yield* AnyWire.breakingOff(failure, 1)(Effect.succeed(stream), asked)
        assert.strictEqual(textOf(broken), `data: a\n\ndata: ${JSON.stringify({ error })}\n\n`)
      }
    })
  )
})
