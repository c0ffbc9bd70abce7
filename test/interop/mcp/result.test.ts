/** Results of MCP tools: their parts, what a model reads, what is stored, and what is redacted. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { Schema } from "effect"
import type { CallToolResult } from "effect/ai/McpSchema"
import * as Result from "../../../packages/interop/src/mcp/result.ts"

const same = (text: string) => text
const hide = (text: string) => text.replaceAll("s3cret", "<redacted>").replaceAll("42", "<redacted>")

// cast: results come as JSON, and blocks are read by their fields
const wire = (content: ReadonlyArray<object>, more: object = {}) => ({ content, ...more }) as unknown as CallToolResult

const image = Message.image("image/png", { data: "AAAA" })

describe("a result", () => {
  it("has a part for each block", () => {
    const blocks = [
      { type: "text", text: "so" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "BBBB", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a", title: "A", mimeType: "text/csv" },
      { type: "resource_link", uri: "file:///b", name: "b" },
      { type: "resource", resource: { uri: "file:///c", text: "c" } },
      { type: "resource", resource: { uri: "file:///d", blob: "CCCC", mimeType: "a/b" } },
      { type: "resource", resource: { uri: "file:///e", blob: "DDDD" } }
    ]
    assert.deepStrictEqual(Result.fromWire(wire(blocks.map(fromWireBlock)), same), {
      content: [
        Message.text("so"),
        image,
        Message.file("audio/wav", { data: "BBBB" }),
        Message.file("text/csv", { url: "file:///a" }, "A"),
        Message.file("application/octet-stream", { url: "file:///b" }, "b"),
        Message.text("resource file:///c:\nc"),
        Message.file("a/b", { data: "CCCC" }, "file:///d"),
        Message.file("application/octet-stream", { data: "DDDD" }, "file:///e")
      ]
    })
  })

  it("has its data as received, if they are JSON", () => {
    assert.deepStrictEqual(Result.dataOf(wire([], { structuredContent: { a: [1] } })), { a: [1] })
    assert.strictEqual(Result.dataOf(wire([], { structuredContent: 0 })), 0)
    for (const structuredContent of [undefined, null, { a: 5n }, Math.max])
      assert.isUndefined(Result.dataOf(wire([], { structuredContent })))
    assert.deepStrictEqual(Result.fromWire(wire([], { structuredContent: { a: 1 } }), same), {
      content: [],
      structured: { a: 1 }
    })
    assert.deepStrictEqual(Result.fromWire(wire([], { structuredContent: null }), same), { content: [] })
  })

  it("repeats no secret: in texts, addresses, names and data; bytes stay", () => {
    const blocks = [
      { type: "text", text: "s3cret" },
      { type: "image", data: "s3cret42", mimeType: "image/s3cret" },
      { type: "resource_link", uri: "https://a/s3cret", name: "s3cret.csv" },
      { type: "audio", data: "BBBB", mimeType: "audio/wav" }
    ]
    const structuredContent = { s3cret: ["s3cret", 1, 42, 4.2, true, null, { a: "x" }] }
    assert.deepStrictEqual(Result.fromWire(wire(blocks.map(fromWireBlock), { structuredContent }), hide), {
      content: [
        Message.text("<redacted>"),
        Message.image("image/<redacted>", { data: "s3cret42" }),
        Message.file("application/octet-stream", { url: "https://a/<redacted>" }, "<redacted>.csv"),
        Message.file("audio/wav", { data: "BBBB" })
      ],
      structured: { "<redacted>": ["<redacted>", 1, "<redacted>", 4.2, true, null, { a: "x" }] }
    })
  })
})

/** As the client decodes a block: bytes are no text there. */
const fromWireBlock = (block: object): object => {
  const bytes = (text: unknown) =>
    typeof text === "string" ? Uint8Array.from(atob(text), (one) => one.charCodeAt(0)) : text
  if ("data" in block) return { ...block, data: bytes(block.data) }
  if ("resource" in block && Object(block.resource).blob !== undefined)
    return { ...block, resource: { ...Object(block.resource), blob: bytes(Object(block.resource).blob) } }
  return block
}

describe("what a model reads", () => {
  it("has the data, unless a text says the same", () => {
    const structured = { a: 1, b: [null] }
    const said = Message.text('{"b": [null], "a": 1}')
    const data = Message.text('{"a":1,"b":[null]}')
    assert.deepStrictEqual(Result.partsOf({ content: [image] }), [image])
    assert.deepStrictEqual(Result.partsOf({ content: [image, said], structured }), [image, said])
    for (const other of [Message.text('{"a":1}'), Message.text("{"), image])
      assert.deepStrictEqual(Result.partsOf({ content: [other], structured }), [other, data])
    assert.deepStrictEqual(Result.partsOf({ content: [], structured: null }), [Message.text("null")])
    const deep = JSON.parse("[".repeat(600) + "]".repeat(600))
    const deepText = Message.text(JSON.stringify(deep))
    assert.lengthOf(Result.partsOf({ content: [deepText], structured: deep }), 2)
  })

  it("has no bytes as text", () => {
    const structured = { shot: "AAAA", twice: "data:image/png;base64,AAAA", other: "AAAB" }
    assert.deepStrictEqual(Result.partsOf({ content: [image], structured })[1], {
      type: "text",
      text: '{"shot":"[not shown]","twice":"[not shown]","other":"AAAB"}'
    })
  })

  it("is the text of an error, or its data", () => {
    assert.strictEqual(Result.textOf({ content: [Message.text("a"), image, Message.text("b")] }), "ab")
    assert.strictEqual(Result.textOf({ content: [Message.text("a")], structured: 1 }), "a")
    assert.strictEqual(Result.textOf({ content: [image], structured: { a: 1 } }), '{"a":1}')
    assert.strictEqual(Result.textOf({ content: [image] }), "")
  })
})

it("a result is stored as its text, or as a whole if it has attachments", () => {
  const encode = Schema.encodeSync(Result.McpResult)
  const decode = Schema.decodeUnknownSync(Result.McpResult)
  assert.strictEqual(encode({ content: [Message.text("a"), Message.text("b")], structured: { c: 1 } }), 'a\nb\n{"c":1}')
  assert.strictEqual(encode({ content: [] }), "")
  const whole = { content: [Message.text("a"), image], structured: { c: 1 } }
  assert.deepStrictEqual(encode(whole), whole)
  assert.deepStrictEqual(decode(whole), whole)
  assert.deepStrictEqual(decode("a"), { content: [Message.text("a")] })
})
