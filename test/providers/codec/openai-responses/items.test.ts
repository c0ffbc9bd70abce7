/** Which items of earlier replies a request to OpenAI's responses repeats. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { call, type Item, message, reasoning, response } from "./_support/responses.ts"
import { encode, inputOf, result, said, answered } from "./_support/requests.ts"

describe("what goes back", () => {
  const [first, second] = [reasoning("rs_1", "Hm. ", "Well."), reasoning("rs_2")]

  it("reasoning, with the item that followed it, in order and unchanged [P1002]", () => {
    const output = [first, call("a", "{}"), second, message("Done.", { phase: "final_answer" })]
    assert.deepStrictEqual(inputOf(said(output, result("ok"))), [
      first,
      { type: "function_call", id: "fc_a", call_id: "call_a", name: "search", arguments: "{}" },
      second,
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        phase: "final_answer",
        content: [{ type: "output_text", text: "Done.", annotations: [] }]
      },
      { type: "function_call_output", call_id: "call_a", output: "ok" }
    ])
  })

  it("no reasoning without the item that followed it [P1002]", () => {
    assert.deepStrictEqual(inputOf(Message.user("go"), said([first, second])), [{ role: "user", content: "go" }])
    const silent = message("", { phase: "final_answer" })
    assert.deepStrictEqual(inputOf(Message.user("go"), said([first, silent])), [{ role: "user", content: "go" }])
    assert.deepStrictEqual(inputOf(said([message("Well."), first])), [{ role: "assistant", content: "Well." }])
    assert.deepStrictEqual(inputOf(said([first, second, call("a", "{}")], result("ok"))).slice(0, 2), [first, second])
  })

  it("no reasoning that the provider has neither kept nor sent whole, nor the name of what followed it [P1002]", () => {
    const { encrypted_content: _, ...bare } = first
    const messages = [said([bare, call("a", "{}")], result("ok"))]
    const called = { type: "function_call", call_id: "call_a", name: "search", arguments: "{}" }
    assert.deepStrictEqual(encode({ messages }).input[0], called)
    assert.deepStrictEqual(encode({ messages }, { store: true }).input.slice(0, 2), [bare, { ...called, id: "fc_a" }])
    const plainReasoning = {
      type: "reasoning",
      id: "rs_3",
      summary: [],
      content: [{ type: "reasoning_text", text: "Hm." }]
    }
    assert.deepStrictEqual(inputOf(said([plainReasoning, message("4")]))[0], plainReasoning)
  })

  it("what the provider did on its own side, and the sources of a text [P1002]", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }
    const annotations = [{ type: "url_citation", url: "https://example.org", start_index: 0, end_index: 3 }]
    const content = [{ type: "output_text", text: "Two.", annotations }]
    const { output } = response([first, search, { ...message("Two."), content }])
    assert.deepStrictEqual(inputOf(said(output as ReadonlyArray<Item>)), output)
  })

  it("no call without an answer, and no reasoning before it", () => {
    const custom = { id: "ct_1", type: "custom_tool_call", call_id: "c1", name: "x", input: "y" }
    const opaque = { provider: "openai", data: custom }
    const { content } = said([message("Well."), first])
    const unanswered = { type: "provider-item", kind: "custom_tool_call", opaque } as const
    assert.deepStrictEqual(inputOf({ role: "assistant", content: [...content, unanswered] }), [
      { role: "assistant", content: "Well." }
    ])
    const shell = { id: "sh_1", type: "shell_call", call_id: "c2", action: {} }
    const done = { id: "so_1", type: "shell_call_output", call_id: "c2", output: [] }
    assert.deepStrictEqual(inputOf(said([shell, done])), [shell, done])
  })

  it("nothing that another provider, or another format, wrote for itself [P1002]", () => {
    const opaque = (provider: string, data: Message.Opaque["data"]) => ({ opaque: { provider, data } })
    const assistant: Message.Assistant = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", ...opaque("anthropic", { ...first }) },
        { type: "reasoning", text: "hm", ...opaque("openai", "reasoning_content") },
        { type: "reasoning", text: "hm" },
        Message.text("4"),
        { type: "provider-item", kind: "message", ...opaque("azure", { id: "msg_1" }) },
        { type: "provider-item", kind: "shell_call_output", ...opaque("azure", { call_id: "c1" }) },
        { type: "provider-item", kind: "web_search_call", ...opaque("gemini", { type: "web_search_call" }) },
        { type: "provider-item", kind: "annotations", ...opaque("openai", [{ type: "url_citation" }]) },
        {
          ...answered("toolu_1", "result", "ok"),
          call: { ...answered("toolu_1", "result", "ok").call, ...opaque("x", "fc") }
        }
      ]
    }
    assert.deepStrictEqual(inputOf(assistant), [
      { role: "assistant", content: "4" },
      { type: "function_call", call_id: "toolu_1", name: "search", arguments: "{}" },
      { type: "function_call_output", call_id: "toolu_1", output: "ok" }
    ])
  })

  it("words and items in the order in which they were said", () => {
    const data = { type: "web_search_call", id: "ws_1", status: "completed" }
    const searched = { type: "provider-item", kind: "web_search_call", opaque: { provider: "openai", data } } as const
    const content = [Message.text("I look."), searched, Message.text("Found.")]
    assert.deepStrictEqual(inputOf({ role: "assistant", content }), [
      { role: "assistant", content: "I look." },
      data,
      { role: "assistant", content: "Found." }
    ])
  })
})
