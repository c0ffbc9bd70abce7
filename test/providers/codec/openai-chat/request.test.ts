import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type { Schema } from "effect"
import { call, encode, plain, answered, source, tool } from "./_support/requests.ts"

const messagesOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).messages

describe("messages", () => {
  it("writes system, user and assistant messages in order", () => {
    assert.deepStrictEqual(messagesOf(Message.system("be brief"), Message.user("hi"), Message.assistant("hello")), [
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" }
    ])
  })

  it("writes a user message of several parts as parts, and one without any as an empty text", () => {
    assert.deepStrictEqual(messagesOf({ role: "user", content: [Message.text("a"), Message.text("b")] }), [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ]
      }
    ])
    assert.deepStrictEqual(messagesOf({ role: "user", content: [] }), [{ role: "user", content: "" }])
  })

  it("writes one result per call, right after the message that made them, in the order of the calls [C1]", () => {
    const assistant: Message.Assistant = {
      role: "assistant",
      content: [
        Message.text("let me see"),
        answered(call("c1", '{"q":1}'), "result", "one"),
        answered(call("c2", '{"q":2}'), "told", "ERROR: two failed")
      ]
    }
    assert.deepStrictEqual(messagesOf(Message.user("go"), assistant, Message.user("and?")), [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "let me see",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "search", arguments: '{"q":1}' } },
          { id: "c2", type: "function", function: { name: "search", arguments: '{"q":2}' } }
        ]
      },
      { role: "tool", tool_call_id: "c1", content: "one" },
      { role: "tool", tool_call_id: "c2", content: "ERROR: two failed" },
      { role: "user", content: "and?" }
    ])
  })

  it("writes null for the text of a message that has calls only, and leaves out one that has nothing", () => {
    const calling: Message.Assistant = { role: "assistant", content: [answered(call("c1", "{}"), "result", "")] }
    assert.deepStrictEqual(messagesOf(Message.assistant(" \n")), [])
    assert.deepStrictEqual(
      messagesOf(calling, { role: "assistant", content: [] }).map(({ content }: { content: unknown }) => content),
      [null, ""]
    )
  })

  it("a failed call differs from a successful one with the same text; texts of errors stay as they are [C2]", () => {
    const contentOf = (kind: Message.Settlement["kind"], text: string) =>
      messagesOf({ role: "assistant", content: [answered(call("c1", "{}"), kind, text)] })[1].content
    assert.strictEqual(contentOf("result", "no rows"), "no rows")
    for (const kind of ["told", "denied", "interrupted", "truncated", "unknown"] as const) {
      assert.strictEqual(contentOf(kind, "no rows"), "ERROR: no rows")
    }
    for (const failure of ["ERROR: a", "transient: a; safe to retry", "permanent: a", "unknown tool: x. Known: y"]) {
      assert.strictEqual(contentOf("told", failure), failure)
    }
    assert.strictEqual(contentOf("told", "an ERROR: a"), "ERROR: an ERROR: a")
  })

  it("sends arguments back byte for byte, also those that are no JSON", () => {
    const argumentsOf = (args: Message.ToolCall["arguments"]) =>
      messagesOf({ role: "assistant", content: [answered(call("c1", args), "told", "x")] })[0].tool_calls[0].function
        .arguments
    for (const text of ['{"a": 1,}', "", " { } ", "nonsense", '{"a":"\\u00e9é"}']) {
      assert.strictEqual(argumentsOf(text), text)
    }
    assert.strictEqual(argumentsOf({ a: [1, null] }), '{"a":[1,null]}')
    assert.strictEqual(argumentsOf(null), "{}")
  })

  it("sends reasoning back to its provider, under its own name, and to no other", () => {
    const thinking = (provider: string): Message.Assistant => ({
      role: "assistant",
      content: [{ type: "reasoning", text: "hmm", opaque: { provider, data: "reasoning_content" } }, Message.text("4")]
    })
    assert.deepStrictEqual(messagesOf(thinking("openai"), thinking("deepseek")), [
      { role: "assistant", content: "4", reasoning_content: "hmm" },
      { role: "assistant", content: "4" }
    ])
  })

  it("sends back no items but details of reasoning, and of these only lists", () => {
    const item = (kind: string, data: Message.Opaque["data"]): Message.ProviderItem => ({
      type: "provider-item",
      kind,
      opaque: { provider: "openai", data }
    })
    const details = [{ type: "reasoning.text", text: "hm" }]
    assert.deepStrictEqual(
      messagesOf({
        role: "assistant",
        content: [
          Message.text("4"),
          item("search", "ws_1"),
          item("annotations", [{ type: "url_citation" }]),
          item("reasoning_details", null),
          item("reasoning_details", details)
        ]
      }),
      [{ role: "assistant", content: "4", reasoning_details: details }]
    )
  })

  it("writes any text as JSON, lone surrogates too", () => {
    const text = 'a"\\\n\u0000\u2028🙂\ud800'
    assert.strictEqual(messagesOf(Message.user(text))[0].content, text)
  })
})

describe("images and files", () => {
  const png = Message.image("image/png", { data: "aGk=" })

  it("writes images, and files whose bytes are given, as parts", () => {
    const user = Message.user([
      Message.text("look"),
      png,
      Message.image("image/png", { url: "https://example.org/a.png" }),
      Message.file("application/pdf", { data: "aGk=" }, "a.pdf")
    ])
    assert.deepStrictEqual(messagesOf(user, Message.user([png])), [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          { type: "image_url", image_url: { url: "https://example.org/a.png" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } }
        ]
      },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }] }
    ])
  })

  it("gives a file without a name one, as the wire demands it", () => {
    const [file] = messagesOf(Message.user([Message.file("application/pdf", { data: "aGk=" })]))[0].content
    assert.deepStrictEqual(file.file, { filename: "file", file_data: "data:application/pdf;base64,aGk=" })
  })

  it("refuses a file at an address, and nothing else", () => {
    const { refuses } = OpenAiChat.make(source)
    const file = Message.file("application/pdf", { url: "https://example.org/a.pdf" })
    const refusal = refuses?.({ ...plain, messages: [Message.user("hi"), Message.user([file])] })
    assert.strictEqual(refusal?._tag, "CapabilityMismatchError")
    assert.include(refusal?.message, "only its bytes")
    const bytes = Message.file("application/pdf", { data: "aGk=" })
    assert.isUndefined(refuses?.({ ...plain, messages: [Message.user([png, bytes]), Message.assistant("hm")] }))
  })
})

describe("the output", () => {
  const output: Model.OutputSpec = { name: "report writer", schema: { type: "object", properties: {} } }

  it("goes as response_format, under a name that the wire takes [P301]", () => {
    assert.deepStrictEqual(encode({ output }).response_format, {
      type: "json_schema",
      json_schema: { name: "report_writer", schema: { type: "object", properties: {} } }
    })
    assert.strictEqual(
      encode({ output: { ...output, name: "é".repeat(80) } }).response_format.json_schema.name.length,
      64
    )
    assert.notProperty(encode({}), "response_format")
  })

  it("is left out if it is not an object, and if the user sets a format [P301]", () => {
    assert.notProperty(encode({ output: { name: "list", schema: { type: "array" } } }), "response_format")
    const extra = { response_format: { type: "json_object" } }
    assert.deepStrictEqual(encode({ output }, { extra }).response_format, { type: "json_object" })
  })
})

describe("the rest of the body", () => {
  it("sends no parameter that is not given", () => {
    assert.deepStrictEqual(encode({}), { model: "gpt-x", messages: [{ role: "user", content: "hi" }] })
  })

  it("sends the given parameters, under the names of the wire", () => {
    const body = encode(
      {},
      {
        temperature: 0,
        topP: 0.5,
        maxTokens: 10,
        stop: ["x"],
        seed: 7,
        reasoning: "low",
        promptCache: { key: "k" },
        extra: { user: "u" }
      }
    )
    const { messages: _, ...others } = body
    assert.deepStrictEqual(others, {
      model: "gpt-x",
      temperature: 0,
      top_p: 0.5,
      max_completion_tokens: 10,
      stop: ["x"],
      seed: 7,
      reasoning_effort: "low",
      prompt_cache_key: "k",
      user: "u"
    })
    assert.isArray(body.messages)
  })

  it("says whether one reply may call several tools, beside tools alone [P1416]", () => {
    const asked = { parallelToolCalls: false }
    assert.notProperty(encode({}, asked), "parallel_tool_calls")
    assert.notProperty(encode({ tools: [tool] }), "parallel_tool_calls")
    for (const mode of ["whole", "streamed"] as const) {
      assert.isFalse(encode({ tools: [tool] }, asked, mode).parallel_tool_calls)
      assert.isTrue(encode({ tools: [tool] }, { parallelToolCalls: true }, mode).parallel_tool_calls)
    }
    const extra = { parallel_tool_calls: true }
    assert.isTrue(encode({ tools: [tool] }, { ...asked, extra }).parallel_tool_calls)
  })

  it("knows the older name for the longest reply", () => {
    const codec = OpenAiChat.make(source, { maxTokens: 10 }, { maxTokensField: "max_tokens" })
    assert.strictEqual(JSON.parse(codec.encode(plain, "whole")).max_tokens, 10)
  })

  it("sends no option whose field the user sets under its other name", () => {
    const of = (extra: Schema.JsonObject, dialect: OpenAiChat.Dialect = {}) => {
      const codec = OpenAiChat.make(source, { maxTokens: 10, seed: 7, extra }, dialect)
      const { messages: _m, model: _n, ...others } = JSON.parse(codec.encode(plain, "whole"))
      return others
    }
    const older = { maxTokensField: "max_tokens", seedField: "random_seed" } as const
    assert.deepStrictEqual(of({}), { max_completion_tokens: 10, seed: 7 })
    assert.deepStrictEqual(of({}, older), { max_tokens: 10, random_seed: 7 })
    for (const extra of [
      { max_tokens: 9, random_seed: 8 },
      { max_completion_tokens: 9, seed: 8 }
    ]) {
      assert.deepStrictEqual(of(extra), extra)
      assert.deepStrictEqual(of(extra, older), extra)
    }
  })

  it("requests usage when it streams, and has no option of streams when it does not", () => {
    assert.deepStrictEqual(encode({}, {}, "streamed").stream_options, { include_usage: true })
    assert.isTrue(encode({}, {}, "streamed").stream)
    assert.notProperty(encode({}), "stream")
  })

  it("sends tools, and a choice among them only where there are any", () => {
    assert.deepStrictEqual(encode({ tools: [tool] }).tools, [
      { type: "function", function: { name: "search", description: "Searches.", parameters: { type: "object" } } }
    ])
    const choice = (toolChoice: Model.ToolChoice) => encode({ tools: [tool], toolChoice }).tool_choice
    assert.strictEqual(choice("auto"), undefined)
    assert.strictEqual(choice("none"), "none")
    assert.strictEqual(choice("required"), "required")
    assert.deepStrictEqual(choice({ tool: "search" }), { type: "function", function: { name: "search" } })
    assert.deepStrictEqual(Object.keys(encode({ toolChoice: "none" })), ["model", "messages"])
  })

  it("sends tools of the provider beside ours, or alone", () => {
    const search = { type: "web_search", user_location: null }
    const providerTools = [search]
    assert.deepStrictEqual(encode({}, { providerTools }).tools, [search])
    assert.deepStrictEqual(encode({ tools: [tool] }, { providerTools }).tools.slice(1), [search])
  })

  it("sends parameters with an object at their root, also where that has a name, and others as they are", () => {
    const parametersOf = (parameters: Message.ToolSpec["parameters"]) =>
      encode({ tools: [{ ...tool, parameters }] }).tools[0].function.parameters
    const search = { type: "object", properties: { q: { type: "string" } } }
    const $defs = { Search: search }
    assert.deepStrictEqual(parametersOf({ $ref: "#/$defs/Search", $defs }), { ...search, $defs })
    assert.deepStrictEqual(parametersOf({ type: "array" }), { type: "array" })
  })
})

describe("the beginning of a reply", () => {
  const continuation = { field: "prefix", reply: "rest" } as const
  const bodyOf = (...messages: ReadonlyArray<Message.Message>) =>
    JSON.parse(OpenAiChat.make(source, {}, { continuation }).encode({ ...plain, messages }, "whole")).messages

  it("is the last message, with its text alone and the mark of the dialect [P1560]", () => {
    const content = [{ type: "reasoning", text: "hm" } as const, Message.text("grü"), Message.text("ße")]
    const begun = { role: "assistant", content, incomplete: true } as const
    const sent = { role: "assistant", content: "grüße", prefix: true }
    assert.deepStrictEqual(bodyOf(begun), [sent])
    assert.deepStrictEqual(bodyOf(Message.user("go"), begun), [{ role: "user", content: "go" }, sent])
  })

  it("is not a message that has ended, nor one before the last [P1560]", () => {
    const ended = Message.assistant("grüße")
    const sent = { role: "assistant", content: "grüße" }
    assert.deepStrictEqual(bodyOf(ended), [sent])
    assert.deepStrictEqual(bodyOf({ ...ended, incomplete: true }, Message.user("go")), [
      sent,
      { role: "user", content: "go" }
    ])
  })
})

describe("the cached encoding", () => {
  it("repeats the same text, the part before new messages unchanged", () => {
    const codec = OpenAiChat.make(source)
    const messages = [Message.system("a"), Message.user("b")]
    const first = codec.encode({ ...plain, messages }, "whole")
    const second = codec.encode({ ...plain, messages: [...messages, Message.assistant("c")] }, "whole")
    assert.isTrue(second.startsWith(first.slice(0, -2)))
  })
})
