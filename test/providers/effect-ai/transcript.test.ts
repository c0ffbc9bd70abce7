/** What a transcript has of a prompt of `effect/ai`. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { Prompt } from "effect/ai"
import { contentOf, transcriptOf } from "../../../packages/providers/src/effect-ai/transcript.ts"

const paused = { kintsugi: { paused: true } }

it("a message is paused if an empty text of it says so, and a thought does not say so [P1107]", () => {
  const of = (...content: Prompt.AssistantMessage["content"]) =>
    transcriptOf(Prompt.fromMessages([Prompt.assistantMessage({ content })]))
  const text = Prompt.textPart({ text: "so" })
  const content = [Message.text("so")]
  assert.deepStrictEqual<unknown>(of(text, Prompt.textPart({ text: "", options: paused })), [
    { role: "assistant", content, paused: true }
  ])
  assert.deepStrictEqual<unknown>(of(Prompt.reasoningPart({ text: "hm", options: paused }), text), [
    { role: "assistant", content: [{ type: "reasoning", text: "hm" }, ...content] }
  ])
})

it("an answer to a request for approval is no result of a call [P1107]", () => {
  const call = Prompt.toolCallPart({ id: "c1", name: "f", params: {}, providerExecuted: false })
  const result = Prompt.toolResultPart({ id: "c1", name: "f", isFailure: false, result: "ok", providerExecuted: false })
  const answer = Prompt.toolApprovalResponsePart({ approvalId: "c1", approved: true })
  const messages = [Prompt.assistantMessage({ content: [call] }), Prompt.toolMessage({ content: [answer, result] })]
  assert.deepStrictEqual<unknown>(transcriptOf(Prompt.fromMessages(messages)), [
    {
      role: "assistant",
      content: [
        {
          type: "settled-call",
          call: { type: "tool-call", id: "c1", name: "f", arguments: {} },
          settlement: { kind: "result", text: "ok" }
        }
      ]
    }
  ])
})

it("a file is given by its bytes, by its address, or by its id [P1107 P1408]", () => {
  const of = (data: string | Uint8Array | URL) => contentOf(Prompt.filePart({ mediaType: "application/pdf", data }))
  const file = (given: Parameters<typeof Message.file>[1]) => Message.file("application/pdf", given)
  for (const data of [
    new Uint8Array([1, 2, 3]),
    "AQID",
    "data:application/pdf;base64,AQID",
    new URL("data:application/pdf;base64,AQID")
  ]) {
    assert.deepStrictEqual<unknown>(of(data), file({ data: "AQID" }))
  }
  for (const url of ["https://a.test/a.pdf", "http://a.test/a.pdf", "file-1", "file_1", "file-data:x;base64,AQID"]) {
    assert.deepStrictEqual<unknown>(of(url), file({ url }))
  }
  assert.deepStrictEqual<unknown>(of(new URL("s3://b/k")), file({ url: "s3://b/k" }))
})
