import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import { call, encode, messagesOf, plain, said, answered, source, text, thought } from "./_support/requests.ts"

const tool: Message.ToolSpec = {
  name: "weather",
  description: "Gets current weather for a location",
  parameters: { type: "object", properties: { latitude: { type: "string" } }, required: ["latitude"] }
}

describe("messages", () => {
  it("are turns of adjacent messages of one side, any text of them as JSON, below the texts of the system; blank ones are left out", () => {
    const odd = 'a"\\\n\u0000\u2028🙂\ud800'
    const messages = [
      Message.system("be brief"),
      Message.user(odd),
      Message.user([Message.text("b"), Message.text(" \n")]),
      Message.system(" \n"),
      Message.user(""),
      Message.assistant("c"),
      Message.assistant("d"),
      Message.assistant(""),
      Message.system("be kind"),
      Message.user("e")
    ]
    const body = {
      model: "claude-x",
      max_tokens: 8192,
      messages: [
        { role: "user", content: [text(odd), text("b")] },
        { role: "assistant", content: [text("c"), text("d")] },
        { role: "user", content: [text("e")] }
      ]
    }
    assert.deepStrictEqual(encode({ messages }), { ...body, system: [text("be brief"), text("be kind")] })
    const unruled = messages.filter(({ role }) => role !== "system")
    assert.deepStrictEqual(encode({ messages: [Message.system(""), ...unruled] }), body)
  })

  it("have the results of all calls in one turn of the user, before any text, each but a result with its flag and words [C1 C2]", () => {
    const kinds = ["told", "denied", "interrupted", "truncated", "unknown"] as const
    const failed = { content: "The call failed.", is_error: true }
    const rows = [
      [call("c1", { q: 1 }), "result", "one", { content: "one" }],
      [call("c2", '{"q":2}'), "told", "two failed", { content: "two failed", is_error: true }],
      [call("c3"), "result", "", { content: "" }],
      ...kinds.map((kind) => [call(kind), kind, " ", failed] as const)
    ] as const
    assert.deepStrictEqual(
      messagesOf(
        Message.user("go"),
        said(Message.text("let me see"), ...rows.map(([call, kind, text]) => answered(call, kind, text))),
        Message.user("and?")
      ),
      [
        { role: "user", content: [text("go")] },
        {
          role: "assistant",
          content: [
            text("let me see"),
            ...rows.map(([{ id }], at) => ({
              type: "tool_use",
              id,
              name: "search",
              input: [{ q: 1 }, { q: 2 }][at] ?? {}
            }))
          ]
        },
        {
          role: "user",
          content: [
            ...rows.map(([{ id }, , , result]) => ({ type: "tool_result", tool_use_id: id, ...result })),
            text("and?")
          ]
        }
      ]
    )
  })

  it("sends arguments back as an object, and a text that makes up none under a name of its own", () => {
    const inputOf = (args: Message.ToolCall["arguments"]) =>
      messagesOf(said(answered(call("c1", args))))[0].content[0].input
    for (const [args, input] of [
      [{ a: [1, null] }, { a: [1, null] }],
      ['{"a":"é"}', { a: "é" }],
      [null, {}],
      ["", {}],
      [" ", {}],
      ['{"a": 1,}', { INVALID_JSON: '{"a": 1,}' }],
      ["[1]", { INVALID_JSON: "[1]" }],
      // a mark of byte order is no JSON within a body
      ['\uFEFF{"a":1}', { a: 1 }],
      [[1], { INVALID_JSON: "[1]" }],
      [7, { INVALID_JSON: "7" }]
    ] as const) {
      assert.deepStrictEqual(inputOf(args), input)
    }
  })

  it("sends the model's own text of arguments byte for byte, and survives what nests deeper than the stack reaches", () => {
    const sent = (args: Message.ToolCall["arguments"]) =>
      AnthropicMessages.make(source).encode({ ...plain, messages: [said(answered(call("c1", args)))] }, "whole")
    assert.include(sent('{"n": 12345678901234567890,"é":1.0}'), '"input":{"n": 12345678901234567890,"é":1.0}')
    const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`
    assert.include(sent(deep), deep)
    assert.include(sent(JSON.parse(deep)), "nested too deeply")
  })
})

describe("images and files", () => {
  const png = Message.image("image/png", { data: "aGk=" })

  it("writes bytes and addresses of images and PDF, and texts as texts", () => {
    const user = Message.user([
      Message.text("look"),
      png,
      Message.image("image/png", { url: "https://example.org/a.png" }),
      Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
      Message.file("application/pdf", { url: "https://example.org/a.pdf" }),
      Message.file("text/markdown", { data: "IyBow6k=" }, "a.md")
    ])
    assert.deepStrictEqual(messagesOf(user)[0].content, [
      text("look"),
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "aGk=" }, title: "a.pdf" },
      { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "# hé" }, title: "a.md" }
    ])
  })

  it("refuses other files before anything is sent, and nothing else", () => {
    const { refuses } = AnthropicMessages.make(source)
    const refusal = (...content: Message.UserContent) =>
      refuses?.({ ...plain, messages: [Message.user("hi"), Message.user(content), Message.assistant("hm")] })
    for (const [file, why] of [
      [Message.file("application/zip", { data: "aGk=" }), "not application/zip"],
      [Message.file("x-text/plain", { data: "aGk=" }), "not x-text/plain"],
      [Message.file("x-application/json", { data: "aGk=" }), "not x-application/json"],
      [Message.file("application/json-seq", { data: "aGk=" }), "not application/json-seq"],
      [Message.file("text/plain", { url: "https://example.org/a.txt" }), "only PDF is fetched"],
      [Message.file("text/plain", { data: "?" }), "base64"]
    ] as const) {
      const refused = refusal(Message.text("read this"), file)
      assert.strictEqual(refused?._tag, "CapabilityMismatchError")
      assert.include(refused?.message, why)
    }
    for (const mediaType of ["application/json", "application/ld+json", "application/soap+xml"]) {
      assert.isUndefined(refusal(png, Message.file(mediaType, { data: "e30=" })), mediaType)
    }
    assert.isUndefined(refuses?.({ ...plain, tools: [tool], toolChoice: { tool: "weather" } }))
  })

  it("writes a text that is not in base64 unchanged, although such a request is refused", () => {
    const [document] = messagesOf(Message.user([Message.file("text/plain", { data: "plain, words" })]))[0].content
    assert.deepStrictEqual(document.source, { type: "text", media_type: "text/plain", data: "plain, words" })
  })
})

describe("tools", () => {
  it("are written in the form of the recorded requests, each schema as an object's, beside those of the provider", () => {
    const search = { type: "web_search_20250305", name: "web_search" }
    const $defs = { "a/b": { type: "object", properties: {} } }
    const named = { name: "n", description: "", parameters: { $ref: "#/$defs/a~1b", $defs } }
    const tools = [tool, { name: "t", description: "", parameters: {} }, named]
    assert.deepStrictEqual(encode({ tools }, { providerTools: [search] }).tools, [
      {
        name: "weather",
        description: "Gets current weather for a location",
        input_schema: { type: "object", properties: { latitude: { type: "string" } }, required: ["latitude"] }
      },
      { name: "t", input_schema: { type: "object" } },
      // a named schema is taken out of the definitions
      { name: "n", input_schema: { ...$defs["a/b"], $defs } },
      search
    ])
    assert.deepStrictEqual(encode({}, { providerTools: [search] }).tools, [search])
    assert.notProperty(encode({}), "tools")
  })

  it("writes a choice only where there are tools to choose from", () => {
    const choice = (toolChoice: Model.ToolChoice, parameters?: Parameters<typeof AnthropicMessages.make>[1]) =>
      encode({ tools: [tool], toolChoice }, parameters).tool_choice
    assert.isUndefined(choice("auto"))
    assert.deepStrictEqual(choice("none"), { type: "none" })
    assert.deepStrictEqual(choice("required"), { type: "any" })
    assert.deepStrictEqual(choice({ tool: "weather" }), { type: "tool", name: "weather" })
    assert.deepStrictEqual(choice("auto", { toolChoice: "required" }), { type: "any" })
    const single = { parallelToolCalls: false }
    assert.deepStrictEqual(choice("auto", single), { type: "auto", disable_parallel_tool_use: true })
    assert.deepStrictEqual(choice("required", single), { type: "any", disable_parallel_tool_use: true })
    assert.deepStrictEqual(choice("none", single), { type: "none" })
    assert.notProperty(encode({ toolChoice: "none" }, single), "tool_choice")
  })
})

describe("the rest of the body", () => {
  it("has the given parameters under the names of the wire, and how much to think, as a recorded budget or an effort [P1410]", () => {
    const { messages: _, ...body } = encode(
      {},
      {
        temperature: 0,
        topP: 0.5,
        topK: 3,
        maxTokens: 10,
        stop: ["x"],
        extra: { metadata: { user_id: "u" } }
      }
    )
    assert.deepStrictEqual(body, {
      model: "claude-x",
      max_tokens: 10,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ["x"],
      metadata: { user_id: "u" }
    })
    assert.isTrue(encode({}, {}, "streamed").stream)
    const asked = (parameters: Parameters<typeof AnthropicMessages.make>[1], request: Partial<Model.Request> = {}) => {
      const { max_tokens, output_config, thinking } = encode(request, parameters)
      return { max_tokens, output_config, thinking }
    }
    const budget = { type: "enabled", budget_tokens: 1024 }
    const none = { output_config: undefined, thinking: undefined }
    assert.deepStrictEqual(asked({ reasoning: { maxTokens: 1024 } }), { ...none, max_tokens: 9216, thinking: budget })
    assert.deepStrictEqual(asked({ reasoning: { maxTokens: 1024 }, maxTokens: 2048 }).max_tokens, 2048)
    assert.deepStrictEqual(asked({ reasoning: "high" }), {
      max_tokens: 32_000,
      output_config: { effort: "high" },
      thinking: { type: "adaptive" }
    })
    // the table of families decides what a model takes
    const foreign = [Message.user("go"), said(answered(call("c1")))]
    for (const request of [{ toolChoice: "required" as const }, { messages: foreign }]) {
      assert.deepStrictEqual(asked({ reasoning: { maxTokens: 1024 } }, { tools: [tool], ...request }).thinking, budget)
    }
    const off = { ...none, max_tokens: 8192, thinking: { type: "disabled" } }
    assert.deepStrictEqual(asked({ reasoning: "none" }), off)
    assert.deepStrictEqual(asked({ reasoning: { maxTokens: 0 } }), off)
    const shown = { extra: { thinking: { display: "summarized" } } }
    assert.deepStrictEqual(asked({ ...shown, reasoning: "low" }).thinking, { type: "adaptive", display: "summarized" })
    assert.deepStrictEqual(asked(shown).thinking, { display: "summarized" })
    for (const [includeThoughts, display] of [
      [true, "summarized"],
      [false, "omitted"]
    ] as const) {
      const of = (reasoning?: string | { readonly maxTokens: number }) =>
        asked({ includeThoughts, ...(reasoning === undefined ? {} : { reasoning }) }).thinking
      assert.deepStrictEqual(of("high"), { type: "adaptive", display })
      assert.deepStrictEqual(of({ maxTokens: 1024 }), { ...budget, display })
      assert.deepStrictEqual(of("none"), { type: "disabled" })
      assert.deepStrictEqual(of(), includeThoughts ? { type: "adaptive", display } : undefined)
    }
  })

  it("knows results of calls that were made without thoughts of this provider [P1410]", () => {
    const answersPlainCalls = AnthropicMessages.answersPlainCalls(source)
    const answers = (...messages: Message.Transcript) =>
      answersPlainCalls({ messages: [Message.user("go"), ...messages], tools: [], toolChoice: "auto" })
    const foreign = said(answered(call("c1")))
    const own = said(thought("hm", "s"), answered(call("c1")))
    const so = Message.assistant("so")
    const more = Message.user("and?")
    for (const plain of [
      [foreign],
      [foreign, more],
      [foreign, Message.system("Now.")],
      [foreign, Message.system("Now."), foreign],
      [so, foreign],
      [own, more, foreign],
      // thoughts at the end of a message are not sent
      [said(thought("hm", "s")), foreign]
    ]) {
      assert.isTrue(answers(...plain), JSON.stringify(plain))
    }
    const thoughtful: ReadonlyArray<Message.Transcript> = [
      [],
      [more],
      [so],
      [own],
      [own, more],
      // it need not think before each of its calls
      [own, foreign],
      [own, foreign, said(Message.text("so"), answered(call("c1")))],
      [own, foreign, Message.system("Now."), foreign, more],
      [so, own],
      [said(Message.text("so"), thought("hm", "s"), answered(call("c1")))],
      [foreign, own],
      [foreign, so],
      [foreign, so, more],
      [said(thought("hm", "s"), Message.text("so")), foreign],
      [{ ...said(thought("hm", "s")), paused: true }, foreign]
    ]
    for (const messages of thoughtful) assert.isFalse(answers(...messages), JSON.stringify(messages))
  })
})
