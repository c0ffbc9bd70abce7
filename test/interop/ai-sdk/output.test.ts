/** What a model reads of the result of a tool of the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as Output from "../../../packages/interop/src/ai-sdk/output.ts"

const said = (output: unknown) => Output.said(output)

const content = (...value: ReadonlyArray<unknown>) => said({ type: "content", value })

it("a result is its text, or its JSON, and `null` without a value [P1107]", () => {
  assert.deepStrictEqual(
    ["x", "", 1, null, undefined, { a: undefined, b: [1] }].map((value) => Output.plain(value)),
    ["x", "", "1", "null", "null", '{"b":[1]}']
  )
  assert.throws(() => Output.plain(Math.max), TypeError, "no JSON can be made of this function")
  assert.throws(() => Output.plain(Symbol.iterator), TypeError, "no JSON can be made of this symbol")
  assert.throws(() => Output.plain(1n), TypeError)
})

describe("the output of toModelOutput", () => {
  it("is a text or JSON, as an error if its type says so [P1107]", () => {
    for (const [type, isError] of [
      ["text", false],
      ["json", false],
      ["error-text", true],
      ["error-json", true]
    ] as const) {
      assert.deepStrictEqual(said({ type, value: "x" }), { text: "x", isError })
      assert.deepStrictEqual(said({ type, value: { a: 1 } }), { text: '{"a":1}', isError })
      assert.deepStrictEqual(said({ type }), { text: "null", isError })
    }
  })

  it("may be that the call was denied [P1107]", () => {
    assert.deepStrictEqual(said({ type: "execution-denied", reason: "too late" }), { text: "too late", isError: true })
    for (const denied of [{ type: "execution-denied" }, { type: "execution-denied", reason: 5 }])
      assert.deepStrictEqual(said(denied), { text: "the call was denied", isError: true })
  })

  it("of a type that this library does not know is its JSON as a whole [P1107]", () => {
    assert.deepStrictEqual(said({ type: "later", value: 1 }), { text: '{"type":"later","value":1}', isError: false })
    assert.deepStrictEqual(said("x"), { text: "x", isError: false })
    assert.deepStrictEqual(said(undefined), { text: "null", isError: false })
  })

  it("is a list of texts, without parts of their own [P1107 P1538]", () => {
    assert.deepStrictEqual(content({ type: "text", text: "a" }, { text: "" }, { type: "text", text: "b" }), {
      text: "a\n\nb",
      isError: false
    })
    assert.deepStrictEqual(content(), { text: "", isError: false })
    assert.deepStrictEqual(said({ type: "content", value: "x" }), { text: "x", isError: false })
    assert.deepStrictEqual(
      content({ type: "custom" }, {}, null, { type: "file", mediaType: "a/b", data: "", url: "" }),
      {
        text: "[custom, not shown]\n[part, not shown]\n[part, not shown]\n[file, a/b, not shown]",
        isError: false
      }
    )
  })

  it("has images and files as parts, in their order, by their type or their media type [P1107 P1538]", () => {
    const url = "https://a.test/a"
    assert.deepStrictEqual(
      content(
        { type: "text", text: "see" },
        { type: "image-data", data: "AAAA" },
        { type: "image-url", url },
        { type: "image-file-id", mediaType: "text/plain", url: "file-1" },
        { type: "media", mediaType: "image/webp", data: "BBBB", url },
        { type: "file-data", data: "CCCC", filename: "c.bin" },
        { type: "file-url", mediaType: "application/pdf", url, filename: 5 },
        { data: "DDDD" },
        { type: "text", text: "end" }
      ),
      {
        text: "see\nend",
        isError: false,
        parts: [
          Message.text("see"),
          Message.image("image/png", { data: "AAAA" }),
          Message.image("image/png", { url }),
          Message.image("text/plain", { url: "file-1" }),
          Message.image("image/webp", { data: "BBBB" }),
          Message.file("application/octet-stream", { data: "CCCC" }, "c.bin"),
          Message.file("application/pdf", { url }),
          Message.file("application/octet-stream", { data: "DDDD" }),
          Message.text("end")
        ]
      }
    )
  })
})
