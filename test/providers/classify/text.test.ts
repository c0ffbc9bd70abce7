/** How the words of a message are read where no code decides: each row is one way to say it, or one way not to. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Provider from "@kintsugi/providers/Provider"
import { answer, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const classify = (error: object, status = 400): LlmError.LlmError =>
  formats["openai-chat"].classify(source, answer(status, { error }))

const far = "x ".repeat(60)

/** Messages by the class that they have with status 400, which alone means an invalid request. */
const messages: Readonly<Partial<Record<LlmError.LlmError["_tag"], ReadonlyArray<string>>>> = {
  AuthenticationError: [
    "unauthorized",
    "Missing Authentication header",
    "Authentication Fails (no such user)",
    "You have to provide an API key",
    "Please provide a valid API key",
    "Invalid apikey",
    "missing x-api-key",
    "The incorrect api-key was sent",
    "API key not valid"
  ],
  QuotaExhaustedError: [
    "Insufficient credit",
    "Insufficient credits",
    "Insufficient Balance",
    "Spend limit reached",
    "The spending cap was hit",
    "Your spending limit is exceeded",
    "The spend cap has been reached",
    "You hit your spend limit",
    "The team is over its own small monthly spending cap",
    "You reached the monthly spending limit"
  ],
  ModelNotFoundError: [
    `The model m does not exist. ${far}${far}`,
    "models/m is not found",
    "model\tm has been deprecated",
    `one line\nThe model ${"x".repeat(98)} was not found`,
    "Invalid model 'm'"
  ],
  ModelOverloadedError: ["The server is too busy", "We are at capacity", "Please slow down"],
  RateLimitError: ["a ratelimit", "Rate-limit reached", "the rate limit", "Too many requests"],
  ContextTooLongError: [
    "The prompt exceeds the context window",
    "messages exceed context limit",
    "Input too long",
    "the input is too long",
    "input token count of this request exceeds the maximum",
    "request too large"
  ],
  ContentFilteredError: ["The content was considered high risk", "flagged for possible misuse"],
  InvalidRequestError: [
    "The user is unauthorized",
    "unauthorized region",
    "You hit your spend limitation",
    "You hit your very own small monthly spending cap",
    "The supermodel m was not found",
    "The modelling m was not found",
    "model\nThe file was not found",
    `model ${far} not found`,
    "The name is an invalid model 'm'",
    "The rate limiter has no rest",
    "inputs of all the others too long",
    "The myinput too long",
    `invalid value for the field that is named api key`,
    "invalid myapi key",
    "response_format\nA seed is not supported",
    `response_format ${far}${far} a seed is not supported`,
    `${"x".repeat(4000)} too many requests`
  ]
}

describe("words", () => {
  const rows = Object.entries(messages).flatMap(([tag, texts]) => texts.map((text) => [text.slice(0, 80), tag, text]))

  it.each(rows)("%s: %s [T8 T35]", (_, tag, message) => {
    const error = classify({ message })
    assert.strictEqual(error._tag, tag)
  })

  it("begin with those of a call that cannot be parsed, or say nothing of a call [T8 T35]", () => {
    assert.strictEqual(classify({ message: "Error parsing tool call: x" }, 500)._tag, "MalformedToolCallError")
    assert.strictEqual(classify({ message: "It quotes error parsing tool call" }, 500)._tag, "ServerError")
    assert.strictEqual(classify({ message: "error parsing tool calls" }, 500)._tag, "ServerError")
  })

  it("are not read within quotation marks, which apostrophes are not [T8 T35]", () => {
    for (const mark of ["'", '"', "`"]) {
      assert.strictEqual(
        classify({ message: `Bad: ${mark}too many requests${mark}` })._tag,
        "InvalidRequestError",
        mark
      )
      const lines = `Bad: ${mark}\ntoo many requests\n${mark}`
      assert.strictEqual(classify({ message: lines })._tag, "RateLimitError", mark)
      // the quotation marks stay, so that the words around a quotation do not become others
      assert.strictEqual(classify({ message: `too ${mark}x${mark}many requests` })._tag, "InvalidRequestError", mark)
    }
    for (const message of [
      "All users' too many requests, and the models' answers",
      "It says 'tis too many requests, don't",
      "The model's had too many requests from the user's"
    ]) {
      assert.strictEqual(classify({ message })._tag, "RateLimitError", message)
    }
  })

  it("ask for too much only with a limit that is less [T8 T35]", () => {
    const of = (message: string) => classify({ message, code: "rate_limit_exceeded" }, 429)
    for (const message of ["Limit 3000, Requested 4000", "limit: 3000, used: 10, requested: 4000"]) {
      const error = of(message)
      assert(error instanceof LlmError.ContextTooLongError)
      assert.deepStrictEqual([error.limit, error.actual], [3000, 4000])
    }
    for (const message of ["Limit 0, Requested 4000", "Limit 4000, Requested 4000", "sublimit 3000, requested 4000"]) {
      assert.strictEqual(of(message)._tag, "RateLimitError", message)
    }
    assert.strictEqual(of("The request too large for it")._tag, "ContextTooLongError")
  })

  it("have the size behind the limit, and no other number of tokens [T8]", () => {
    const error = classify({
      message:
        "You requested 5 tokens before. The maximum context length is 10 tokens, and you requested at least 25 tokens"
    })
    assert(error instanceof LlmError.ContextTooLongError)
    assert.deepStrictEqual([error.limit, error.actual], [10, 25])
  })
})

type Read = LlmError.Capability | "none"

const unsupported = (message: string) => ({ code: "unsupported_value", message })

/** Messages by the capability that they name; `none` is an invalid request. */
const capabilities: Readonly<Partial<Record<Read, ReadonlyArray<object>>>> = {
  tools: [
    { message: "Tool use is not supported" },
    { message: "A tool is not supported" },
    { message: "tools are not supported" },
    unsupported("It takes no function"),
    unsupported("It takes no tool_calls"),
    unsupported("Unsupported: 'tools'"),
    unsupported('Unsupported: "tool_choice"'),
    unsupported("Unsupported: `tools`")
  ],
  vision: [
    { message: "An image is not supported" },
    { message: "images are not supported" },
    { message: "It does not support images or files" },
    { message: "It does not support images while thinking, nor reasoning" },
    { message: "It does not support images in a chat" },
    { message: "It does not support image and audio" },
    { message: "This thinking model doesn't support images. It says: does not support images" }
  ],
  structuredOutput: [
    { message: "response_format x is not supported" },
    unsupported("Unsupported: 'response_format'"),
    unsupported("Unsupported: `response_format`"),
    unsupported("It takes no json_schema")
  ],
  streaming: [{ message: "streaming is not supported" }, unsupported("It cannot be streamed")],
  thinking: [
    { message: "It does not support reasoning" },
    { message: "It does not support thinking" },
    { message: "Thinking is not supported" },
    // what has hyphens is the name of a model
    unsupported("It does not support gpt-5 reasoning")
  ],
  chat: [{ message: "m does not support chat" }, { message: "m does not support chat, nor images" }],
  files: [
    { message: "m does not support file inputs" },
    { message: "m does not support files" },
    { message: "m does not support pdf" },
    { message: "m does not support documents of images" }
  ],
  other: [
    { message: "m does not support audio" },
    { message: "m does not support embeddings of images" },
    unsupported("Unsupported: 'messages[12].role'"),
    unsupported('Unsupported: "input[0].role"'),
    unsupported("Unsupported: `messages[3].role`")
  ],
  none: [
    unsupported("It does not support filesystems"),
    unsupported("It does not support chats"),
    unsupported("It does not support reasonings"),
    unsupported("It does not support more of the files"),
    unsupported("It has a chat and reasoning, files and audio"),
    unsupported("llava-vision-7b: no"),
    unsupported("a-b-vision: no"),
    unsupported("upstream toolset, rethinking and thinkings"),
    unsupported("tools_x"),
    unsupported("response.format"),
    unsupported("Unsupported: 'response_formats'"),
    unsupported("Unsupported: 'my_response_formats'"),
    unsupported("Unsupported: 'messages[x].role'"),
    unsupported("Unsupported: 'messages[0].roles'")
  ]
}

/** Refused fields of the request by the capability that they belong to, where the message says nothing. */
const fields: Readonly<Partial<Record<Read, ReadonlyArray<string>>>> = {
  tools: ["tools", "Tools[0].type", "tool_choice", "functions"],
  vision: ["image_url", "my_vision"],
  structuredOutput: ["response_format", "response_format.type", "text.format"],
  streaming: ["stream"],
  thinking: ["reasoning", "reasoning_effort", "reasoning.effort", "thinking", "think"],
  other: ["messages[0].role", "messages[12].role", "input.12.role", "contents.0.role"],
  none: [
    "my_tools",
    "toolset",
    "my_response_format",
    "response_formats",
    "my_stream",
    "stream_options",
    "my_thinking",
    "thinking_budget",
    "messages[0].roles",
    "messages.x.role",
    "messages[x].role",
    "model.messages[0].role",
    "messages[0].image_url",
    "model"
  ]
}

describe("a missing capability", () => {
  const rows = [
    ...Object.entries(capabilities).flatMap(([capability, errors]) => errors.map((error) => ({ error, capability }))),
    ...Object.entries(fields).flatMap(([capability, params]) =>
      params.map((param) => ({ error: { code: "unsupported_parameter", param, message: "no" }, capability }))
    )
  ]
  for (const { capability, error } of rows) {
    it(`${JSON.stringify(error)}: ${capability} [T8 T20]`, () => {
      const read = classify(error)
      assert.strictEqual(
        "capability" in read ? read.capability : read._tag,
        capability === "none" ? "InvalidRequestError" : capability
      )
    })
  }
})
