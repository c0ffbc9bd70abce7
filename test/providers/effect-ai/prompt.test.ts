/** What a prompt of `effect/ai` has of a transcript. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Prompt } from "effect/ai"
import { jsonOf, promptsFor } from "../../../packages/providers/src/effect-ai/prompt.ts"

type Takes = Parameters<typeof promptsFor>[0]

const messagesOf = (messages: Message.Transcript, takes: Takes = () => false) => promptsFor(takes)(messages).content

const said = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const theirs = (kind: string, data: Message.Opaque["data"]): Message.ProviderItem => ({
  type: "provider-item",
  kind,
  opaque: { provider: "effect/ai", data }
})

const png = Message.image("image/png", { data: "AQID" })

describe("the prompt", () => {
  it("has instructions, texts, and attachments by their bytes, their address or their id [P1107 P1408]", () => {
    const user = Message.user([
      Message.text("see"),
      png,
      Message.file("application/pdf", { url: "https://a.test/a.pdf" }, "a.pdf"),
      Message.file("application/pdf", { url: "file_1" })
    ])
    assert.deepStrictEqual(messagesOf([Message.system("Be brief."), user]), [
      Prompt.systemMessage({ content: "Be brief." }),
      Prompt.userMessage({
        content: [
          Prompt.textPart({ text: "see" }),
          Prompt.filePart({ mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }),
          Prompt.filePart({ mediaType: "application/pdf", data: new URL("https://a.test/a.pdf"), fileName: "a.pdf" }),
          Prompt.filePart({ mediaType: "application/pdf", data: "file_1" })
        ]
      })
    ])
  })

  it("shows the parts of a result if the model reads all of its attachments, and else has the text alone [P1107]", () => {
    const isImage: Takes = (part) => part.type === "image"
    const output = (kind: Message.Settlement["kind"], parts: NonNullable<Message.Settlement["parts"]>) => {
      const call = { type: "tool-call", id: "c1", name: "shot", arguments: { at: "Nara" } } as const
      const settlement = { kind, text: "described", parts }
      const messages = messagesOf([said({ type: "settled-call", call, settlement })], isImage)
      const [first] = messages
      assert.deepStrictEqual(
        first,
        Prompt.assistantMessage({
          content: [Prompt.toolCallPart({ id: "c1", name: "shot", params: { at: "Nara" }, providerExecuted: false })]
        })
      )
      const [result] = messages[1]?.role === "tool" ? messages[1].content : []
      assert(result?.type === "tool-result")
      assert.deepStrictEqual([result.result, result.isFailure], ["described", kind !== "result"])
      return result.modelOutput
    }
    const here = Message.text("Here")
    assert.deepStrictEqual(output("result", [here, png]), [
      Prompt.textPart({ text: "Here" }),
      Prompt.filePart({ mediaType: "image/png", data: new Uint8Array([1, 2, 3]) })
    ])
    assert.isUndefined(output("told", [here, png]))
    assert.isUndefined(output("result", [here, png, Message.file("application/pdf", { data: "AQID" })]))
    assert.isUndefined(output("result", [png, { type: "image", mediaType: "image/png", bytes: 3 }]))
    assert.isUndefined(output("result", [here]))
  })

  it("gives metadata back to the text that it was with, or to an empty text behind what is none [P1002 P1107]", () => {
    const metadata = { other: { signature: "s" } }
    const partsOf = (...content: Message.Assistant["content"]) => messagesOf([said(...content)])[0]?.content
    const mark = (length: number) => theirs("text", { metadata, length })
    const text = (text: string, options = {}) => Prompt.textPart({ text, options })
    assert.deepStrictEqual(partsOf(Message.text("abc"), mark(3)), [text("abc", metadata)])
    assert.deepStrictEqual(partsOf(Message.text("abc"), mark(2)), [text("a"), text("bc", metadata)])
    for (const length of [0, 4]) {
      assert.deepStrictEqual(partsOf(Message.text("abc"), mark(length)), [text("abc"), text("", metadata)])
    }
    assert.deepStrictEqual(partsOf(mark(0)), [text("", metadata)])
    const thought = { type: "reasoning", text: "abc" } as const
    assert.deepStrictEqual(partsOf(thought, mark(2)), [Prompt.reasoningPart({ text: "abc" }), text("", metadata)])
  })

  it("has what the provider itself called and gave, with its metadata [P1107]", () => {
    const metadata = { other: { a: 1 } }
    const call = { type: "tool-call", id: "p1", name: "search", params: { q: 1 }, metadata }
    const result = { type: "tool-result", id: "p1", name: "search", result: [1], metadata }
    const file = { type: "file", mediaType: "image/png", data: "AQID", metadata }
    const items = [call, { ...result, isFailure: true }, { ...result, isFailure: false }, file, { type: "source" }]
    const foreign = { ...theirs("x", { part: file }), opaque: { provider: "other", data: { part: file } } }
    const own = { id: "p1", name: "search", options: metadata, providerExecuted: true }
    assert.deepStrictEqual(messagesOf([said(...items.map((part) => theirs("x", { part })), foreign)]), [
      Prompt.assistantMessage({
        content: [
          Prompt.toolCallPart({ ...own, params: { q: 1 } }),
          Prompt.toolResultPart({ ...own, isFailure: true, result: [1] }),
          Prompt.toolResultPart({ ...own, isFailure: false, result: [1] }),
          Prompt.filePart({ mediaType: "image/png", data: "AQID", options: metadata })
        ]
      })
    ])
    assert.deepStrictEqual(messagesOf([said(foreign)]), [])
    const bare = theirs("x", { part: { type: "file", mediaType: "image/png" } })
    assert.deepStrictEqual(messagesOf([said(bare)]), [
      Prompt.assistantMessage({ content: [Prompt.filePart({ mediaType: "image/png", data: "" })] })
    ])
  })
})

it("a value that is no JSON becomes the JSON that is written for it", () => {
  for (const value of [null, "a", "", true, 1.5, [1, { a: null }]]) assert.deepStrictEqual(jsonOf(value), value)
  assert.deepStrictEqual([undefined, NaN, new Date(0), { a: undefined }].map(jsonOf), [
    null,
    null,
    "1970-01-01T00:00:00.000Z",
    {}
  ])
})
