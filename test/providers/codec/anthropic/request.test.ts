import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import { AnthropicMessages, type Source } from "@kintsugi/providers"
import type { Schema } from "effect"
import * as fc from "fast-check"

const source: Source.Source = { provider: "anthropic", model: "claude-x", secrets: [] }

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

/** The body of a request, as the server parses it. */
const encode = (
  request: Partial<Model.Request>,
  parameters?: AnthropicMessages.Parameters,
  mode: "whole" | "streamed" = "whole"
) => JSON.parse(AnthropicMessages.make(source, parameters).encode({ ...plain, ...request }, mode))

const messagesOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).messages

const call = (id: string, args: Message.ToolCall["arguments"] = {}): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: args
})

const settled = (
  toolCall: Message.ToolCall,
  kind: Message.SettlementKind = "result",
  text = "found"
): Message.SettledCall => ({ type: "settled-call", call: toolCall, settlement: { kind, text } })

const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const thought = (text: string, signature: string, provider = "anthropic"): Message.Reasoning => ({
  type: "reasoning",
  text,
  opaque: { provider, data: signature }
})

const item = (data: Schema.JsonObject, provider = "anthropic"): Message.ProviderItem => ({
  type: "provider-item",
  kind: String(data["type"]),
  opaque: { provider, data }
})

const sourcesOf = (...data: ReadonlyArray<Schema.Json>): Message.ProviderItem => ({
  type: "provider-item",
  kind: "citations",
  opaque: { provider: "anthropic", data }
})

const text = (value: string) => ({ type: "text", text: value })

const tool: Message.ToolSpec = {
  name: "weather",
  description: "Gets current weather for a location",
  parameters: { type: "object", properties: { latitude: { type: "string" } }, required: ["latitude"] }
}

describe("messages", () => {
  it("writes the text of the system at the top, and what the sides said in turns", () => {
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

  it("writes each text of the system by itself, and leaves out what is blank", () => {
    const systemOf = (...texts: ReadonlyArray<string>) =>
      encode({ messages: [...texts.map((text) => Message.system(text)), Message.user("hi")] }).system
    assert.deepStrictEqual(systemOf("be brief", " \n", "be kind"), [text("be brief"), text("be kind")])
    assert.isUndefined(systemOf("", " "))
  })

  it("makes one turn of what one side says in several messages, and leaves out what is blank", () => {
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
          settled(call("c1", { q: 1 }), "result", "one"),
          settled(call("c2", '{"q":2}'), "told", "two failed")
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
    const resultOf = (kind: Message.SettlementKind, text: string) =>
      messagesOf(said(settled(call("c1"), kind, text)))[1].content[0]
    for (const kind of ["told", "denied", "interrupted", "truncated", "unknown"] as const) {
      assert.deepInclude(resultOf(kind, "no rows"), { content: "no rows", is_error: true })
      assert.deepInclude(resultOf(kind, ""), { content: "The call failed.", is_error: true })
    }
    assert.deepStrictEqual(resultOf("result", ""), { type: "tool_result", tool_use_id: "c1", content: "" })
  })

  it("sends arguments back as an object, and a text that makes up none under a name of its own", () => {
    const inputOf = (args: Message.ToolCall["arguments"]) =>
      messagesOf(said(settled(call("c1", args))))[0].content[0].input
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
      AnthropicMessages.make(source).encode({ ...plain, messages: [said(settled(call("c1", args)))] }, "whole")
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

describe("what only this provider can read", () => {
  it("sends thoughts back unchanged and in their order, and a call with what it came with", () => {
    const search: Schema.JsonObject = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } }
    const found: Schema.JsonObject = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }
    const redacted: Schema.JsonObject = { type: "redacted_thinking", data: "EmwK" }
    const caller = { caller: { type: "code_execution_20250825", tool_id: "s1" } }
    assert.deepStrictEqual(
      messagesOf(
        said(
          thought("first", "sig-1"),
          item(redacted),
          item(search),
          item(found),
          Message.text("so"),
          sourcesOf({ type: "char_location", cited_text: "x" }),
          thought("", "sig-2"),
          settled({ ...call("c1"), opaque: { provider: "anthropic", data: caller } })
        )
      )[0].content,
      [
        { type: "thinking", thinking: "first", signature: "sig-1" },
        redacted,
        search,
        found,
        { type: "text", text: "so", citations: [{ type: "char_location", cited_text: "x" }] },
        { type: "thinking", thinking: "", signature: "sig-2" },
        { type: "tool_use", ...caller, id: "c1", name: "search", input: {} }
      ]
    )
  })

  it("leaves out the thoughts and items of others, and thoughts that nobody signed [P1002]", () => {
    assert.deepStrictEqual(
      messagesOf(
        said(
          thought("theirs", "reasoning_content", "deepseek"),
          { type: "reasoning", text: "nobody's" },
          { type: "reasoning", text: "cut off", opaque: { provider: "anthropic", data: null } },
          item({ type: "web_search_call" }, "openai"),
          Message.text("4"),
          { ...sourcesOf("x"), opaque: { provider: "perplexity", data: ["x"] } },
          settled({ ...call("c1"), opaque: { provider: "gemini", data: { thoughtSignature: "x" } } })
        )
      )[0].content,
      [text("4"), { type: "tool_use", id: "c1", name: "search", input: {} }]
    )
  })

  it("rewrites ids of other forms, and ids that come again, in the call as in its result [P1002]", () => {
    const turn = (...ids: ReadonlyArray<string>) => said(...ids.map((id) => settled(call(id))))
    const messages = [
      turn("functions.search:0", "functions.search:1"),
      turn("functions.search:0"),
      turn("toolu_01A", "", "")
    ]
    const contents = messagesOf(...messages).map(({ content }: { content: ReadonlyArray<Record<string, string>> }) =>
      content.map((block) => block["id"] ?? block["tool_use_id"])
    )
    const [first, second, third] = [
      ["functions_search_0", "functions_search_1"],
      ["functions_search_0_2"],
      ["toolu_01A", "call", "call_2"]
    ]
    assert.deepStrictEqual(contents, [first, first, second, second, third, third])
  })

  it("every id is of the wire's form and stands once, whatever came before [P1002]", () => {
    const ids = fc.array(fc.oneof(fc.constantFrom("a", "a:", "a_2", "a_", "", "é"), fc.string()), { maxLength: 30 })
    fc.assert(
      fc.property(ids, (ids) => {
        const messages = ids.map((id) => said(settled(call(id))))
        const blocks: ReadonlyArray<Record<string, string>> = messagesOf(...messages).flatMap(
          ({ content }: { content: ReadonlyArray<unknown> }) => content
        )
        const used = blocks.flatMap(({ id }) => (id === undefined ? [] : [id]))
        const answered = blocks.flatMap(({ tool_use_id: id }) => (id === undefined ? [] : [id]))
        assert.strictEqual(used.length, ids.length)
        assert.strictEqual(new Set(used).size, ids.length)
        assert.deepStrictEqual(answered, used)
        for (const id of used) assert.match(id, /^[a-zA-Z0-9_-]+$/)
      })
    )
  })

  it("sends a paused reply back as it is, and what never ended only while it may still end", () => {
    const search: Schema.JsonObject = { type: "server_tool_use", id: "s1", name: "web_search", input: {} }
    const paused: Message.Assistant = { ...said(Message.text("a"), item(search)), paused: true }
    const found = item({ type: "web_search_tool_result", tool_use_id: "s1", content: [] })
    const contentOf = (...messages: ReadonlyArray<Message.Message>) =>
      messagesOf(Message.user("go"), ...messages)[1].content
    assert.deepStrictEqual(contentOf(paused), [text("a"), search])
    assert.deepStrictEqual(contentOf(paused, said(found)), [text("a"), search, found.opaque.data])
    assert.deepStrictEqual(contentOf(paused, Message.user("stop")), [text("a")])
    assert.deepStrictEqual(contentOf({ ...paused, content: [...paused.content, settled(call("c1"))] }).length, 3)
    assert.deepStrictEqual(contentOf(said(Message.text("a"), item(search))), [text("a")])
    const calling = said(item(search), settled(call("c1")))
    assert.deepStrictEqual(contentOf(calling, Message.user("stop"))[0], search)
  })

  it("lets no turn that is over end with thoughts, shown or not", () => {
    const redacted = item({ type: "redacted_thinking", data: "EmwK" })
    for (const last of [thought("hm", "s"), redacted]) {
      assert.deepStrictEqual(messagesOf(said(Message.text("a"), last))[0].content, [text("a")])
      assert.lengthOf(messagesOf(said(last, Message.text("a")))[0].content, 2)
    }
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

  it("writes a text that is not in base64 as it is, for whoever asks although it is refused", () => {
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

  it("says of every schema that it is an object's, and takes a named one out of the definitions", () => {
    const schemaOf = (parameters: Message.ToolSpec["parameters"]) =>
      encode({ tools: [{ name: "t", description: "", parameters }] }).tools[0]
    assert.deepStrictEqual(schemaOf({}), { name: "t", input_schema: { type: "object" } })
    const $defs = { "a/b": { type: "object", properties: {} } }
    assert.deepStrictEqual(schemaOf({ $ref: "#/$defs/a~1b", $defs }).input_schema, { ...$defs["a/b"], $defs })
  })

  it("writes a choice only where there are tools to choose from", () => {
    const choice = (toolChoice: Model.ToolChoice, parameters?: AnthropicMessages.Parameters) =>
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

describe("the output", () => {
  const formatOf = (schema: Model.OutputSpec["schema"], parameters?: AnthropicMessages.Parameters) =>
    encode({ output: { name: "report", schema } }, parameters).output_config

  it("goes as output_config in the provider's dialect, what it does not know in words [P301]", () => {
    const schema: Model.OutputSpec["schema"] = {
      type: "object",
      $schema: "x",
      properties: {
        name: { type: "string", description: "Its name.", minLength: 2, allOf: [{ pattern: "^a" }] },
        at: { type: "string", format: "date-time" },
        odd: { type: "string", format: "regex" },
        count: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: 5 },
        tags: { type: "array", items: { $ref: "#/$defs/Tag" }, minItems: 1 },
        either: { oneOf: [{ type: "null" }, { type: "object", properties: {} }] }
      },
      required: ["name"],
      additionalProperties: false,
      $defs: { Tag: { type: "string", enum: ["a"] } }
    }
    assert.deepStrictEqual(formatOf(schema), {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            name: { type: "string", description: 'Its name.\n\n{"pattern":"^a","minLength":2}' },
            at: { type: "string", format: "date-time" },
            odd: { type: "string", description: '{"format":"regex"}' },
            count: { type: "integer", description: '{"maximum":5}' },
            tags: { type: "array", items: { $ref: "#/$defs/Tag" }, minItems: 1 },
            either: { anyOf: [{ type: "null" }, { type: "object", properties: {}, additionalProperties: false }] }
          },
          required: ["name"],
          additionalProperties: false,
          $defs: { Tag: { type: "string", enum: ["a"] } }
        }
      }
    })
  })

  it("says every shape, format and constraint either in the dialect or in words, and leaves out what says nothing [P301]", () => {
    const ofField = (field: Schema.JsonObject) => {
      const schema = formatOf({ type: "object", properties: { a: field } })?.format?.schema
      return schema?.properties.a
    }
    const formats = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]
    for (const said of [
      { type: "string", title: "A" },
      { enum: ["a", "b"] },
      { const: "a" },
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "array", items: { type: "string" }, minItems: 0 },
      { type: "array", items: { type: "string" }, minItems: 1 },
      ...formats.map((format) => ({ type: "string", format }))
    ]) {
      assert.deepStrictEqual(ofField(said), said)
    }
    const constraints: Schema.JsonObject = {
      format: "regex",
      pattern: "^a",
      minLength: 1,
      maxLength: 2,
      minimum: 1,
      maximum: 2,
      exclusiveMinimum: 0,
      exclusiveMaximum: 3,
      multipleOf: 2,
      minItems: 2,
      maxItems: 3,
      uniqueItems: true,
      minProperties: 1,
      maxProperties: 2,
      default: "a"
    }
    for (const [name, value] of Object.entries(constraints)) {
      const told = { type: "string", description: JSON.stringify({ [name]: value }) }
      assert.deepStrictEqual(ofField({ type: "string", [name]: value }), told)
      assert.deepStrictEqual(ofField({ type: "string", allOf: [{ [name]: value }] }), told)
    }
    const nothing = { $schema: "s", $comment: "c", $id: "i", examples: ["a"] }
    assert.deepStrictEqual(ofField({ type: "string", ...nothing, allOf: [nothing, null] }), { type: "string" })
    const every = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    assert.deepStrictEqual(ofField({ type: "integer", ...every }), { type: "integer" })
    const empty = { type: "object", properties: {}, additionalProperties: false }
    for (const more of [{ additionalProperties: false }, { properties: null }]) {
      assert.deepStrictEqual(ofField({ type: "object", ...more }), empty)
    }
  })

  it("follows what refers to a definition, and finds the one that contains itself [P301]", () => {
    const root = (a: Schema.JsonObject, $defs: Schema.JsonObject) => ({ type: "object", properties: { a }, $defs })
    const text = { type: "string" }
    const twice = { anyOf: [{ $ref: "#/$defs/T" }, { $ref: "#/$defs/T" }] }
    assert.isDefined(formatOf(root(twice, { T: text })))
    for (const [name, pointer] of [
      ["a/b", "a~1b"],
      ["a~b", "a~0b"],
      ["a b", "a%20b"],
      ["a%b", "a%b"]
    ] as const) {
      const itself = { type: "object", properties: { kid: { $ref: `#/$defs/${pointer}` } } }
      assert.isUndefined(formatOf(root({ $ref: `#/$defs/${pointer}` }, { [name]: itself })), name)
      assert.isDefined(formatOf(root({ $ref: `#/$defs/${pointer}` }, { [name]: text })), name)
    }
    const late = { anyOf: [text, { $ref: "#" }] }
    assert.isUndefined(formatOf(root(late, {})))
    // each is looked at once, or nobody would see the end of it
    const pairs = Array.from({ length: 40 }, (_, at): readonly [string, Schema.JsonObject] => {
      const next = at === 39 ? text : { $ref: `#/$defs/D${at + 1}` }
      return [`D${at}`, { type: "object", properties: { a: next, b: next } }]
    })
    assert.isDefined(formatOf(root({ $ref: "#/$defs/D0" }, Object.fromEntries(pairs))))
  })

  it("is left out where the dialect cannot say it, and where the user says otherwise [P301]", () => {
    const object = (properties: Schema.JsonObject, more: Schema.JsonObject = {}) => ({
      type: "object",
      properties,
      ...more
    })
    const tree = object({ kids: { type: "array", items: { $ref: "#/$defs/T" } } })
    for (const schema of [
      { type: "array", items: { type: "string" } },
      object({ record: { type: "object", additionalProperties: { type: "string" } } }),
      object({ anything: {} }),
      object({ pair: { type: "array", prefixItems: [{ type: "string" }] } }),
      object({ all: { allOf: [{ type: "string" }] } }),
      object({ all: { type: "string", allOf: [{ minLength: 1 }, { minLength: 1, type: "string" }] } }),
      object({ none: { title: "A" } }),
      object({ truth: true }),
      object({ nothing: null }),
      object({ list: { type: "array", items: {} } }),
      object({ one: { anyOf: [{ type: "string" }, {}] } }),
      object({ one: { oneOf: [{ type: "string" }, {}] } }),
      object({ open: { type: "object", additionalProperties: true } }),
      object({ other: { type: "string", contentEncoding: false } }),
      object({}, { $defs: { T: {} } }),
      object({ self: { $ref: "#" } }),
      object({ tree: { $ref: "#/$defs/T" } }, { $defs: { T: tree } })
    ]) {
      assert.isUndefined(formatOf(schema), JSON.stringify(schema))
    }
    const own = { type: "json_schema", schema: { type: "object" } }
    assert.deepStrictEqual(formatOf(object({}), { extra: { output_config: { format: own } } }), { format: own })
    assert.strictEqual(formatOf(object({}), { reasoning: "low" }).effort, "low")
  })
})

describe("the rest of the body", () => {
  it("sends what was set, under the names of the wire, and nothing in the place of its own", () => {
    const { messages: _, ...body } = encode(
      {},
      {
        temperature: 0,
        topP: 0.5,
        topK: 3,
        maxTokens: 10,
        stop: ["x"],
        extra: {
          metadata: { user_id: "u" },
          messages: "never",
          model: "never",
          stream: true,
          system: "never",
          tools: []
        }
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

  it("says how much to think: by a budget as it was recorded, or by an effort", () => {
    const asked = (parameters: AnthropicMessages.Parameters, request: Partial<Model.Request> = {}) => {
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
    const shown = { extra: { thinking: { type: "never", display: "summarized" } } }
    assert.deepStrictEqual(asked({ ...shown, reasoning: "low" }).thinking, { type: "adaptive", display: "summarized" })
    assert.deepStrictEqual(asked(shown).thinking, { type: "never", display: "summarized" })
  })

  it("leaves out thinking where it would be refused: beside a forced call, and a budget within calls made without it", () => {
    const thinks = (reasoning: "high" | { readonly maxTokens: number }, request: Partial<Model.Request>) =>
      "thinking" in encode({ tools: [tool], ...request }, { reasoning })
    const budget = { maxTokens: 1024 }
    assert.isFalse(thinks(budget, { toolChoice: "required" }))
    assert.isFalse(thinks("high", { toolChoice: { tool: "weather" } }))
    assert.isTrue(thinks("high", { toolChoice: "none" }))
    assert.isTrue("thinking" in encode({ tools: [tool], toolChoice: "required" }, { reasoning: "none" }))
    const foreign = [Message.user("go"), said(settled(call("c1")))]
    assert.isFalse(thinks(budget, { messages: foreign }))
    assert.isFalse(thinks(budget, { messages: [...foreign, Message.user("and?")] }))
    assert.isTrue(thinks("high", { messages: foreign }))
    assert.isTrue(thinks(budget, { messages: [...foreign, Message.assistant("so"), Message.user("and?")] }))
    assert.isTrue(thinks(budget, { messages: [Message.user("go"), said(thought("hm", "s"), settled(call("c1")))] }))
  })

  it("what this format has no word for does not compile", () => {
    // @ts-expect-error there is no seed
    AnthropicMessages.make(source, { seed: 7 })
    // @ts-expect-error the cache has no key
    AnthropicMessages.make(source, { promptCache: { key: "k" } })
  })
})
