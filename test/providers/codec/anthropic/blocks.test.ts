/** The blocks of earlier replies that only Anthropic can read: which of them a request repeats, and how. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import type { Schema } from "effect"
import { call, messagesOf, said, answered, text, thought } from "./_support/requests.ts"

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

describe("blocks that only this provider can read", () => {
  it("sends back unchanged and in their order what it gave, and leaves out what others gave, and unsigned thoughts [P1002]", () => {
    const search: Schema.JsonObject = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } }
    const found: Schema.JsonObject = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }
    const redacted: Schema.JsonObject = { type: "redacted_thinking", data: "EmwK" }
    const caller = { caller: { type: "code_execution_20250825", tool_id: "s1" } }
    assert.deepStrictEqual(
      messagesOf(
        said(
          thought("first", "sig-1"),
          thought("theirs", "reasoning_content", "deepseek"),
          { type: "reasoning", text: "unsigned" },
          { type: "reasoning", text: "cut off", opaque: { provider: "anthropic", data: null } },
          item(redacted),
          item(search),
          item(found),
          item({ type: "web_search_call" }, "openai"),
          Message.text("so"),
          sourcesOf({ type: "char_location", cited_text: "x" }),
          thought("", "sig-2"),
          Message.text("4"),
          { ...sourcesOf("x"), opaque: { provider: "perplexity", data: ["x"] } },
          answered({ ...call("c1"), opaque: { provider: "anthropic", data: caller } }),
          answered({ ...call("c2"), opaque: { provider: "gemini", data: { thoughtSignature: "x" } } })
        )
      )[0].content,
      [
        { type: "thinking", thinking: "first", signature: "sig-1" },
        redacted,
        search,
        found,
        { type: "text", text: "so", citations: [{ type: "char_location", cited_text: "x" }] },
        { type: "thinking", thinking: "", signature: "sig-2" },
        text("4"),
        { type: "tool_use", ...caller, id: "c1", name: "search", input: {} },
        { type: "tool_use", id: "c2", name: "search", input: {} }
      ]
    )
  })

  it("rewrites ids of other forms, and repeated ids, in the call and its result [P1002]", () => {
    const turn = (...ids: ReadonlyArray<string>) => said(...ids.map((id) => answered(call(id))))
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

  it("sends a paused reply back as it is, what never ended only while it may still end, and no thoughts at the end of a turn that is over", () => {
    const search: Schema.JsonObject = { type: "server_tool_use", id: "s1", name: "web_search", input: {} }
    const paused: Message.Assistant = { ...said(Message.text("a"), item(search)), paused: true }
    const found = item({ type: "web_search_tool_result", tool_use_id: "s1", content: [] })
    const contentOf = (...messages: ReadonlyArray<Message.Message>) =>
      messagesOf(Message.user("go"), ...messages)[1].content
    assert.deepStrictEqual(contentOf(paused), [text("a"), search])
    assert.deepStrictEqual(contentOf(paused, said(found)), [text("a"), search, found.opaque.data])
    assert.deepStrictEqual(contentOf(paused, Message.user("stop")), [text("a")])
    assert.deepStrictEqual(contentOf({ ...paused, content: [...paused.content, answered(call("c1"))] }).length, 3)
    assert.deepStrictEqual(contentOf(said(Message.text("a"), item(search))), [text("a")])
    const calling = said(item(search), answered(call("c1")))
    assert.deepStrictEqual(contentOf(calling, Message.user("stop"))[0], search)
    const redacted = item({ type: "redacted_thinking", data: "EmwK" })
    for (const last of [thought("hm", "s"), redacted]) {
      assert.deepStrictEqual(messagesOf(said(Message.text("a"), last))[0].content, [text("a")])
      assert.lengthOf(messagesOf(said(last, Message.text("a")))[0].content, 2)
    }
  })
})
