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
  it("writes the text of the system at the top, and the messages in turns", () => {
    const body = encode({
      messages: [Message.system("be brief"), Message.user("hi"), Message.assistant("hello"), Message.user("bye")]
    })
    assert.deepStrictEqual(body, {
      model: "claude-x",
      max_tokens: 8192,
      system: [text("be brief")],
      messages: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("hello")] },
        { role: "user", content: [text("bye")] }
      ]
    })
  })

  it("writes each system text separately, and leaves out blank ones", () => {
    const systemOf = (...texts: ReadonlyArray<string>) =>
      encode({ messages: [...texts.map((text) => Message.system(text)), Message.user("hi")] }).system
    assert.deepStrictEqual(systemOf("be brief", " \n", "be kind"), [text("be brief"), text("be kind")])
    assert.isUndefined(systemOf("", " "))
  })

  it("joins adjacent messages of one side, and leaves out blank ones", () => {
    assert.deepStrictEqual(
      messagesOf(
        Message.user("a"),
        Message.user([Message.text("b"), Message.text(" \n")]),
        Message.user(""),
        Message.assistant("c"),
        Message.assistant("d"),
        Message.assistant(""),
        Message.user("e")
      ),
      [
        { role: "user", content: [text("a"), text("b")] },
        { role: "assistant", content: [text("c"), text("d")] },
        { role: "user", content: [text("e")] }
      ]
    )
  })

  it("writes the results of all calls into one turn of the user, before any text, failures with their flag [C1]", () => {
    assert.deepStrictEqual(
      messagesOf(
        Message.user("go"),
        said(
          Message.text("let me see"),
          answered(call("c1", { q: 1 }), "result", "one"),
          answered(call("c2", '{"q":2}'), "told", "two failed")
        ),
        Message.user("and?")
      ),
      [
        { role: "user", content: [text("go")] },
        {
          role: "assistant",
          content: [
            text("let me see"),
            { type: "tool_use", id: "c1", name: "search", input: { q: 1 } },
            { type: "tool_use", id: "c2", name: "search", input: { q: 2 } }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "one" },
            { type: "tool_result", tool_use_id: "c2", content: "two failed", is_error: true },
            text("and?")
          ]
        }
      ]
    )
  })

  it("every settlement but a result carries the flag, and words [C2]", () => {
    const resultOf = (kind: Message.Settlement["kind"], text: string) =>
      messagesOf(said(answered(call("c1"), kind, text)))[1].content[0]
    for (const kind of ["told", "denied", "interrupted", "truncated", "unknown"] as const) {
      assert.deepInclude(resultOf(kind, "no rows"), { content: "no rows", is_error: true })
      assert.deepInclude(resultOf(kind, ""), { content: "The call failed.", is_error: true })
    }
    assert.deepStrictEqual(resultOf("result", ""), { type: "tool_result", tool_use_id: "c1", content: "" })
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

  it("writes any text as JSON, lone surrogates too", () => {
    const value = 'a"\\\n\u0000\u2028🙂\ud800'
    assert.strictEqual(messagesOf(Message.user(value))[0].content[0].text, value)
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
  it("writes them in the form of the recorded requests, beside those of the provider", () => {
    const search = { type: "web_search_20250305", name: "web_search" }
    assert.deepStrictEqual(encode({ tools: [tool] }, { providerTools: [search] }).tools, [
      {
        name: "weather",
        description: "Gets current weather for a location",
        input_schema: { type: "object", properties: { latitude: { type: "string" } }, required: ["latitude"] }
      },
      search
    ])
    assert.deepStrictEqual(encode({}, { providerTools: [search] }).tools, [search])
    assert.notProperty(encode({}), "tools")
  })

  it("writes that every schema is an object's, and takes a named one out of the definitions", () => {
    const schemaOf = (parameters: Message.ToolSpec["parameters"]) =>
      encode({ tools: [{ name: "t", description: "", parameters }] }).tools[0]
    assert.deepStrictEqual(schemaOf({}), { name: "t", input_schema: { type: "object" } })
    const $defs = { "a/b": { type: "object", properties: {} } }
    assert.deepStrictEqual(schemaOf({ $ref: "#/$defs/a~1b", $defs }).input_schema, { ...$defs["a/b"], $defs })
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
  it("sends the given parameters, under the names of the wire", () => {
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
  })

  it("writes how much to think: as a recorded budget, or as an effort", () => {
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

  it("writes the thinking that it is given: the table of families decides what a model takes [P1410]", () => {
    const foreign = [Message.user("go"), said(answered(call("c1")))]
    for (const request of [{ toolChoice: "required" as const }, { messages: foreign }]) {
      const { thinking } = encode({ tools: [tool], ...request }, { reasoning: { maxTokens: 1024 } })
      assert.deepStrictEqual(thinking, { type: "enabled", budget_tokens: 1024 })
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

  it("parameters that this format lacks do not compile", () => {
    // @ts-expect-error there is no seed
    AnthropicMessages.make(source, { seed: 7 })
    // @ts-expect-error the cache has no key
    AnthropicMessages.make(source, { promptCache: { key: "k" } })
  })
})
