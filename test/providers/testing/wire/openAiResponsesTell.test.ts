/** What OpenAI's Responses API writes, from the server's side. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect, Redacted } from "effect"
import { signatureOf } from "../../../../packages/providers/src/testing/wire/parts.ts"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const sent = (body: object) => ({ ...received("/v1/responses", body), authorization: Redacted.make("bearer  k ") })

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5, reasoningTokens: 2 })
const data = { type: "web_search_call", id: "ws" }
const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "Let me see" },
    Message.text("so it is"),
    { type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } },
    { type: "provider-item", kind: data.type, opaque: { provider: "openai", data } },
    { type: "provider-item", kind: data.type, opaque: { provider: "gemini", data } }
  ],
  usage
}
const counted = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 39
}

/** A response to a request that asks for nothing special. */
const response = (more: object) => ({
  id: "resp_7",
  object: "response",
  background: false,
  created_at: 0,
  status: "in_progress",
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: "m",
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  usage: null,
  user: null,
  metadata: {},
  ...more
})

const textPart = (text: string) => ({ type: "output_text", text, annotations: [] })
const thought = { type: "reasoning", id: "rs_7_0", encrypted_content: signatureOf("rs_7_0") }
const message = { type: "message", id: "msg_7_1", role: "assistant" }
const called = { type: "function_call", id: "fc_7_2", call_id: "c1", name: "f" }
const output = [
  { ...thought, summary: [{ type: "summary_text", text: "Let me see" }] },
  { ...message, status: "completed", content: [textPart("so it is")] },
  { ...called, arguments: '{"a":1}', status: "completed" },
  data
]

describe("a reply", () => {
  const whole = (reply: Wire.BrainReply, more: object = {}) =>
    Effect.map(served(sent({ model: "m", input: "hello", ...more }), reply), ({ answer }) => {
      assert.deepStrictEqual(answer.headers, { "x-request-id": "req_7" })
      return JSON.parse(textOf(answer))
    })

  it.effect("is written whole, with what the request asked for", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* whole(reply), response({ status: "completed", output, usage: counted }))
      const more = {
        instructions: "Be brief.",
        max_output_tokens: 9,
        parallel_tool_calls: false,
        reasoning: { effort: "low" },
        store: false,
        temperature: 0,
        text: { format: { type: "json_object" } },
        tool_choice: "none",
        tools: [{ type: "function", name: "f" }],
        top_p: 0.5
      }
      const usage = { ...counted, input_tokens: 0, input_tokens_details: { cached_tokens: 0 }, output_tokens: 0 }
      assert.deepStrictEqual(
        yield* whole({ content: [] }, more),
        response({
          ...more,
          status: "completed",
          usage: { ...usage, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 }
        })
      )
    })
  )

  it.effect("that was cut has its last item incomplete", () =>
    Effect.gen(function* () {
      for (const [finish, reason] of [
        ["length", "max_output_tokens"],
        ["filtered", "content_filter"]
      ] as const) {
        const { incomplete_details, output, status } = yield* whole({
          content: [Message.text("a"), Message.text("b")],
          finish
        })
        const item = (id: string, status: string, text: string) => ({
          ...message,
          id,
          status,
          content: [textPart(text)]
        })
        assert.deepStrictEqual(
          { incomplete_details, output, status },
          {
            incomplete_details: { reason },
            output: [item("msg_7_0", "completed", "a"), item("msg_7_1", "incomplete", "b")],
            status: "incomplete"
          }
        )
      }
    })
  )

  it.effect("is written in pieces", () =>
    Effect.gen(function* () {
      const { answer } = yield* served(sent({ model: "m", input: "hello", stream: true }), reply)
      assert.deepStrictEqual(answer.headers, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-request-id": "req_7"
      })
      const item = (output_index: number, added: object, events: ReadonlyArray<object>) => [
        { type: "response.output_item.added", output_index, item: added },
        ...events.map((event) => ({ ...event, output_index })),
        { type: "response.output_item.done", output_index, item: output[output_index] }
      ]
      const inThought = { item_id: "rs_7_0", summary_index: 0 }
      const inMessage = { item_id: "msg_7_1", content_index: 0 }
      const summary = (text: string) => ({ type: "summary_text", text })
      const events: ReadonlyArray<object> = [
        { type: "response.created", response: response({}) },
        { type: "response.in_progress", response: response({}) },
        ...item(0, { ...thought, summary: [] }, [
          { type: "response.reasoning_summary_part.added", ...inThought, part: summary("") },
          { type: "response.reasoning_summary_text.delta", ...inThought, delta: "Let me" },
          { type: "response.reasoning_summary_text.delta", ...inThought, delta: " see" },
          { type: "response.reasoning_summary_text.done", ...inThought, text: "Let me see" },
          { type: "response.reasoning_summary_part.done", ...inThought, part: summary("Let me see") }
        ]),
        ...item(1, { ...message, status: "in_progress", content: [] }, [
          { type: "response.content_part.added", ...inMessage, part: textPart("") },
          { type: "response.output_text.delta", ...inMessage, delta: "so it ", logprobs: [] },
          { type: "response.output_text.delta", ...inMessage, delta: "is", logprobs: [] },
          { type: "response.output_text.done", ...inMessage, text: "so it is", logprobs: [] },
          { type: "response.content_part.done", ...inMessage, part: textPart("so it is") }
        ]),
        ...item(2, { ...called, arguments: "", status: "in_progress" }, [
          { type: "response.function_call_arguments.delta", item_id: "fc_7_2", delta: '{"a":1' },
          { type: "response.function_call_arguments.delta", item_id: "fc_7_2", delta: "}" },
          { type: "response.function_call_arguments.done", item_id: "fc_7_2", arguments: '{"a":1}' }
        ]),
        ...item(3, data, []),
        { type: "response.completed", response: response({ status: "completed", output, usage: counted }) }
      ]
      const written = textOf(answer).split("\n\n")
      assert.strictEqual(written.pop(), "")
      const read = written.map((event) => {
        const [, name, json = ""] = /^event: (\S+)\ndata: (.*)$/.exec(event) ?? []
        const { type, ...more } = JSON.parse(json)
        assert.strictEqual(name, type)
        return { type, ...more }
      })
      assert.deepStrictEqual(
        read,
        events.map((event, sequence_number) => ({ ...event, sequence_number }))
      )
    })
  )
})

it.effect("a failure has its status and its words, and is the last two events of a stream", () =>
  Effect.gen(function* () {
    const failures: ReadonlyArray<readonly [Wire.Failure, number, object, object]> = [
      [
        { type: "unknown-model", model: "x" },
        400,
        {
          message: "The requested model 'x' does not exist.",
          type: "invalid_request_error",
          param: "model",
          code: "model_not_found"
        },
        { code: "model_not_found", message: "The requested model 'x' does not exist." }
      ],
      [
        { type: "invalid-request", message: "bad" },
        400,
        { message: "bad", type: "invalid_request_error", param: null, code: null },
        { code: "invalid_request_error", message: "bad" }
      ]
    ]
    const asked = sent({ model: "m", input: "hello" })
    const stream = { headers: { "content-type": "text/event-stream" }, body: "data: a\n\ndata: b\n\n" }
    for (const [failure, status, error, ended] of failures) {
      const answer = yield* AnyWire.failing(failure)(Effect.die(new Error("no brain is asked")), asked)
      assert.deepStrictEqual([answer.status, answer.headers], [status, { "x-request-id": "req_refused" }])
      assert.deepStrictEqual(JSON.parse(textOf(answer)), { error })
      const broken = textOf(yield* AnyWire.breakingOff(failure, 1)(Effect.succeed(stream), asked))
      const [first, ...last] = broken.split("\n\n")
      assert.strictEqual(first, "data: a")
      assert.strictEqual(last.pop(), "")
      assert.deepStrictEqual(
        last.map((event) => JSON.parse(event.replace(/^event: .*\ndata: /, ""))),
        [
          { type: "error", error, sequence_number: 1 },
          { type: "response.failed", response: response({ status: "failed", error: ended }), sequence_number: 2 }
        ]
      )
    }
  })
)
