/** JSON of a model, mended by the schema of a tool or of an output. */
import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@kintsugi/core/Message"
import { Schema } from "effect"
import { Tool } from "effect/ai"
import { mendedParams, mendedText } from "../../../packages/providers/src/effect-ai/mending.ts"

const counts = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })

const params = (args: Message.ToolCall["arguments"], tool?: Tool.Any) =>
  mendedParams({ type: "tool-call", id: "c1", name: "count", arguments: args }, tool)

describe("the arguments of a call", () => {
  it("are mended in all of their fields, by the parameters of the tool [P1107]", () => {
    const count = Tool.make("count", { parameters: counts })
    assert.deepStrictEqual(params('{"a": "1", "b": "2",}', count), { a: 1, b: 2 })
    assert.deepStrictEqual(params({ a: "1", b: 2 }, count), { a: 1, b: 2 })
    assert.deepStrictEqual(params('{"a": "x"}', count), { a: "x" })
    assert.deepStrictEqual(params("not JSON", count), "not JSON")
    assert.deepStrictEqual(params(null, count), {})
    assert.deepStrictEqual(params('{"a": "1",}'), { a: "1" })
  })

  it("are mended by the JSON Schema of a tool that has one [P1107]", () => {
    const parameters = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const
    const count = Tool.dynamic("count", { parameters })
    assert.deepStrictEqual(params('{"a": "1"}', count), { a: 1 })
  })
})

it("the text of an object is mended, and stays as it is where it fits or cannot be mended [P1107]", () => {
  assert.strictEqual(mendedText('{"a": "1", "b": "2"}', counts), '{"a":1,"b":2}')
  for (const text of ['{"a": 1, "b": 2}', "I would rather not.", '{"a": "x"}']) {
    assert.strictEqual(mendedText(text, counts), text)
  }
})
