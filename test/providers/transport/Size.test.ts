/** Sizes of texts, JSON, parts and replies. */
import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Size from "../../../packages/providers/src/transport/Size.ts"

describe("the size", () => {
  it("of a text is that of its UTF-8 [P1401]", () => {
    const bytes = (text: string) => new TextEncoder().encode(text).length
    const points = [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x1_0000, 0x1_f642, 0x10_ffff]
    for (const point of points) {
      const text = String.fromCodePoint(point)
      assert.strictEqual(Size.ofText(text), bytes(text), point.toString(16))
    }
    assert.strictEqual(Size.ofText(String.fromCodePoint(...points)), 30)
  })

  it("of JSON is that of its names, texts and numbers, and one byte for each other value [P1401]", () => {
    for (const [value, size] of [
      ["ä", 2],
      [-12.5, 5],
      [true, 1],
      [null, 1],
      [undefined, 0],
      [[], 0],
      [[1, "ab", [null]], 4],
      [{}, 0],
      [{ ä: 10, b: { c: false } }, 7]
    ] as const) {
      assert.strictEqual(Size.ofJson(value), size, JSON.stringify(value))
    }
  })

  const opaque = { provider: "p", data: { s: "12" } }
  const contents: ReadonlyArray<readonly [Message.Reply["content"][number], Model.Part, number]> = [
    [{ type: "text", text: "grün" }, { type: "text-delta", text: "grün" }, 5],
    [{ type: "reasoning", text: "ab" }, { type: "reasoning-delta", text: "ab" }, 2],
    [{ type: "reasoning", text: "ab", opaque }, { type: "reasoning-delta", text: "ab", opaque }, 5],
    [
      { type: "tool-call", id: "c1", name: "f", arguments: { n: 15 }, opaque },
      { type: "tool-call", id: "c1", name: "f", arguments: { n: 15 }, opaque },
      9
    ],
    [{ type: "provider-item", kind: "k", opaque }, { type: "provider-item", kind: "k", opaque }, 3]
  ]
  for (const [content, part, size] of contents) {
    it(`of a ${part.type} is ${size} bytes, in a stream and in a reply [P1401]`, () => {
      assert.strictEqual(Size.ofPart(part), size)
      assert.strictEqual(Size.ofReply({ content: [content], finish: "stop", usage: Usage.empty }), size)
    })
  }

  it("of several parts is their sum, in which usage and the finish have none [P1401]", () => {
    const finish = { type: "finish", finish: "stop", usage: Usage.empty } as const
    const parts = contents.map(([, part]) => part)
    assert.strictEqual(Size.ofParts([...parts, { type: "usage", usage: Usage.empty }, finish]), 24)
    const content = contents.map(([one]) => one)
    assert.strictEqual(Size.ofReply({ content, finish: "stop", usage: Usage.empty }), 24)
  })
})
