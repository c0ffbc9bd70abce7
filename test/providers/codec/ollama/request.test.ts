import { assert, describe, it } from "@effect/vitest"
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
  it("are those of system, user and assistant in order, images beside the text, thoughts of the same server, and no empty ones [P1002]", () => {
    const did = (provider: string) =>
      said({ type: "reasoning", text: "hmm", opaque: { provider, data: "thinking" } }, Message.text("4"), {
        type: "provider-item",
        kind: "truncated_prompt",
        opaque: { provider, data: {} }
      })
    const messages = [
      Message.system("be brief"),
      Message.user([Message.text("look"), png, Message.text("here")]),
      Message.assistant("hello"),
      Message.user([png]),
      said(),
      did("ollama"),
      did("deepseek")
    ]
    for (const mode of ["whole", "streamed"] as const) {
      // no other parameter is sent that is not given, but messages are not to be dropped silently
      assert.deepStrictEqual(encode({ messages }, {}, mode), {
        model: "llama3",
        truncate: false,
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "look\nhere", images: ["aGk="] },
          { role: "assistant", content: "hello" },
          { role: "user", content: "", images: ["aGk="] },
          { role: "assistant", content: "4", thinking: "hmm" },
          { role: "assistant", content: "4" }
        ],
        stream: mode === "streamed"
      })
    }
  })

  it("have one result per call right behind them, errors in its text, and arguments as an object [C1 C2]", () => {
    const rows: ReadonlyArray<
      readonly [Message.ToolCall["arguments"], object, Message.Settlement["kind"], string, string]
    > = [
      ['{"q":1}', { q: 1 }, "result", "one", "one"],
      [{ q: 2 }, { q: 2 }, "told", "two failed", "ERROR: two failed"],
      [null, {}, "told", "transient: three; safe to retry", "transient: three; safe to retry"],
      ['{"a": 1,}', { arguments: '{"a": 1,}' }, "result", "", ""],
      ["nonsense", { arguments: "nonsense" }, "denied", "no", "ERROR: no"],
      ["null", { arguments: "null" }, "result", "4", "4"],
      ["", {}, "result", "5", "5"],
      ['{"__proto__":1}', JSON.parse('{"__proto__":1}'), "result", "6", "6"]
    ]
    const calls = rows.map(([args, , kind, text], at) => answered(call(`c${at}`, args), kind, text))
    assert.deepStrictEqual(messagesOf(said(Message.text("let me see"), ...calls), Message.user("and?")), [
      {
        role: "assistant",
        content: "let me see",
        tool_calls: rows.map(([, args], at) => ({ id: `c${at}`, function: { name: "search", arguments: args } }))
      },
      ...rows.map(([, , , , content], at) => ({
        role: "tool",
        content,
        tool_name: "search",
        tool_call_id: `c${at}`
      })),
      { role: "user", content: "and?" }
    ])
  })
})

describe("tools and output", () => {
  it("tools are offered unless none may be called, and the schema of an output is sent where no tools are offered [P301]", () => {
    const $defs = { Query: { type: "object", properties: { q: { type: "string" } } } }
    const tools = [tool, { ...tool, name: "ask", parameters: { $ref: "#/$defs/Query", $defs } }]
    const output: Model.OutputSpec = { name: "report", schema: { type: "object", properties: {} } }
    const sent = (request: Partial<Model.Request>) => {
      const { format, tools } = encode(request)
      return { format, tools }
    }
    const offered = [tool, { ...tool, name: "ask", parameters: { ...$defs.Query, $defs } }]
    const wire = offered.map((spec) => ({ type: "function", function: spec }))
    assert.deepStrictEqual(sent({}), { format: undefined, tools: undefined })
    assert.deepStrictEqual(sent({ output }), { format: output.schema, tools: undefined })
    assert.deepStrictEqual(sent({ output, tools }), { format: undefined, tools: wire })
    assert.deepStrictEqual(sent({ output, tools, toolChoice: "none" }), { format: output.schema, tools: undefined })
  })
})

describe("the rest of the body", () => {
  it("has the given parameters under the names of the wire, and one word for no thoughts", () => {
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
    assert.isFalse(encode({}, { reasoning: "none" }).think)
    assert.isFalse(encode({}, { reasoning: false }).think)
    assert.isTrue(encode({}, { reasoning: true }).think)
    assert.isTrue(encode({}, { truncate: true }).truncate)
    assert.strictEqual(encode({}, { keepAlive: 0 }).keep_alive, 0)
  })
})
