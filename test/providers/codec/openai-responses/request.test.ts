/** What is sent to OpenAI's responses. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import * as ResponsesRequest from "../../../../packages/providers/src/codec/openai-responses/request.ts"
import { call, codec, type Item, message, reasoning, source } from "./_support/responses.ts"
import { encode, inputOf, plain, result, said, answered } from "./_support/requests.ts"

/** A message with a call of each id. */
const calling = (...ids: ReadonlyArray<string>): Message.Assistant => ({
  role: "assistant",
  content: ids.map((id) => answered(id, "result", id))
})

describe("messages", () => {
  it("are in order, each call with its result after all of them, failed or not, and what comes later leaves them as they were [C1 C2 P1110]", () => {
    const output = [reasoning("rs_1"), call("a", '{"q": 1,}'), message("let me see"), call("b", "")]
    const { content } = said(output, result("no rows"), { kind: "told", text: "no rows" })
    const others = [answered("c", "unknown", "no rows"), answered("d", "told", "transient: busy")]
    const messages: ReadonlyArray<Message.Message> = [
      Message.system("be brief"),
      Message.user("hi"),
      Message.user(""),
      { role: "user", content: [] },
      { role: "assistant", content: [] },
      Message.assistant("hello"),
      Message.user("go"),
      { role: "assistant", content: [...content, ...others] },
      Message.user("and?")
    ]
    const called = { type: "function_call", name: "search" }
    const answer = { type: "function_call_output" }
    assert.deepStrictEqual(inputOf(...messages), [
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
      { role: "user", content: "" },
      { role: "user", content: "" },
      { role: "assistant", content: "hello" },
      { role: "user", content: "go" },
      reasoning("rs_1"),
      { ...called, id: "fc_a", call_id: "call_a", arguments: '{"q": 1,}' },
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        content: [{ type: "output_text", text: "let me see", annotations: [] }]
      },
      { ...called, id: "fc_b", call_id: "call_b", arguments: "" },
      { ...called, call_id: "c", arguments: "{}" },
      { ...called, call_id: "d", arguments: "{}" },
      { ...answer, call_id: "call_a", output: "no rows" },
      { ...answer, call_id: "call_b", output: "ERROR: no rows" },
      { ...answer, call_id: "c", output: "ERROR: no rows" },
      { ...answer, call_id: "d", output: "transient: busy" },
      { role: "user", content: "and?" }
    ])
    const texts = messages.map((_, at) => codec.encode({ ...plain, messages: messages.slice(0, at + 1) }, "whole"))
    for (const [at, text] of texts.slice(1).entries()) assert.isTrue(text.startsWith(texts[at]?.slice(0, -2) ?? "?"))
  })

  it("writes images and files, by their bytes or their address", () => {
    const url = "https://example.org/a"
    const user = Message.user([
      Message.text("look"),
      Message.image("image/png", { data: "aGk=" }),
      Message.image("image/png", { url }),
      Message.file("application/pdf", { data: "aGk=" }, "a.pdf"),
      Message.file("application/pdf", { url })
    ])
    assert.deepStrictEqual(inputOf(user), [
      {
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" },
          { type: "input_image", image_url: url, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" },
          { type: "input_file", file_url: url }
        ]
      }
    ])
    assert.isUndefined(codec.refuses?.({ ...plain, messages: [user] }))
    const unnamed = Message.file("application/pdf", { data: "aGk=" })
    assert.strictEqual(inputOf(Message.user([unnamed]))[0].content[0].filename, "file")
  })

  it("have ids of calls that the wire takes and that are unique, the same way in call and result [P1002]", () => {
    const long = "a".repeat(64)
    const cut = (digest: string) => `${"a".repeat(44)}_${digest}`
    for (const [messages, expected] of [
      [[[`${long}a`, `${long}b`, long]], [cut("f19559c4"), cut("1df5e9c7"), long]],
      [
        [["x", long], ["y", "x"], [long]],
        ["x", long, "y_2", "x_2", `${cut("f7ce3905")}_2`]
      ],
      // beside `y`, which comes for the third time, the first `x` gets its number, and the next goes on from there
      [
        [["y"], ["y"], ["x", "y"], ["x"]],
        ["y", "y_2", "x_3", "y_3", "x_4"]
      ]
    ] as const) {
      const input: ReadonlyArray<Item> = inputOf(...messages.map((ids) => calling(...ids)))
      const idsOf = (type: string) => input.flatMap((item) => (item["type"] === type ? [item["call_id"]] : []))
      assert.deepStrictEqual<unknown>(idsOf("function_call"), expected)
      assert.deepStrictEqual<unknown>(idsOf("function_call_output"), expected)
      for (const item of input) assert.notProperty(item, "id")
    }
  })
})

describe("tools", () => {
  const closed = {
    type: "object",
    properties: { q: { type: "string" } },
    required: ["q"],
    additionalProperties: false
  }
  const tool = (parameters: Message.ToolSpec["parameters"], more: Partial<Message.ToolSpec> = {}) => ({
    name: "search",
    description: "Searches.",
    parameters,
    ...more
  })

  it("are flat, strict where their schema fits and the user does not object, beside those of the provider", () => {
    const optional = { ...closed, required: [] }
    const nullable = { ...closed, properties: { q: { anyOf: [{ type: "string" }, { type: "null" }] } } }
    const loose = { type: "object", properties: { q: { type: "string" } } }
    const $defs = { Search: { type: "object", additionalProperties: closed } }
    const search = { type: "web_search", search_context_size: "low" }
    for (const [spec, options, parameters, strict] of [
      [tool(closed), {}, closed, true],
      [tool(closed), { strict: false }, closed, false],
      [tool(loose), {}, loose, false],
      // null is read as absence
      [tool(optional), {}, nullable, true],
      [tool(optional, { keepsNulls: true }), {}, optional, false],
      // each has an object at its root
      [tool({ $ref: "#/$defs/Search", $defs }), {}, { ...$defs.Search, $defs }, false],
      [tool({ not: { type: "null" } }), {}, { ...closed, properties: {}, required: [] }, true]
    ] as const) {
      const flat = { type: "function", name: "search", description: "Searches.", parameters, strict }
      assert.deepStrictEqual<unknown>(encode({ tools: [spec] }, { ...options, providerTools: [search] }).tools, [
        flat,
        search
      ])
    }
    assert.deepStrictEqual(encode({}, { providerTools: [search] }).tools, [search])
  })

  it("come with a choice, where there are any", () => {
    const tools = [tool(closed)]
    const choice = (toolChoice: Model.ToolChoice) => encode({ tools, toolChoice }).tool_choice
    assert.isUndefined(choice("auto"))
    assert.strictEqual(choice("none"), "none")
    assert.strictEqual(choice("required"), "required")
    assert.deepStrictEqual(choice({ tool: "search" }), { type: "function", name: "search" })
    const options = { toolChoice: "required", parallelToolCalls: false } as const
    assert.deepInclude(encode({ tools }, options), { tool_choice: "required", parallel_tool_calls: false })
    const after = [Message.user("hi"), said([call("a", "{}")], result("ok"))]
    assert.notProperty(encode({ tools, messages: after }, options), "tool_choice")
    const without = encode({ toolChoice: "none" }, options)
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"]) assert.notProperty(without, field)
  })
})

describe("the output", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, additionalProperties: false }

  it("goes as the format of the text, strict where it can be, or as text if it is no object, unless the user sets a format [P301]", () => {
    const object = { name: "report writer", schema }
    const list = { name: "l", schema: { type: "array" } }
    const nullable = {
      ...schema,
      properties: { n: { anyOf: [{ type: "number" }, { type: "null" }] } },
      required: ["n"]
    }
    const format = { type: "json_schema", name: "report_writer", schema: nullable, strict: true }
    const loose = { type: "object", properties: {} }
    const low = { verbosity: "low" }
    const own = { format: { type: "json_object" } }
    for (const [output, extra, text] of [
      [undefined, {}, undefined],
      [object, {}, { format }],
      [{ name: "o", schema: loose }, {}, { format: { ...format, name: "o", schema: loose, strict: false } }],
      [object, { text: low }, { ...low, format }],
      [object, { text: own }, own],
      [list, { text: own }, own]
    ] as const) {
      const body = encode(output === undefined ? {} : { output }, { extra })
      assert.deepStrictEqual<unknown>([body.text, body.input], [text, [{ role: "user", content: "hi" }]])
    }
    for (const extra of [{}, { text: low }]) {
      const { input, ...body } = encode({ output: list }, { extra })
      assert.deepStrictEqual([body.text, input.slice(1)], [extra.text, [{ role: "user", content: "hi" }]])
      assert.include(input[0].content, '{"type":"array"}')
    }
  })
})

describe("the rest of the body", () => {
  const bodyOf = (model: string, parameters?: Parameters<typeof OpenAiResponses.make>[1]) =>
    JSON.parse(OpenAiResponses.make({ ...source, model }, parameters).encode(plain, "whole"))
  const input = [{ role: "user", content: "hi" }]
  const encrypted = "reasoning.encrypted_content"

  it("keeps nothing at the provider, so it requests reasoning that can go back, unless the model or the user refuses", () => {
    const bare = "gpt-4o gpt-4.1-mini gpt-3.5-turbo ft:gpt-4o:x openai/gpt-4o gpt-5-chat-latest"
    const thinking = "gpt-x gpt-5 gpt-5.1-chat-latest o3 o4-mini gpt-6 beyond-gpt-4"
    for (const model of bare.split(" ")) assert.deepStrictEqual(bodyOf(model), { model, store: false, input })
    for (const model of thinking.split(" ")) {
      assert.deepStrictEqual(bodyOf(model), { model, store: false, include: [encrypted], input })
    }
    const extra = { include: ["web_search_call.action.sources", encrypted] }
    for (const [model, parameters, include] of [
      ["gpt-x", { store: true }, undefined],
      ["o3", { encryptedReasoning: false }, undefined],
      ["gpt-4o", { encryptedReasoning: true }, [encrypted]],
      ["o3", { extra }, [encrypted, "web_search_call.action.sources"]]
    ] as const) {
      const body = bodyOf(model, parameters)
      assert.deepStrictEqual<unknown>([body.store, body.include], ["store" in parameters, include])
    }
  })

  it("has the given parameters under the names of the wire, and takes no options that the wire has no words for", () => {
    const parameters = {
      temperature: 0,
      topP: 0.5,
      maxTokens: 100,
      reasoning: "low",
      reasoningSummary: "auto",
      promptCache: { key: "k" },
      extra: { user: "u" }
    } as const
    assert.deepStrictEqual(encode({}, parameters, "streamed"), {
      model: "gpt-x",
      store: false,
      include: [encrypted],
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: "auto" },
      prompt_cache_key: "k",
      user: "u",
      input,
      stream: true
    })
    // @ts-expect-error there are no stop sequences
    OpenAiResponses.make(source, { stop: ["x"] })
    // @ts-expect-error there is no seed
    OpenAiResponses.make(source, { seed: 1 })
    // @ts-expect-error the provider itself marks the end of the conversation
    OpenAiResponses.make(source, { promptCache: { breakpoints: ["conversation"] } })
    assert.strictEqual(OpenAiResponses.capabilities.promptCache, "key")
  })
})

it("a request that continues a stored reply marks none of its instructions: those are stored", () => {
  const messages = [Message.system("be brief"), Message.user("hi")]
  const settings = {
    provider: "openai",
    constants: { model: "m" },
    text: undefined,
    toolChoice: undefined,
    parallelToolCalls: undefined,
    providerTools: [],
    stored: true,
    output: "schema",
    isPlain: false,
    isMarked: true,
    strict: true
  } as const
  const answers = [{ type: "function_call_output", call_id: "c1", output: "ok" }]
  const sent = (linkIn?: ResponsesRequest.Settings["linkIn"]) =>
    JSON.parse(ResponsesRequest.make({ ...settings, linkIn })({ ...plain, messages }, "whole")).input
  const user = { role: "user", content: "hi" }
  assert.deepStrictEqual(
    sent(() => ({ id: "resp_1", answers, messages })),
    [...answers, { role: "system", content: "be brief" }, user]
  )
  const content = [{ type: "input_text", text: "be brief", prompt_cache_breakpoint: { mode: "explicit" } }]
  assert.deepStrictEqual(sent(), [{ role: "system", content }, user])
})
