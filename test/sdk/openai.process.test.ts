/** `openai` as a judge of the loopback server: chat completions and Responses. */
import { assert, describe, it } from "@effect/vitest"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import OpenAI from "openai"
import { city, greeting, key, serving, thrownBy, until, weatherSchema } from "./playing.ts"

const clientAt = (url: string, apiKey = key) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

const chat = { model: "m", messages: [{ role: "user" as const, content: "hello" }] }

const chatWithTool = {
  ...chat,
  tools: [{ type: "function" as const, function: { name: "weather", parameters: weatherSchema } }]
}

const response = { model: "m", input: "hello" }

const responseWithTool = {
  model: "m",
  input: [{ role: "user" as const, content: "hello" }],
  tools: [{ type: "function" as const, name: "weather", parameters: weatherSchema, strict: true }]
}

const calls = [
  { call: "call_1", name: "weather", input: city },
  { call: "call_2", name: "weather", input: { city: "Oslo" } }
]

const failures: ReadonlyArray<Parameters<typeof AnyWire.failing>[0]> = [
  { type: "rate-limited", retryAfter: "1500 millis" },
  { type: "overloaded" },
  { type: "server-error" },
  { type: "quota-exhausted" }
]

describe("openai, chat completions", () => {
  it.live("reads a text, whole and streamed, with the same usage", () =>
    Effect.gen(function* () {
      const { completions } = clientAt((yield* serving()).url).chat
      const whole = yield* Effect.promise(() => completions.create(chat))
      const streamed = yield* Effect.promise(() =>
        completions.stream({ ...chat, stream_options: { include_usage: true } }).finalChatCompletion()
      )
      for (const { choices, usage } of [whole, streamed]) {
        assert.strictEqual(choices[0]?.message.content, greeting)
        assert.strictEqual(choices[0]?.finish_reason, "stop")
        assert.deepInclude(usage, { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 })
        assert.strictEqual(usage?.prompt_tokens_details?.cached_tokens, 5)
      }
    })
  )

  it.live("reads parallel calls, whole and streamed, and sends their results", () =>
    Effect.gen(function* () {
      const { completions } = clientAt((yield* serving()).url).chat
      const whole = yield* Effect.promise(() => completions.create(chatWithTool))
      const streamed = yield* Effect.promise(() => completions.stream(chatWithTool).finalChatCompletion())
      for (const { choices } of [whole, streamed]) {
        const message = choices[0]?.message
        assert(message !== undefined)
        assert.strictEqual(choices[0]?.finish_reason, "tool_calls")
        const made = (message.tool_calls ?? []).flatMap((call) => (call.type === "function" ? [call] : []))
        assert.deepStrictEqual(
          made.map(({ function: fn, id }) => ({ call: id, name: fn.name, input: JSON.parse(fn.arguments) })),
          calls
        )
        const results = made.map(({ id }, index) => ({
          role: "tool" as const,
          tool_call_id: id,
          content: `${index}°`
        }))
        const answer = yield* Effect.promise(() =>
          completions.create({ ...chatWithTool, messages: [...chat.messages, message, ...results] })
        )
        assert.strictEqual(answer.choices[0]?.message.content, "It is 0° and 1°.")
      }
    })
  )

  it.live("throws its own error for each failure, with its status", () =>
    Effect.gen(function* () {
      const { url } = yield* serving(failures.map(AnyWire.failing))
      const ask = (apiKey?: string, more = {}) =>
        thrownBy(() => clientAt(url, apiKey).chat.completions.create({ ...chat, ...more }))
      yield* checkFailures(ask)
      const unknown = yield* ask(key, { model: "gpt-unknown" })
      assert(unknown instanceof OpenAI.NotFoundError)
      assert.strictEqual(unknown.code, "model_not_found")
      const orphan = { role: "tool", tool_call_id: "call_9", content: "" }
      const refused = yield* ask(key, { messages: [...chat.messages, orphan] })
      assert(refused instanceof OpenAI.BadRequestError)
      assert.match(refused.message, /must be a response to a preceeding message/)
    })
  )

  it.live("throws in the middle of a stream, after its text", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([AnyWire.breakingOff({ type: "server-error" }, 3)])
      let text = ""
      const thrown = yield* thrownBy(async () =>
        until(await clientAt(url).chat.completions.create({ ...chat, stream: true }), ({ choices }) => {
          text += choices[0]?.delta.content ?? ""
        })
      )
      assert(thrown instanceof OpenAI.APIError)
      assert.strictEqual(thrown.type, "server_error")
      assert.strictEqual(text, "grüße 🙂, fiv")
    })
  )
})

describe("openai, Responses", () => {
  it.live("reads a text, whole and streamed, with the same usage", () =>
    Effect.gen(function* () {
      const { responses } = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => responses.create(response))
      const streamed = yield* Effect.promise(() => responses.stream(response).finalResponse())
      for (const { output_text, status, usage } of [whole, streamed]) {
        assert.strictEqual(output_text, greeting)
        assert.strictEqual(status, "completed")
        assert.deepInclude(usage, { input_tokens: 20, output_tokens: 9, total_tokens: 29 })
        assert.strictEqual(usage?.output_tokens_details.reasoning_tokens, 4)
      }
    })
  )

  it.live("reads parallel calls, whole and streamed, and sends their outputs with the reasoning before them", () =>
    Effect.gen(function* () {
      const { responses } = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => responses.create(responseWithTool))
      const streamed = yield* Effect.promise(() => responses.stream(responseWithTool).finalResponse())
      for (const { output } of [whole, streamed]) {
        assert.deepInclude(output[0], {
          type: "reasoning",
          summary: [{ type: "summary_text", text: "The weather is asked for." }]
        })
        const made = output.flatMap((item) => (item.type === "function_call" ? [item] : []))
        assert.deepStrictEqual(
          made.map(({ arguments: args, call_id, name }) => ({ call: call_id, name, input: JSON.parse(args) })),
          calls
        )
        const outputs = made.map(({ call_id }, index) => ({
          type: "function_call_output" as const,
          call_id,
          output: `${index}°`
        }))
        const said = output.flatMap((item) =>
          item.type === "reasoning" || item.type === "function_call" ? [item] : []
        )
        const answer = yield* Effect.promise(() =>
          responses.create({ ...responseWithTool, input: [...responseWithTool.input, ...said, ...outputs] })
        )
        assert.strictEqual(answer.output_text, "It is 0° and 1°.")
      }
    })
  )

  it.live("throws its own error for each failure, with its status", () =>
    Effect.gen(function* () {
      const { url } = yield* serving(failures.map(AnyWire.failing))
      const ask = (apiKey?: string, more = {}) =>
        thrownBy(() => clientAt(url, apiKey).responses.create({ ...response, ...more }))
      yield* checkFailures(ask)
      // other than chat completions
      const unknown = yield* ask(key, { model: "gpt-unknown" })
      assert(unknown instanceof OpenAI.BadRequestError)
      assert.strictEqual(unknown.code, "model_not_found")
      const orphan = { type: "function_call", call_id: "call_9", name: "weather", arguments: "{}" }
      const refused = yield* ask(key, { input: [...responseWithTool.input, orphan] })
      assert(refused instanceof OpenAI.BadRequestError)
      assert.match(refused.message, /No tool output found for function call call_9/)
    })
  )

  it.live("throws in the middle of a stream, after its text", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([AnyWire.breakingOff({ type: "server-error" }, 6)])
      let text = ""
      const thrown = yield* thrownBy(async () =>
        until(await clientAt(url).responses.create({ ...response, stream: true }), (event) => {
          if (event.type === "response.output_text.delta") text += event.delta
        })
      )
      assert(thrown instanceof OpenAI.APIError)
      assert.strictEqual(text, "grüße 🙂, fiv")
    })
  )
})

/** The failures above, in their order, then a wrong key. */
const checkFailures = (ask: (apiKey?: string) => Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const limited = yield* ask()
    assert(limited instanceof OpenAI.RateLimitError)
    assert.strictEqual(limited.code, "rate_limit_exceeded")
    assert.strictEqual(limited.headers.get("retry-after-ms"), "1500")
    for (const status of [503, 500]) {
      const broken = yield* ask()
      assert(broken instanceof OpenAI.InternalServerError)
      assert.strictEqual(broken.status, status)
    }
    const poor = yield* ask()
    assert(poor instanceof OpenAI.RateLimitError)
    assert.strictEqual(poor.code, "insufficient_quota")
    const wrong = yield* ask("sk-the-wrong-one")
    assert(wrong instanceof OpenAI.AuthenticationError)
    assert.strictEqual(wrong.code, "invalid_api_key")
  })
