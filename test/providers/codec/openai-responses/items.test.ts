/** Which items of earlier replies a request to OpenAI's responses repeats. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { withoutIds } from "../../../../packages/providers/src/codec/openai-responses/items.ts"
import { call, type Item, message, reasoning } from "./_support/responses.ts"
import { encode, inputOf, result, said, answered } from "./_support/requests.ts"

describe("what goes back", () => {
  const [first, second] = [reasoning("rs_1", "Hm. ", "Well."), reasoning("rs_2")]

  it("reasoning, with the item that followed it, in order and unchanged, and none without that item [P1002]", () => {
    const output = [first, second, call("a", "{}"), second, message("Done.", { phase: "final_answer" }), first]
    assert.deepStrictEqual(inputOf(said(output, result("ok"))), [
      first,
      second,
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
    for (const [output, sent] of [
      [[first, second], []],
      [[first, message("", { phase: "final_answer" })], []],
      [[message("Well."), first], [{ role: "assistant", content: "Well." }]]
    ] as const) {
      assert.deepStrictEqual(inputOf(Message.user("go"), said(output)), [{ role: "user", content: "go" }, ...sent])
    }
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

  it("what the provider did on its own side, and the sources of a text, among the words in their order [P1002]", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }
    const annotations = [{ type: "url_citation", url: "https://example.org", start_index: 0, end_index: 3 }]
    const content = [{ type: "output_text", text: "Two.", annotations }]
    const output: ReadonlyArray<Item> = [first, search, { ...message("Two."), content }]
    assert.deepStrictEqual(inputOf(said(output)), output)
    assert.deepStrictEqual(inputOf(said([message("I look."), search, message("Found.")])), [
      { role: "assistant", content: "I look." },
      search,
      { role: "assistant", content: "Found." }
    ])
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

  it("no call whose result cannot be its answer, no reasoning before it, and then no ids of calls [P1002]", () => {
    const computer = { id: "cu_1", type: "computer_call", call_id: "c9", action: { type: "click" } }
    const clicked = answered("c9", "result", "clicked")
    const screen = { ...clicked, call: { ...clicked.call, opaque: { provider: "openai", data: computer } } }
    const { content } = said([call("a", "{}")], result("ok"))
    const called = { type: "function_call", call_id: "call_a", name: "search", arguments: "{}" }
    const results = [
      { role: "user", content: "search: clicked" },
      { type: "function_call_output", call_id: "call_a", output: "ok" }
    ]
    const [well, now] = [Message.text("Well."), Message.text("Now.")]
    const words = [
      { role: "assistant", content: "Well." },
      { role: "assistant", content: "Now." }
    ]
    assert.deepStrictEqual(inputOf({ role: "assistant", content: [well, screen, now, ...content] }), [
      ...words,
      { ...called, id: "fc_a" },
      ...results
    ])
    const thoughts = said([message("Well."), first]).content
    assert.deepStrictEqual(inputOf({ role: "assistant", content: [...thoughts, screen, now, ...content] }), [
      ...words,
      called,
      ...results
    ])
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
})

it("a message whose reasoning is left out has no ids, and no item of the provider right behind the reasoning", () => {
  const item = (kind: string, data: Item, provider = "openai"): Message.ProviderItem => ({
    type: "provider-item",
    kind,
    opaque: { provider, data }
  })
  const searched = (id: string, provider?: string) => item("web_search_call", { type: "web_search_call", id }, provider)
  const calling = (provider: string, data: Message.Opaque["data"]) => ({
    ...answered("call_a", "result", "ok"),
    call: { ...answered("call_a", "result", "ok").call, opaque: { provider, data } }
  })
  const thought = { type: "reasoning", text: "hm" } as const
  const shell = { type: "shell_call", id: "sh_1", call_id: "c2", action: {} }
  const { id: _i, ...shellWithoutId } = shell
  const content = [
    Message.text("Well."),
    item("message", { id: "msg_1", phase: "final_answer" }),
    searched("ws_1"),
    thought,
    searched("ws_2"),
    thought,
    searched("ws_3", "azure"),
    calling("openai", "fc_a"),
    calling("openai", shell),
    calling("azure", "fc_a")
  ]
  const whole: Message.Assistant = { role: "assistant", content }
  const bare: Message.Assistant = { role: "assistant", content: content.filter(({ type }) => type !== "reasoning") }
  assert.deepStrictEqual(withoutIds(bare, whole, "openai"), {
    role: "assistant",
    content: [
      Message.text("Well."),
      item("message", { phase: "final_answer" }),
      searched("ws_1"),
      searched("ws_3", "azure"),
      answered("call_a", "result", "ok"),
      calling("openai", shellWithoutId),
      calling("azure", "fc_a")
    ]
  })
})
