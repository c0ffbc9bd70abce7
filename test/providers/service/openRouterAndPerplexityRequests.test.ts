/** What OpenRouter and Perplexity are sent: where, with which headers, and the exact body. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import { OpenRouter, Perplexity } from "@kintsugi/providers"
import { Effect } from "effect"
import { failsWith } from "../../_support/network.ts"
import {
  exchangeWith,
  bodyOf,
  chosen,
  image,
  messagesOf,
  output,
  said,
  answered,
  thought,
  tool,
  wireCall
} from "./_support/chatRequests.ts"

describe("OpenRouter", () => {
  it.effect("sends where a request comes from, and how it may be routed", () =>
    Effect.gen(function* () {
      const routing = {
        order: ["anthropic"],
        allowFallbacks: false,
        requireParameters: true,
        dataCollection: "deny",
        sort: "price",
        extra: { zdr: true, sort: "throughput" }
      } as const
      const { sent } = yield* exchangeWith(
        OpenRouter.layer({
          ...chosen,
          referer: "https://example.org",
          title: "Example",
          routing,
          fallbacks: ["a/b"],
          seed: 3,
          extra: { provider: { order: ["own"] }, plugins: [{ id: "web" }] }
        })
      )
      assert.strictEqual(sent?.headers["http-referer"], "https://example.org")
      assert.strictEqual(sent?.headers["x-title"], "Example")
      const { messages: _m, ...others } = JSON.parse(sent?.body ?? "")
      assert.deepStrictEqual(others, {
        model: "m",
        seed: 3,
        plugins: [{ id: "web" }],
        models: ["a/b"],
        provider: {
          order: ["own"],
          allow_fallbacks: false,
          require_parameters: true,
          data_collection: "deny",
          sort: "throughput",
          zdr: true
        }
      })
    })
  )

  it.effect("requests reasoning by effort or in tokens", () =>
    Effect.gen(function* () {
      const asked = (reasoning: OpenRouter.Options["reasoning"]) =>
        Effect.map(
          bodyOf(OpenRouter.layer({ ...chosen, ...(reasoning === undefined ? {} : { reasoning }) })),
          (body) => body.reasoning
        )
      assert.deepStrictEqual(yield* asked("low"), { effort: "low" })
      assert.deepStrictEqual(yield* asked({ maxTokens: 500 }), { max_tokens: 500 })
      assert.isUndefined(yield* asked(undefined))
    })
  )

  it.effect("gets reasoning and its details back unchanged, as they came whole or streamed [P1002]", () =>
    Effect.gen(function* () {
      const details = [
        { type: "reasoning.text", text: "hm", signature: "sig", format: "anthropic-claude-v1", index: 0 },
        { type: "reasoning.encrypted", data: "x", id: "t", index: 0 }
      ]
      const item = (provider: string): Message.ProviderItem => ({
        type: "provider-item",
        kind: "reasoning_details",
        opaque: { provider, data: details }
      })
      const messages = yield* messagesOf(
        OpenRouter.layer(chosen),
        said(thought("openrouter", "hm", "reasoning"), answered("t"), item("openrouter")),
        said(thought("deepseek", "hm", "reasoning_content"), Message.text("rain"), item("other"))
      )
      assert.deepStrictEqual(messages, [
        { role: "assistant", content: null, reasoning: "hm", reasoning_details: details, tool_calls: [wireCall("t")] },
        { role: "tool", tool_call_id: "t", content: "rain" },
        { role: "assistant", content: "rain" }
      ])
    })
  )

  it.effect("takes files at an address", () =>
    Effect.gen(function* () {
      const file = Message.file("application/pdf", { url: "https://example.org/a.pdf" }, "a.pdf")
      const messages = yield* messagesOf(OpenRouter.layer(chosen), Message.user([file]))
      assert.deepStrictEqual(messages[0].content, [
        { type: "file", file: { filename: "a.pdf", file_data: "https://example.org/a.pdf" } }
      ])
    })
  )
})

describe("Perplexity", () => {
  const layer = Perplexity.layer({ ...chosen, api: "chat" })

  it.effect("refuses tools before anything is sent [A814]", () =>
    Effect.gen(function* () {
      const { exit, sent } = yield* exchangeWith(layer, { tools: [tool] })
      assert.strictEqual(failsWith(exit, LlmError.CapabilityMismatchError).capability, "tools")
      assert.isUndefined(sent)
    })
  )

  it.effect("lets user and assistant take turns, after all instructions", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf(
        layer,
        Message.system("be brief"),
        Message.user("hi"),
        Message.user([Message.text("look"), image({ url: "https://example.org/a.png" })]),
        said(thought("perplexity", "hm", "reasoning_content")),
        Message.user("well?"),
        Message.assistant("a"),
        Message.assistant("b"),
        Message.system("in French"),
        Message.user("go on")
      )
      assert.deepStrictEqual(messages, [
        { role: "system", content: "be brief\n\nin French" },
        {
          role: "user",
          content: [
            { type: "text", text: "hi" },
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "https://example.org/a.png" } },
            { type: "text", text: "well?" }
          ]
        },
        { role: "assistant", content: "a\n\nb" },
        { role: "user", content: "go on" }
      ])
    })
  )

  it.effect("gets the calls of other providers as text; sources stay out [P1002]", () =>
    Effect.gen(function* () {
      const sources: Message.ProviderItem = {
        type: "provider-item",
        kind: "sources",
        opaque: { provider: "perplexity", data: { citations: ["https://example.org"] } }
      }
      const messages = yield* messagesOf(
        layer,
        Message.user("weather?"),
        said(Message.text("let me see"), answered("c1"), answered("c2", "denied", "not allowed")),
        said(Message.text("rain"), sources),
        Message.user("sure?")
      )
      assert.deepStrictEqual(messages, [
        { role: "user", content: "weather?" },
        {
          role: "assistant",
          content:
            'let me see\nI called the tool \'get_weather\' with {"city":"Oslo"}.\nI called the tool \'get_weather\' with {"city":"Oslo"}.'
        },
        {
          role: "user",
          content: "The tool 'get_weather' answered: rain\nThe tool 'get_weather' answered: ERROR: not allowed"
        },
        { role: "assistant", content: "rain" },
        { role: "user", content: "sure?" }
      ])
    })
  )

  it.effect("takes files in base64 or at an address, and the schema of an output", () =>
    Effect.gen(function* () {
      const files = Message.user([
        Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
        Message.file("application/pdf", { url: "https://example.org/b.pdf" })
      ])
      const body = yield* bodyOf(layer, { messages: [files], output })
      assert.deepStrictEqual(body.messages[0].content, [
        { type: "file_url", file_url: { url: "aGk=" }, file_name: "a.pdf" },
        { type: "file_url", file_url: { url: "https://example.org/b.pdf" } }
      ])
      assert.deepStrictEqual(body.response_format, {
        type: "json_schema",
        json_schema: { name: "report", schema: output.schema }
      })
    })
  )
})
