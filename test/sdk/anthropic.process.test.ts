/** `@anthropic-ai/sdk` as a judge of the loopback server. */
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { city, greeting, key, serving, thrownBy, until, weatherSchema } from "./playing.ts"

const clientAt = (baseURL: string, apiKey = key) => new Anthropic({ baseURL, apiKey, maxRetries: 0 })

const plain = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] }

const withTool = { ...plain, tools: [{ name: "weather", input_schema: weatherSchema }] }

describe("@anthropic-ai/sdk", () => {
  it.live("reads a text, whole and streamed, with the same usage", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.messages.create(plain))
      const streamed = yield* Effect.promise(() => client.messages.stream(plain).finalMessage())
      for (const { content, stop_reason, usage } of [whole, streamed]) {
        assert.deepInclude(content[0], { type: "text", text: greeting })
        assert.strictEqual(stop_reason, "end_turn")
        assert.deepInclude(usage, {
          input_tokens: 12,
          cache_read_input_tokens: 5,
          cache_creation_input_tokens: 3,
          output_tokens: 9
        })
      }
      assert.strictEqual(whole.model, "m")
    })
  )

  it.live("reads parallel calls, whole and streamed, and sends their results with the thoughts before them", () =>
    Effect.gen(function* () {
      const client = clientAt((yield* serving()).url)
      const whole = yield* Effect.promise(() => client.messages.create(withTool))
      const streamed = yield* Effect.promise(() => client.messages.stream(withTool).finalMessage())
      for (const message of [whole, streamed]) {
        assert.strictEqual(message.stop_reason, "tool_use")
        const calls = message.content.flatMap((block) => (block.type === "tool_use" ? [block] : []))
        assert.deepStrictEqual(
          calls.map(({ id, input, name }) => ({ id, input, name })),
          [
            { id: "call_1", input: city, name: "weather" },
            { id: "call_2", input: { city: "Oslo" }, name: "weather" }
          ]
        )
        const results = calls.map(({ id }, index) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: `${index}°`
        }))
        const messages: Array<Anthropic.MessageParam> = [
          ...plain.messages,
          { role: "assistant", content: message.content },
          { role: "user", content: results }
        ]
        const answer = yield* Effect.promise(() => client.messages.create({ ...withTool, messages }))
        assert.deepInclude(answer.content[0], { text: "It is 0° and 1°." })
      }
    })
  )

  it.live("throws its own error for each failure, with its status", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([
        AnyWire.failing({ type: "rate-limited", retryAfter: "7 seconds" }),
        AnyWire.failing({ type: "overloaded" }),
        AnyWire.failing({ type: "server-error" })
      ])
      const ask = (apiKey?: string, more = {}) =>
        thrownBy(() => clientAt(url, apiKey).messages.create({ ...plain, ...more }))
      const limited = yield* ask()
      assert(limited instanceof Anthropic.RateLimitError)
      assert.strictEqual(limited.headers.get("retry-after"), "7")
      const overloaded = yield* ask()
      assert(overloaded instanceof Anthropic.InternalServerError)
      assert.strictEqual(overloaded.status, 529)
      assert.strictEqual(overloaded.type, "overloaded_error")
      const broken = yield* ask()
      assert(broken instanceof Anthropic.InternalServerError)
      assert.strictEqual(broken.status, 500)
      assert.instanceOf(yield* ask("sk-the-wrong-one"), Anthropic.AuthenticationError)
      assert.instanceOf(yield* ask(key, { model: "claude-unknown" }), Anthropic.NotFoundError)
      const orphan = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] }
      const refused = yield* ask(key, { messages: [...plain.messages, orphan] })
      assert(refused instanceof Anthropic.BadRequestError)
      assert.match(refused.message, /without `tool_result` blocks immediately after: toolu_1/)
    })
  )

  it.live("throws in the middle of a stream, after its text", () =>
    Effect.gen(function* () {
      const { url } = yield* serving([AnyWire.breakingOff({ type: "overloaded" }, 5)])
      let text = ""
      const thrown = yield* thrownBy(async () =>
        until(await clientAt(url).messages.create({ ...plain, stream: true }), (event) => {
          if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text
        })
      )
      assert(thrown instanceof Anthropic.APIError)
      assert.match(thrown.message, /overloaded_error/)
      assert.strictEqual(text, "grüße 🙂, fiv")
    })
  )
})
