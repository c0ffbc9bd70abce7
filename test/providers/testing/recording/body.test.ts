/** How bodies are stored in a recording: as JSON, or in the pieces in which they came, without their secrets. */
import { assert, describe, it } from "@effect/vitest"
import * as Body from "../../../../packages/providers/src/testing/recording/body.ts"

const text = (text: string) => text.replaceAll("SECRETKEY", "***")

const secrets: Parameters<typeof Body.store>[2] = { text, json: (json) => JSON.parse(text(JSON.stringify(json))) }

const encoder = new TextEncoder()

const store = (pieces: ReadonlyArray<string | ReadonlyArray<number>>, mayBeJson = false) =>
  Body.store(
    pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : new Uint8Array(piece))),
    mayBeJson,
    secrets
  )

const chunksOf = (...pieces: Parameters<typeof store>[0]) => store(pieces).chunks

/** A character of three bytes. */
const [one, two, three] = [0xe6, 0x8a, 0x98]

const base64 = (...bytes: ReadonlyArray<number>) => ({ base64: Buffer.from(bytes).toString("base64") })

describe("a body", () => {
  it("is JSON if it may be, with the layout in which its text came", () => {
    const json = { a: "***", b: [1] }
    assert.deepStrictEqual(store(['{"a":"SECRET', 'KEY","b":[1]}'], true), { json })
    const indented = JSON.stringify({ a: "SECRETKEY", b: [1] }, null, 2)
    assert.deepStrictEqual(store([indented], true), { json, layout: "indented" })
    assert.deepStrictEqual(store(['{"a": "SECRETKEY"}'], true), { chunks: ['{"a":"***"}'] })
    assert.deepStrictEqual(store(['{"a":1}']), { chunks: ['{"a":1}'] })
    assert.deepStrictEqual(store(["", ""]), { chunks: [] })
  })

  it("keeps its pieces, of whole characters or not, and bytes that are no text", () => {
    assert.deepStrictEqual(chunksOf("ab", "c\nd", "", "e"), ["ab", "c\nd", "e"])
    assert.deepStrictEqual(chunksOf("a", [one, two], [three, 0x62]), ["a", base64(one, two), base64(three, 0x62)])
    assert.deepStrictEqual(chunksOf("a", [one], [two]), ["a", base64(one), base64(two)])
    assert.deepStrictEqual(chunksOf([0xff, 0x61], [0xfe]), [base64(0xff, 0x61), base64(0xfe)])
    assert.deepStrictEqual(chunksOf([0xff], "SECRETKEY"), [base64(0xff, 0x2a, 0x2a, 0x2a)])
  })

  it("joins the words of several events or comments, and not those of one event, though lines without JSON are around it [P202]", () => {
    const event = (json: object) => `data: ${JSON.stringify(json)}\n\n`
    const one = event({ content: "SECRET", text: "KEY" })
    assert.deepStrictEqual(chunksOf(one), [one])
    assert.deepStrictEqual(chunksOf(event({ content: "SECRET" }) + event({ text: "KEY" })), [
      event({ content: "***" }) + event({ text: "" })
    ])
    assert.deepStrictEqual(chunksOf(": SECRET\n\n", ": KEY\n\n"), [": ***\n\n", ": \n\n"])
  })

  it("without its secrets has pieces that end where they ended in their lines, or at the end of a shorter line", () => {
    assert.deepStrictEqual(chunksOf("dat", "a: SECRET", "KEY", "\n", "data", ": b"), [
      "dat",
      "a: ***",
      "\n",
      "data",
      ": b"
    ])
    assert.deepStrictEqual(chunksOf("a SECRETKEY\n", "b\n\nc", " d\nSECRETKEY", " e"), [
      "a ***\n",
      "b\n\nc",
      " d\n*** e"
    ])
    assert.deepStrictEqual(chunksOf("SECRETKEY", [one], [two]), ["***", base64(one, two)])
  })

  it("that is a stream is redacted line by line, in its JSON, its comments and the rest, with its blanks", () => {
    const lines = [
      'data: {"a":"SECRETKEY", "b": 1}  ',
      'data: {"a": 1 }  ',
      '{"a":"SECRETKEY"}',
      ": SECRETKEY, here",
      ": nothing",
      "event: SECRETKEY",
      'data: {"a":"SECRETKEY"',
      ""
    ]
    assert.deepStrictEqual(chunksOf(lines.join("\n")), [
      [
        'data: {"a":"***","b":1}  ',
        'data: {"a": 1 }  ',
        '{"a":"***"}',
        ": ***, here",
        ": nothing",
        "event: ***",
        'data: {"a":"***"',
        ""
      ].join("\n")
    ])
  })

  it("is restored as it is stored", () => {
    const texts = (stored: Parameters<typeof Body.restore>[0]) =>
      Body.restore(stored).map((piece) => Buffer.from(piece).toString())
    assert.deepStrictEqual(texts({ json: { a: 1 } }), ['{"a":1}'])
    assert.deepStrictEqual(texts({ json: { a: 1 }, layout: "indented" }), ['{\n  "a": 1\n}'])
    assert.deepStrictEqual(texts({ chunks: ["a", { base64: "YmM=" }] }), ["a", "bc"])
    assert.deepStrictEqual(texts({}), [])
  })
})
