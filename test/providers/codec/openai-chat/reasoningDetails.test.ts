/** How the pieces of reasoning details become parts. The laws cut whole replies; here stand the single cases. */
import { assert, it } from "@effect/vitest"
import {
  Details,
  of as detailsOf,
  textOf
} from "../../../../packages/providers/src/codec/openai-chat/reasoningDetails.ts"
import * as Size from "../../../../packages/providers/src/transport/Size.ts"
import type { Schema } from "effect"

const text = (text: string | null, more: Schema.JsonObject = {}) => ({ type: "reasoning.text", text, ...more })

const signed = (signature: string | null) => text("a", { signature, index: 0 })

const summary = { type: "reasoning.summary", summary: "s" }

const sealed = (more: Schema.JsonObject = {}) => ({ type: "reasoning.encrypted", data: "x", ...more })

const of = (more: Schema.JsonObject) => ({ type: "t", index: 0, ...more })

const cuts: Readonly<Record<string, readonly [pieces: ReadonlyArray<Schema.Json>, parts: ReadonlyArray<Schema.Json>]>> =
  {
    "by index and type": [
      [text("Let", { index: 0 }), { ...summary, index: 0 }, text(" me see.", { index: 0 }), text("And", { index: 1 })],
      [text("Let me see.", { index: 0 }), { ...summary, index: 0 }, text("And", { index: 1 })]
    ],
    "by their id, else to the last of their index and type": [
      [
        text("a", { index: 0, id: "r1" }),
        text("b", { index: 0 }),
        text("c", { index: 0, id: "r2" }),
        text("d", { index: 0 }),
        text("e", { index: 0, id: "r1" })
      ],
      [text("abe", { index: 0, id: "r1" }), text("cd", { index: 0, id: "r2" })]
    ],
    "and give their id to the part that has none; the next id begins another part": [
      [
        text("a", { index: 0 }),
        text("b", { index: 0, id: "r1" }),
        text("c", { index: 0, id: "r2" }),
        text("d", { index: 0, id: "r1" })
      ],
      [text("abd", { index: 0, id: "r1" }), text("c", { index: 0, id: "r2" })]
    ],
    "encrypted parts of several calls by their ids, though their index is one": [
      [sealed({ id: "a", index: 0 }), sealed({ id: "b", index: 0 })],
      [sealed({ id: "a", index: 0 }), sealed({ id: "b", index: 0 })]
    ],
    "without an index to the part before them, unless both have ids that differ": [
      [text("a", { id: "r1" }), text("b"), text("c", { id: "r1" }), text("d", { id: "r2" })],
      [text("abc", { id: "r1" }), text("d", { id: "r2" })]
    ],
    "without an index to the part before them, though only they have an id": [
      [text("a"), text("b", { id: "r1" })],
      [text("ab", { id: "r1" })]
    ],
    "but not without an index to a part with one, or of another type": [
      [text("a", { index: 0 }), text("b"), summary],
      [text("a", { index: 0 }), text("b"), summary]
    ],
    "but not encrypted ones without an index, which are whole": [
      [text("a"), text("b"), sealed(), sealed(), text("c")],
      [text("ab"), sealed(), sealed(), text("c")]
    ],
    "and add to texts, data and summaries, fill what is absent or null, and replace signatures alone": [
      [
        of({ text: "a", summary: "b", data: "c", signature: "early", format: "f1", other: null }),
        of({ text: "A", summary: "B", data: "C", signature: "late", format: "f2", other: "x", last: 1 })
      ],
      [of({ text: "aA", summary: "bB", data: "cC", signature: "late", format: "f1", other: "x", last: 1 })]
    ],
    "and null takes nothing away": [
      [signed(null), signed("early"), signed("late"), text(null, { signature: null, index: 0 })],
      [text("aaa", { signature: "late", index: 0 })]
    ],
    "unless they are no objects": [
      [null, 5, "x", [1]],
      [null, 5, "x", [1]]
    ]
  }

for (const [how, [pieces, parts]] of Object.entries(cuts)) {
  it(`pieces belong together, and all count [P1002]: ${how}`, () => {
    const details = new Details()
    for (const piece of pieces) details.push(piece)
    assert.deepStrictEqual<unknown>(details.all, parts)
    assert.strictEqual(
      details.size,
      pieces.reduce<number>((sum, piece) => sum + Size.ofJson(piece), 0)
    )
  })
}

it("the text is that of texts and summaries, in their order", () => {
  assert.strictEqual(textOf([text("a"), summary, sealed(), text("c")]), "asc")
  assert.deepStrictEqual(detailsOf({ reasoning_details: [text("a")] }), [text("a")])
  assert.deepStrictEqual(detailsOf({ reasoning_details: null }), [])
})
