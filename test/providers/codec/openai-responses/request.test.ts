/** What is sent to OpenAI's responses. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { type Schema } from "effect"
import * as ResponsesRequest from "../../../../packages/providers/src/codec/openai-responses/request.ts"
import { call, codec, type Item, message, reasoning, source } from "./_support/responses.ts"
import { encode, inputOf, plain, result, said, answered } from "./_support/requests.ts"

/** A message with a call of each id. */
const calling = (...ids: ReadonlyArray<string>): Message.Assistant => ({
  role: "assistant",
  content: ids.map((id) => answered(id, "result", id))
})

describe("messages", () => {
  it("writes system, user and assistant messages in order", () => {
    assert.deepStrictEqual(inputOf(Message.system("be brief"), Message.user("hi"), Message.assistant("hello")), [
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" }
    ])
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

  it("writes one result per call, after all of them, in the order of the calls [C1]", () => {
    const assistant = said([message("let me see"), call("a", '{"q": 1,}'), call("b", "")], result("one"), {
      kind: "told",
      text: "it failed"
    })
    assert.deepStrictEqual(inputOf(Message.user("go"), assistant, Message.user("and?")), [
      { role: "user", content: "go" },
      { role: "assistant", content: "let me see" },
      { type: "function_call", id: "fc_a", call_id: "call_a", name: "search", arguments: '{"q": 1,}' },
      { type: "function_call", id: "fc_b", call_id: "call_b", name: "search", arguments: "" },
      { type: "function_call_output", call_id: "call_a", output: "one" },
      { type: "function_call_output", call_id: "call_b", output: "ERROR: it failed" },
      { role: "user", content: "and?" }
    ])
  })

  it("a failed call differs from a successful one with the same text; texts of errors stay as they are [C2]", () => {
    const outputOf = (kind: Message.Settlement["kind"], text: string) =>
      inputOf({ role: "assistant", content: [answered("c", kind, text)] })[1].output
    assert.strictEqual(outputOf("result", "no rows"), "no rows")
    assert.strictEqual(outputOf("unknown", "no rows"), "ERROR: no rows")
    assert.strictEqual(outputOf("told", "transient: busy"), "transient: busy")
  })

  it("cuts a call id that is too long, the same way in call and result, and keeps ids apart [P1002]", () => {
    const ids = ["a".repeat(65), `${"a".repeat(64)}b`, "a".repeat(64)]
    const input: ReadonlyArray<Item> = inputOf({
      role: "assistant",
      content: ids.map((id) => answered(id, "result", ""))
    })
    const [calls, results] = [input.slice(0, 3), input.slice(3)].map((items) => items.map((item) => item["call_id"]))
    assert.deepStrictEqual(calls, results)
    assert.strictEqual(new Set(calls).size, 3)
    assert.strictEqual(calls?.[2], ids[2])
    for (const id of calls ?? []) assert.isAtMost(String(id).length, 64)
    assert.notProperty(input[0], "id")
  })

  it("keeps calls with repeated ids distinct in later messages, within the limits of an id [P1002]", () => {
    const long = "a".repeat(64)
    const input: ReadonlyArray<Item> = inputOf(calling("x", long), calling("y", "x"), calling(long))
    const idsOf = (type: string) => input.flatMap((item) => (item["type"] === type ? [String(item["call_id"])] : []))
    const calls = idsOf("function_call")
    assert.strictEqual(new Set(calls).size, 5)
    assert.deepStrictEqual(idsOf("function_call_output"), calls)
    for (const id of calls) assert.match(id, /^[\w-]{1,64}$/)
  })

  it("numbers an id that came before, also where that was sent under a number itself [P1002]", () => {
    const input: ReadonlyArray<Item> = inputOf(calling("y"), calling("y"), calling("x", "y"), calling("x"))
    const calls = input.flatMap((item) => (item["type"] === "function_call" ? [item["call_id"]] : []))
    assert.strictEqual(new Set(calls).size, 5)
    // beside `y`, which came for the third time, the first `x` got the number 3, and the next goes on from there
    assert.notInclude(calls, "x")
  })

  it("leaves out an empty message", () => {
    const silent: Message.Message = { role: "user", content: [] }
    assert.deepStrictEqual(inputOf(Message.user(""), silent, { role: "assistant", content: [] }, Message.user("go")), [
      { role: "user", content: "" },
      { role: "user", content: "" },
      { role: "user", content: "go" }
    ])
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
  const sent = (spec: Message.ToolSpec, parameters?: Parameters<typeof OpenAiResponses.make>[1]) =>
    encode({ tools: [spec] }, parameters).tools[0]

  it("are flat, and always state whether they are strict", () => {
    const flat = { type: "function", name: "search", description: "Searches." }
    assert.deepStrictEqual(sent(tool(closed)), { ...flat, parameters: closed, strict: true })
    assert.deepStrictEqual(sent(tool(closed), { strict: false }), { ...flat, parameters: closed, strict: false })
    const loose = { type: "object", properties: { q: { type: "string" } } }
    assert.deepStrictEqual(sent(tool(loose)), { ...flat, parameters: loose, strict: false })
  })

  it("have optional parameters that may be null, where null is read as absence", () => {
    const optional = { ...closed, required: [] }
    assert.deepStrictEqual(sent(tool(optional)).parameters, {
      ...closed,
      properties: { q: { anyOf: [{ type: "string" }, { type: "null" }] } }
    })
    assert.deepInclude(sent(tool(optional, { keepsNulls: true })), { parameters: optional, strict: false })
  })

  it("have an object at their root, also where it has a name or no fields", () => {
    const named = { $ref: "#/$defs/Search", $defs: { Search: { type: "object", additionalProperties: closed } } }
    assert.deepStrictEqual(sent(tool(named)).parameters, { ...named.$defs.Search, $defs: named.$defs })
    assert.deepStrictEqual(sent(tool({ not: { type: "null" } })).parameters, {
      ...closed,
      properties: {},
      required: []
    })
  })

  it("of the provider stand beside ours, or alone", () => {
    const search = { type: "web_search", search_context_size: "low" }
    const providerTools = [search]
    assert.deepStrictEqual(encode({}, { providerTools }).tools, [search])
    assert.deepStrictEqual(encode({ tools: [tool(closed)] }, { providerTools }).tools[1], search)
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

  it("goes as the format of the text, strict where it can be [P301]", () => {
    assert.deepStrictEqual(encode({ output: { name: "report writer", schema } }).text, {
      format: {
        type: "json_schema",
        name: "report_writer",
        schema: { ...schema, properties: { n: { anyOf: [{ type: "number" }, { type: "null" }] } }, required: ["n"] },
        strict: true
      }
    })
    const loose = { type: "object", properties: {} }
    assert.deepInclude(encode({ output: { name: "o", schema: loose } }).text.format, { schema: loose, strict: false })
    assert.notProperty(encode({}), "text")
  })

  it("is left out if it is not an object, and if the user sets a format [P301]", () => {
    const extra = { text: { verbosity: "low" } }
    assert.deepStrictEqual(encode({ output: { name: "l", schema: { type: "array" } } }, { extra }).text, extra.text)
    assert.strictEqual(encode({ output: { name: "o", schema } }, { extra }).text.verbosity, "low")
    const text = { format: { type: "json_object" } }
    assert.deepStrictEqual(encode({ output: { name: "o", schema } }, { extra: { text } }).text, text)
  })

  it("is text if its schema is not sent, unless the user sets the format [P301]", () => {
    const list = { name: "l", schema: { type: "array" } }
    const inputFor = (output: Model.OutputSpec, extra: Schema.JsonObject) => encode({ output }, { extra }).input
    const said = { role: "user", content: "hi" }
    for (const extra of [{}, { text: { verbosity: "low" } }]) {
      const [refused, ...rest] = inputFor(list, extra)
      assert.include(refused.content, '{"type":"array"}')
      assert.deepStrictEqual(rest, [said])
      assert.deepStrictEqual(inputFor({ name: "o", schema }, extra), [said])
    }
    const extra = { text: { format: { type: "json_object" } } }
    for (const output of [list, { name: "o", schema }]) assert.deepStrictEqual(inputFor(output, extra), [said])
  })
})

describe("the rest of the body", () => {
  it("keeps nothing at the provider, and requests reasoning that can go back", () => {
    assert.deepStrictEqual(encode({}), {
      model: "gpt-x",
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [{ role: "user", content: "hi" }]
    })
    assert.deepStrictEqual(encode({}, { store: true }), {
      model: "gpt-x",
      store: true,
      input: [{ role: "user", content: "hi" }]
    })
  })

  it("does not request encrypted reasoning if the model refuses it, or the user", () => {
    const included = (model: string, parameters?: Parameters<typeof OpenAiResponses.make>[1]) =>
      JSON.parse(OpenAiResponses.make({ ...source, model }, parameters).encode(plain, "whole")).include
    for (const model of [
      "gpt-4o",
      "gpt-4.1-mini",
      "gpt-3.5-turbo",
      "ft:gpt-4o:x",
      "openai/gpt-4o",
      "gpt-5-chat-latest"
    ]) {
      assert.isUndefined(included(model), model)
    }
    for (const model of ["gpt-5", "gpt-5.1-chat-latest", "o3", "o4-mini", "gpt-6", "beyond-gpt-4"]) {
      assert.deepStrictEqual(included(model), ["reasoning.encrypted_content"], model)
    }
    assert.isUndefined(included("o3", { encryptedReasoning: false }))
    assert.isDefined(included("gpt-4o", { encryptedReasoning: true }))
    const extra = { include: ["web_search_call.action.sources", "reasoning.encrypted_content"] }
    assert.deepStrictEqual(included("o3", { extra }), ["reasoning.encrypted_content", "web_search_call.action.sources"])
  })

  it("sends the given parameters, under the names of the wire", () => {
    const {
      include: _,
      input,
      ...others
    } = encode(
      {},
      {
        temperature: 0,
        topP: 0.5,
        maxTokens: 100,
        reasoning: "low",
        reasoningSummary: "auto",
        promptCache: { key: "k" },
        extra: { user: "u" }
      }
    )
    assert.deepStrictEqual(others, {
      model: "gpt-x",
      store: false,
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: "auto" },
      prompt_cache_key: "k",
      user: "u"
    })
    assert.isArray(input)
    assert.isTrue(encode({}, {}, "streamed").stream)
    assert.notProperty(encode({}), "stream")
  })

  it("takes no options that the wire has no words for", () => {
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

describe("the cached encoding", () => {
  it("a told error leaves the text before it as it was [P1110]", () => {
    const messages = [Message.system("a"), Message.user("b")]
    const first = codec.encode({ ...plain, messages }, "whole")
    const refused = said([reasoning("rs_1"), call("a", "{")], { kind: "told", text: "no JSON" })
    const second = codec.encode({ ...plain, messages: [...messages, refused] }, "whole")
    assert.isTrue(second.startsWith(first.slice(0, -2)))
  })
})
