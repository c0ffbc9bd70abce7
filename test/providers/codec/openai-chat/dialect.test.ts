/** What servers other than OpenAI's are sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import type { OpenRouter } from "@kintsugi/providers"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { call, plain, answered, source, tool } from "./_support/requests.ts"

describe("other servers", () => {
  const { capabilities } = OpenAiChat
  const encodeFor = (dialect: OpenAiChat.Dialect, request: Partial<Model.Request>) =>
    JSON.parse(OpenAiChat.make(source, {}, dialect).encode({ ...plain, ...request }, "whole"))

  it("keep calls and their results separate where adjacent messages of one role are joined [C1]", () => {
    const wireCall = (id: string) => ({ id, type: "function", function: { name: "search", arguments: "{}" } })
    const messages: Message.Transcript = [
      Message.user("go"),
      Message.assistant("let me see"),
      Message.user(""),
      {
        role: "assistant",
        content: [answered(call("c1", "{}"), "result", ""), answered(call("c2", "{}"), "result", "two")]
      },
      Message.user("and"),
      Message.user("now?"),
      Message.system("in French")
    ]
    assert.deepStrictEqual(encodeFor({ alternates: true, systemRole: "developer" }, { messages }).messages, [
      { role: "developer", content: "in French" },
      { role: "user", content: "go" },
      { role: "assistant", content: "let me see" },
      { role: "assistant", content: null, tool_calls: [wireCall("c1"), wireCall("c2")] },
      { role: "tool", tool_call_id: "c1", content: "" },
      { role: "tool", tool_call_id: "c2", content: "two" },
      { role: "user", content: "and\n\nnow?" }
    ])
  })

  it("that know no tools are sent no empty message, and no results without calls", () => {
    const messages: Message.Transcript = [
      Message.assistant("rain"),
      Message.assistant(" "),
      { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
      { role: "assistant", content: [answered(call("c1", "{}"), "result", "sun")] }
    ]
    assert.deepStrictEqual(encodeFor({ capabilities: { ...capabilities, tools: false } }, { messages }).messages, [
      { role: "assistant", content: "rain" },
      { role: "assistant", content: "I called the tool 'search' with {}." },
      { role: "user", content: "The tool 'search' answered: sun" }
    ])
  })

  it("that send reasoning among the parts of the content get it back there, and no other provider does [P1414]", () => {
    const opaque = { provider: "openai", data: "content" }
    const thought = { type: "reasoning", text: "hm", opaque } as const
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] }
    const sent = (content: Message.Assistant["content"]) =>
      encodeFor({}, { messages: [{ role: "assistant", content }] }).messages
    assert.deepStrictEqual(sent([thought, Message.text("rain")]), [
      { role: "assistant", content: [thinking, { type: "text", text: "rain" }] }
    ])
    assert.deepStrictEqual(sent([thought, answered(call("c1", "{}"), "result", "sun")])[0].content, [thinking])
    assert.deepStrictEqual(sent([{ ...thought, opaque: { ...opaque, provider: "kimi" } }, Message.text("rain")]), [
      { role: "assistant", content: "rain" }
    ])
  })

  it("without the choice none are offered no tools for it", () => {
    const dialect: OpenAiChat.Dialect = { capabilities: { ...capabilities, toolChoice: ["required"] } }
    assert.notProperty(encodeFor(dialect, { tools: [tool], toolChoice: "none" }), "tools")
    for (const toolChoice of ["auto", "required"] as const) {
      assert.lengthOf(encodeFor(dialect, { tools: [tool], toolChoice }).tools, 1)
    }
  })

  it("that admit reasoning by effort alone refuse a number of tokens before anything is sent, the others take it", () => {
    const refused = (
      reasoning: OpenAiChat.Dialect["reasoning"] & string,
      asked: OpenRouter.Options["reasoning"] & {} = { maxTokens: 500 }
    ) => OpenAiChat.make(source, { reasoning: asked }, { reasoning }).refuses?.(plain)
    for (const reasoning of ["effort", "thinking-effort"] as const) {
      const refusal = refused(reasoning)
      assert(refusal?._tag === "InvalidRequestError")
      assert.deepInclude(refusal, { model: "gpt-x", provider: "openai" })
      assert.include(refusal.message, "reasoning")
      assert.include(refusal.message, "effort")
      assert.isUndefined(refused(reasoning, "low"))
    }
    for (const reasoning of ["object", "thinking"] as const) assert.isUndefined(refused(reasoning))
  })

  it("that take no schema, or only JSON, get it as text; a list is text alone [P301]", () => {
    const object = { type: "object", properties: {} }
    const rows = [
      ["none", object, undefined],
      ["json", object, { type: "json_object" }],
      ["json", { type: "array" }, undefined]
    ] as const
    for (const [output, schema, format] of rows) {
      const dialect = { capabilities: { ...capabilities, output } }
      const { messages, response_format } = encodeFor(dialect, { output: { name: "o", schema } })
      assert.deepStrictEqual(response_format, format)
      assert.include(messages[0].content, JSON.stringify(schema))
      assert.deepStrictEqual(messages.slice(1), [{ role: "user", content: "hi" }])
    }
  })
})
