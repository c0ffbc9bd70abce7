import { assert, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Provider from "@kintsugi/providers/Provider"
import * as fc from "fast-check"
import { read } from "../../../packages/providers/src/codec/failedGeneration.ts"
import { answer, formats } from "../../_support/wireFixtures.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const rejected = (failed_generation: unknown) => {
  const body = { error: { code: "tool_use_failed", message: "Failed to call a function.", failed_generation } }
  const error = formats["openai-chat"].classify(source, answer(400, body))
  assert(error instanceof LlmError.MalformedToolCallError)
  return error
}

it("reads the call that a provider rejected, as the model wrote it [P404]", () => {
  for (const [generation, tool, rawArgs] of [
    ['{"name": "search", "arguments": {"q": 1}}', "search", '{"q":1}'],
    ['{"name": "search", "parameters": "{\\"q\\": 1"}', "search", '{"q": 1'],
    ['[{"name": "search", "arguments": {"q": 1}}]', "search", '{"q":1}'],
    ['{"name": "search"}', "search", undefined],
    ['{"arguments": {"q": 1}}', "", '{"q":1}'],
    ['{"name": "search", "arguments": {"q": ', "search", '{"q": '],
    ['<function=search>{"q": 1}</function>', "search", '{"q": 1}'],
    ['<function=search{"q": 1,}</function>', "search", '{"q": 1,}'],
    ["<function=search></function>", "search", undefined],
    ["I would rather talk.", "", undefined],
    [5, "", undefined]
  ] as const) {
    const error = rejected(generation)
    assert.strictEqual(error.tool, tool, String(generation))
    assert.strictEqual(error.rawArgs, rawArgs, String(generation))
  }
})

it("what a rejected call does not have is absent, and a text that is too long is read in part [P404]", () => {
  assert.deepStrictEqual(read('{"name": "search"}'), { tool: "search" })
  assert.deepStrictEqual(read('{"parameters": 1}'), { rawArgs: "1" })
  assert.deepStrictEqual(read("no call"), {})
  assert.deepStrictEqual(read(undefined), {})
  const args = JSON.stringify({ q: "x".repeat(100_000) })
  const before = '{"name":"search","arguments":'
  assert.deepStrictEqual(read(`${before}${args}}`), { tool: "search", rawArgs: args.slice(0, 100_000 - before.length) })
})

it("any generation is read in good time, and a huge one too [P404]", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void rejected(text)))
  for (const piece of ["<function=", '"name"', '"arguments"  :', "{", " "]) rejected(piece.repeat(50_000))
})
