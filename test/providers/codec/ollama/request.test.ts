import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import type * as Provider from "@kintsugi/providers/Provider"

const source: Provider.Source = { provider: "ollama", model: "llama3", secrets: [] }

const plain: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const encode = (
  request: Partial<Model.Request>,
  parameters?: Parameters<typeof OllamaChat.make>[1],
  mode: "whole" | "streamed" = "whole"
) => JSON.parse(OllamaChat.make(source, parameters).encode({ ...plain, ...request }, mode))

const messagesOf = (...messages: ReadonlyArray<Message.Message>) => encode({ messages }).messages

const call = (id: string, args: Message.ToolCall["arguments"]): Message.ToolCall => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: args
})

const answered = (toolCall: Message.ToolCall, kind: Message.Settlement["kind"], text: string): Message.SettledCall => ({
  type: "settled-call",
  call: toolCall,
  settlement: { kind, text }
})

const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const tool: Message.ToolSpec = { name: "search", description: "Searches.", parameters: { type: "object" } }

const png = Message.image("image/png", { data: "aGk=" })

describe("messages", () => {
  it("writes system, user and assistant messages in order, images beside the text, and no empty message", () => {
    const messages = [
      Message.system("be brief"),
      Message.user([Message.text("look"), png, Message.text("here")]),
      Message.assistant("hello"),
      Message.user([png]),
      said()
    ]
    assert.deepStrictEqual(messagesOf(...messages), [
      { role: "system", content: "be brief" },
      { role: "user", content: "look\nhere", images: ["aGk="] },
      { role: "assistant", content: "hello" },
      { role: "user", content: "", images: ["aGk="] }
    ])
  })

  it("writes one result per call, right after the message that made them, errors in their text [C1 C2]", () => {
    const assistant = said(
      Message.text("let me see"),
      answered(call("c1", '{"q":1}'), "result", "one"),
      answered(call("c2", { q: 2 }), "told", "two failed"),
      answered(call("c3", null), "told", "transient: three; safe to retry")
    )
    assert.deepStrictEqual(messagesOf(assistant, Message.user("and?")), [
      {
        role: "assistant",
        content: "let me see",
        tool_calls: [
          { id: "c1", function: { name: "search", arguments: { q: 1 } } },
          { id: "c2", function: { name: "search", arguments: { q: 2 } } },
          { id: "c3", function: { name: "search", arguments: {} } }
        ]
      },
      { role: "tool", content: "one", tool_name: "search", tool_call_id: "c1" },
      { role: "tool", content: "ERROR: two failed", tool_name: "search", tool_call_id: "c2" },
      { role: "tool", content: "transient: three; safe to retry", tool_name: "search", tool_call_id: "c3" },
      { role: "user", content: "and?" }
    ])
  })

  it("writes arguments as an object, also those that are none", () => {
    const argumentsOf = (args: Message.ToolCall["arguments"]) =>
      messagesOf(said(answered(call("c1", args), "told", "x")))[0].tool_calls[0].function.arguments
    for (const [args, wire] of [
      ['{"a": 1,}', { arguments: '{"a": 1,}' }],
      ["nonsense", { arguments: "nonsense" }],
      ["null", { arguments: "null" }],
      ["", {}],
      ['{"__proto__":1}', JSON.parse('{"__proto__":1}')]
    ] as const) {
      assert.deepStrictEqual(argumentsOf(args), wire)
    }
  })

  it("sends thoughts back to the server that had them, and drops what others thought or did [P1002]", () => {
    const thinking = (provider: string) =>
      said({ type: "reasoning", text: "hmm", opaque: { provider, data: "thinking" } }, Message.text("4"), {
        type: "provider-item",
        kind: "truncated_prompt",
        opaque: { provider, data: {} }
      })
    assert.deepStrictEqual(messagesOf(thinking("ollama"), thinking("deepseek")), [
      { role: "assistant", content: "4", thinking: "hmm" },
      { role: "assistant", content: "4" }
    ])
  })

  it("refuses what it cannot express before anything is sent", () => {
    const { refuses } = OllamaChat.make(source)
    const refusalOf = (...content: Message.UserContent) => refuses?.({ ...plain, messages: [Message.user(content)] })
    const url = { url: "https://example.org/a" }
    assert(refusalOf(Message.image("image/png", url)) instanceof LlmError.CapabilityMismatchError)
    assert(refusalOf(Message.file("application/pdf", { data: "aGk=" })) instanceof LlmError.CapabilityMismatchError)
    assert.isUndefined(refusalOf(png))
    for (const toolChoice of ["required", { tool: "search" }] as const) {
      const refusal = refuses?.({ ...plain, tools: [tool], toolChoice })
      assert(refusal instanceof LlmError.CapabilityMismatchError)
      assert.strictEqual(refusal.capability, "toolChoice")
    }
  })
})

describe("tools and output", () => {
  const output: Model.OutputSpec = { name: "report", schema: { type: "object", properties: {} } }

  it("offers tools, and none where none may be called", () => {
    assert.deepStrictEqual(encode({ tools: [tool] }).tools, [
      { type: "function", function: { name: "search", description: "Searches.", parameters: { type: "object" } } }
    ])
    assert.notProperty(encode({ tools: [tool], toolChoice: "none" }), "tools")
    assert.notProperty(encode({}), "tools")
  })

  it("takes the schema of a tool's parameters out of the definitions", () => {
    const $defs = { Query: { type: "object", properties: { q: { type: "string" } } } }
    const { tools } = encode({ tools: [{ ...tool, parameters: { $ref: "#/$defs/Query", $defs } }] })
    assert.deepStrictEqual(tools[0].function.parameters, { ...$defs.Query, $defs })
  })

  it("sends the schema of an output where no tools are offered [P301]", () => {
    assert.deepStrictEqual(encode({ output }).format, output.schema)
    assert.deepStrictEqual(encode({ output, tools: [tool], toolChoice: "none" }).format, output.schema)
    assert.notProperty(encode({ output, tools: [tool] }), "format")
    assert.notProperty(encode({}), "format")
  })
})

describe("the rest of the body", () => {
  it("sends whether to stream, and not to drop messages silently; no other parameter that is not given", () => {
    const body = { model: "llama3", truncate: false, messages: [{ role: "user", content: "hi" }] }
    assert.deepStrictEqual(encode({}), { ...body, stream: false })
    assert.deepStrictEqual(encode({}, {}, "streamed"), { ...body, stream: true })
    assert.isTrue(encode({}, { truncate: true }).truncate)
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
        numCtx: 8192,
        keepAlive: "10m",
        reasoning: "low",
        extra: { options: { top_k: 3 }, shift: false }
      }
    )
    assert.deepStrictEqual(body, {
      model: "llama3",
      truncate: false,
      shift: false,
      options: { top_k: 3, num_ctx: 8192, num_predict: 10, temperature: 0, top_p: 0.5, stop: ["x"], seed: 7 },
      think: "low",
      keep_alive: "10m",
      messages: [{ role: "user", content: "hi" }],
      stream: false
    })
  })

  it("knows one word for no thoughts", () => {
    assert.isFalse(encode({}, { reasoning: "none" }).think)
    assert.isFalse(encode({}, { reasoning: false }).think)
    assert.isTrue(encode({}, { reasoning: true }).think)
    assert.strictEqual(encode({}, { keepAlive: 0 }).keep_alive, 0)
  })
})
