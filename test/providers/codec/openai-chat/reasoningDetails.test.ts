/** How the pieces of reasoning details become parts. The laws cut whole replies; here stand the single cases. */
import { assert, describe, it } from "@effect/vitest"
import { Details, of, textOf } from "../../../../packages/providers/src/codec/openai-chat/reasoningDetails.ts"
import * as Size from "../../../../packages/providers/src/transport/Size.ts"
import type { Schema } from "effect"

const merged = (...pieces: ReadonlyArray<Schema.Json>) => {
  const details = new Details()
  for (const piece of pieces) details.push(piece)
  return details.all
}

const text = (text: string | null, more: Schema.JsonObject = {}) => ({ type: "reasoning.text", text, ...more })

describe("pieces with an index", () => {
  it("belong to the part with their id, else to the last part of their type and index [P1002]", () => {
    const [one, other] = [
      { index: 0, id: "r1" },
      { index: 0, id: "r2" }
    ]
    assert.deepStrictEqual<unknown>(
      merged(text("a", one), text("b", { index: 0 }), text("c", other), text("d", { index: 0 }), text("e", one)),
      [text("abe", one), text("cd", other)]
    )
  })

  it("give their id to the part that has none, and the next id begins another part [P1002]", () => {
    assert.deepStrictEqual<unknown>(
      merged(
        text("a", { index: 0 }),
        text("b", { index: 0, id: "r1" }),
        text("c", { index: 0, id: "r2" }),
        text("d", { index: 0, id: "r1" })
      ),
      [text("abd", { index: 0, id: "r1" }), text("c", { index: 0, id: "r2" })]
    )
  })
})

describe("pieces without an index", () => {
  it("belong to the part before them, unless both have ids that differ [P1002]", () => {
    assert.deepStrictEqual<unknown>(
      merged(text("a", { id: "r1" }), text("b"), text("c", { id: "r1" }), text("d", { id: "r2" })),
      [text("abc", { id: "r1" }), text("d", { id: "r2" })]
    )
    assert.deepStrictEqual<unknown>(merged(text("a"), text("b", { id: "r1" })), [text("ab", { id: "r1" })])
  })

  it("begin a part behind one with an index, or of another type [P1002]", () => {
    const summary = { type: "reasoning.summary", summary: "s" }
    assert.deepStrictEqual<unknown>(merged(text("a", { index: 0 }), text("b"), summary), [
      text("a", { index: 0 }),
      text("b"),
      summary
    ])
  })
})

it("a piece adds to texts, data and summaries, fills what is absent or null, and replaces signatures alone [P1002]", () => {
  const of = (more: Schema.JsonObject) => ({ type: "t", index: 0, ...more })
  const begun = of({ text: "a", summary: "b", data: "c", signature: "early", format: "f1", other: null })
  const more = of({ text: "A", summary: "B", data: "C", signature: "late", format: "f2", other: "x", last: 1 })
  assert.deepStrictEqual<unknown>(merged(begun, more), [
    of({ text: "aA", summary: "bB", data: "cC", signature: "late", format: "f1", other: "x", last: 1 })
  ])
  assert.deepStrictEqual<unknown>(merged(text(null, { index: 0 }), text("a", { index: 0 }), text(null, { index: 0 })), [
    text("a", { index: 0 })
  ])
})

it("the size is that of all pieces", () => {
  const details = new Details()
  assert.strictEqual(details.size, 0)
  const pieces = [text("a", { index: 0 }), text("bc", { index: 0 })]
  for (const piece of pieces) details.push(piece)
  assert.strictEqual(
    details.size,
    pieces.reduce((sum, piece) => sum + Size.ofJson(piece), 0)
  )
})

it("the text is that of texts and summaries, in their order", () => {
  const summary = { type: "reasoning.summary", summary: "b" }
  assert.strictEqual(textOf([text("a"), summary, { type: "reasoning.encrypted", data: "x" }, text("c")]), "abc")
  assert.deepStrictEqual(of({ reasoning_details: [text("a")] }), [text("a")])
  assert.deepStrictEqual(of({ reasoning_details: null }), [])
})
