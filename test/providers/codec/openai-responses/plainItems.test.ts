/** Messages as plain items, without a field that the server does not know. */
import { assert, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { ofMessage } from "../../../../packages/providers/src/codec/openai-responses/plainItems.ts"
import { answered } from "./_support/requests.ts"

it("a user's message is a text if it is one text, and else a list of its texts and images", () => {
  const contentOf = (...content: Message.User["content"]) =>
    ofMessage({ role: "user", content }, "perplexity", []).map((item) => item["content"])
  const image = Message.image("image/png", { url: "https://a.test/a.png" })
  const [hi, ho] = [
    { type: "input_text", text: "hi" },
    { type: "input_text", text: "ho" }
  ]
  const sent = { type: "input_image", image_url: "https://a.test/a.png" }
  assert.deepStrictEqual(contentOf(Message.text("hi")), ["hi"])
  assert.deepStrictEqual(contentOf(Message.text("hi"), Message.text("ho")), [[hi, ho]])
  assert.deepStrictEqual(contentOf(image), [[sent]])
  assert.deepStrictEqual(contentOf(Message.text("hi"), image), [[hi, sent]])
  assert.deepStrictEqual(contentOf(), [[]])
  assert.deepStrictEqual(contentOf(Message.text("hi"), Message.file("application/pdf", { data: "AQID" })), [[hi]])
})

it("a message of the model has its texts between its calls, and the results behind them all", () => {
  const content = [
    Message.text("I "),
    Message.text("look."),
    answered("a", "result", "1"),
    answered("b", "told", "no"),
    Message.text("So.")
  ]
  const item = (type: string, call_id: string, more: object) => ({ type, call_id, name: "search", ...more })
  assert.deepStrictEqual(ofMessage({ role: "assistant", content }, "perplexity", ["a", "b_2"]), [
    { type: "message", role: "assistant", content: "I look." },
    item("function_call", "a", { arguments: "{}" }),
    item("function_call", "b_2", { arguments: "{}" }),
    { type: "message", role: "assistant", content: "So." },
    item("function_call_output", "a", { output: "1" }),
    item("function_call_output", "b_2", { output: "ERROR: no" })
  ])
})
