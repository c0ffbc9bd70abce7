import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type { Schema } from "effect"
import { call, encode, plain, answered, source, tool } from "./_support/requests.ts"

type Asked = Exclude<Parameters<typeof OpenAiChat.make>[1], undefined>

const messagesOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).messages

const png = Message.image("image/png", { data: "aGk=" })

const wireText = (text: string) => ({ type: "text", text })

const wireImage = (url: string) => ({ type: "image_url", image_url: { url } })

const wireFile = (filename: string) => ({
  type: "file",
  file: { filename, file_data: "data:application/pdf;base64,aGk=" }
})

const wireCall = (id: string, args: string) => ({
  id,
  type: "function",
  function: { name: "search", arguments: args }
})

const item = (kind: string, data: Message.Opaque["data"]): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider: "openai", data }
})

const thought = (provider: string) =>
  ({ type: "reasoning", text: "hmm", opaque: { provider, data: "reasoning_content" } }) as const

const strange = 'a"\\\n\u0000\u2028🙂\ud800'

const details = [{ type: "reasoning.text", text: "hm" }]

const assistant = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const rows: Readonly<
  Record<string, readonly [messages: ReadonlyArray<Message.Message>, ...wire: ReadonlyArray<unknown>]>
> = {
  "system, user and assistant messages in order": [
    [Message.system("be brief"), Message.user("hi"), Message.assistant("hello")],
    { role: "system", content: "be brief" },
    { role: "user", content: "hi" },
    { role: "assistant", content: "hello" }
  ],
  "any text as JSON, lone surrogates too": [[Message.user(strange)], { role: "user", content: strange }],
  "a user message of several parts as parts, and one without any as an empty text": [
    [
      Message.user([Message.text("a"), Message.text("b")]),
      Message.user([
        Message.text("look"),
        png,
        Message.image("image/png", { url: "https://example.org/a.png" }),
        Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
        Message.file("application/pdf", { data: "aGk=" })
      ]),
      Message.user([png]),
      { role: "user", content: [] }
    ],
    { role: "user", content: [wireText("a"), wireText("b")] },
    {
      role: "user",
      content: [
        wireText("look"),
        wireImage("data:image/png;base64,aGk="),
        wireImage("https://example.org/a.png"),
        wireFile("a.pdf"),
        // the wire demands a name
        wireFile("file")
      ]
    },
    { role: "user", content: [wireImage("data:image/png;base64,aGk=")] },
    { role: "user", content: "" }
  ],
  "one result per call, right after the message that made them, in the order of the calls [C1]": [
    [
      Message.user("go"),
      assistant(
        Message.text("let me see"),
        answered(call("c1", '{"q":1}'), "result", "one"),
        answered(call("c2", '{"q":2}'), "told", "two failed")
      ),
      Message.user("and?")
    ],
    { role: "user", content: "go" },
    { role: "assistant", content: "let me see", tool_calls: [wireCall("c1", '{"q":1}'), wireCall("c2", '{"q":2}')] },
    { role: "tool", tool_call_id: "c1", content: "one" },
    { role: "tool", tool_call_id: "c2", content: "ERROR: two failed" },
    { role: "user", content: "and?" }
  ],
  "null for the text of a message that has calls only, and nothing for one that has nothing": [
    [Message.assistant(" \n"), assistant(), assistant(answered(call("c1", "{}"), "result", ""))],
    { role: "assistant", content: null, tool_calls: [wireCall("c1", "{}")] },
    { role: "tool", tool_call_id: "c1", content: "" }
  ],
  "reasoning for its provider, under its own name, and for no other": [
    [assistant(thought("openai"), Message.text("4")), assistant(thought("deepseek"), Message.text("4"))],
    { role: "assistant", content: "4", reasoning_content: "hmm" },
    { role: "assistant", content: "4" }
  ],
  "no items but details of reasoning, and of these only lists": [
    [
      assistant(
        Message.text("4"),
        item("search", "ws_1"),
        item("annotations", [{ type: "url_citation" }]),
        item("reasoning_details", null),
        item("reasoning_details", details)
      )
    ],
    { role: "assistant", content: "4", reasoning_details: details }
  ]
}

for (const [what, [messages, ...wire]] of Object.entries(rows)) {
  it(`writes ${what}`, () => assert.deepStrictEqual(messagesOf(...messages), wire))
}

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

it("refuses a file at an address, and nothing else", () => {
  const { refuses } = OpenAiChat.make(source)
  const file = Message.file("application/pdf", { url: "https://example.org/a.pdf" })
  const refusal = refuses?.({ ...plain, messages: [Message.user("hi"), Message.user([file])] })
  assert.strictEqual(refusal?._tag, "CapabilityMismatchError")
  assert.include(refusal?.message, "only its bytes")
  const bytes = Message.file("application/pdf", { data: "aGk=" })
  assert.isUndefined(refuses?.({ ...plain, messages: [Message.user([png, bytes]), Message.assistant("hm")] }))
})

it("the output goes as response_format, under a name that the wire takes, unless it is no object or the user sets a format [P301]", () => {
  const schema = { type: "object", properties: {} }
  const format = (name: string) => ({ type: "json_schema", json_schema: { name, schema } })
  const own = { response_format: { type: "json_object" } }
  const rows: ReadonlyArray<readonly [output: Model.OutputSpec | undefined, extra: Schema.JsonObject, sent: unknown]> =
    [
      [{ name: "report writer", schema }, {}, format("report_writer")],
      [{ name: "é".repeat(80), schema }, {}, format("_".repeat(64))],
      [{ name: "report", schema }, own, own.response_format],
      [{ name: "list", schema: { type: "array" } }, {}, undefined],
      [undefined, {}, undefined]
    ]
  for (const [output, extra, sent] of rows) {
    assert.deepStrictEqual(encode(output === undefined ? {} : { output }, { extra }).response_format, sent)
  }
})

describe("the rest of the body", () => {
  const all = {
    temperature: 0,
    topP: 0.5,
    maxTokens: 10,
    stop: ["x"],
    seed: 7,
    reasoning: "low",
    promptCache: { key: "k" },
    extra: { user: "u" }
  } as const
  const older = { maxTokensField: "max_tokens", seedField: "random_seed" } as const
  const [newNames, oldNames] = [
    { max_completion_tokens: 9, seed: 8 },
    { max_tokens: 9, random_seed: 8 }
  ]
  const limits = { maxTokens: 10, seed: 7 }
  const asked: Readonly<
    Record<string, readonly [parameters: Asked, dialect: OpenAiChat.Dialect, sent: Schema.JsonObject]>
  > = {
    "nothing that is not given": [{}, {}, {}],
    "what is given, under the names of the wire": [
      all,
      {},
      {
        temperature: 0,
        top_p: 0.5,
        max_completion_tokens: 10,
        stop: ["x"],
        seed: 7,
        reasoning_effort: "low",
        prompt_cache_key: "k",
        user: "u"
      }
    ],
    "the names that the dialect has": [limits, older, { max_tokens: 10, random_seed: 7 }],
    "what the user sets under the names of the wire": [{ ...limits, extra: newNames }, {}, newNames],
    "what the user sets under other names": [{ ...limits, extra: oldNames }, {}, oldNames],
    "what the user sets under the names of the dialect": [{ ...limits, extra: oldNames }, older, oldNames],
    "what the user sets under names that the dialect has not": [{ ...limits, extra: newNames }, older, newNames]
  }
  for (const [what, [parameters, dialect, sent]] of Object.entries(asked)) {
    it(`has ${what}, and options of a stream in streams alone`, () => {
      const messages = [{ role: "user", content: "hi" }]
      const body = (mode: "whole" | "streamed", more: OpenAiChat.Dialect = {}) =>
        JSON.parse(OpenAiChat.make(source, parameters, { ...dialect, ...more }).encode(plain, mode))
      const whole = { model: "gpt-x", messages, ...sent }
      assert.deepStrictEqual(body("whole"), whole)
      assert.deepStrictEqual(body("streamed"), { ...whole, stream: true, stream_options: { include_usage: true } })
      assert.deepStrictEqual(body("streamed", { streamOptions: false }), { ...whole, stream: true })
    })
  }

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

  it("sends tools, with an object at the root of their parameters, and a choice among them only where there are any", () => {
    const search = { type: "object", properties: { q: { type: "string" } } }
    const $defs = { Search: search }
    for (const [parameters, sent] of [
      [{ type: "object" }, { type: "object" }],
      [
        { $ref: "#/$defs/Search", $defs },
        { ...search, $defs }
      ],
      [{ type: "array" }, { type: "array" }]
    ] as const) {
      assert.deepStrictEqual(encode({ tools: [{ ...tool, parameters }] }).tools, [
        { type: "function", function: { name: "search", description: "Searches.", parameters: sent } }
      ])
    }
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
})

it("the beginning of a reply is the last message, unless that has ended, with its text alone and the mark of the dialect [P1560]", () => {
  const dialect: OpenAiChat.Dialect = { continuation: { field: "prefix", reply: "rest" } }
  const bodyOf = (...messages: ReadonlyArray<Message.Message>) =>
    JSON.parse(OpenAiChat.make(source, {}, dialect).encode({ ...plain, messages }, "whole")).messages
  const ended = assistant({ type: "reasoning", text: "hm" }, Message.text("grü"), Message.text("ße"))
  const begun = { ...ended, incomplete: true } as const
  const [go, sent] = [
    { role: "user", content: "go" },
    { role: "assistant", content: "grüße" }
  ]
  assert.deepStrictEqual(bodyOf(begun), [{ ...sent, prefix: true }])
  assert.deepStrictEqual(bodyOf(Message.user("go"), begun), [go, { ...sent, prefix: true }])
  assert.deepStrictEqual(bodyOf(ended), [sent])
  assert.deepStrictEqual(bodyOf(begun, Message.user("go")), [sent, go])
})
