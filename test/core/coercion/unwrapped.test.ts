/** The call within a call of `call_tool`. */
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import type { Schema } from "effect"
import * as fc from "fast-check"
import { memberOf } from "../../../packages/core/src/coercion/member.ts"
import { unwrapped } from "../../../packages/core/src/coercion/Unwrapped.ts"

const calling = (args: Schema.Json, name = "call_tool"): Message.ToolCall => ({
  type: "tool-call",
  id: "c1",
  name,
  arguments: args
})

describe("a call of call_tool", () => {
  it("is the call that it passes on, with the same id and the text of the arguments as it was written [P1385]", () => {
    const found: ReadonlyArray<readonly [written: Schema.Json, args: Schema.Json]> = [
      ['{"name":"pay","arguments":{"cents":5}}', '{"cents":5}'],
      [
        '{"name":"pay","arguments": { "cents": 12345678901234567890, "rate": 1.10 } }',
        '{ "cents": 12345678901234567890, "rate": 1.10 }'
      ],
      ['{"arguments":{"a":"} \\" ,"},"name":"pay"}', '{"a":"} \\" ,"}'],
      ['{"arguments":{"a":1},"name":"pay","arguments":{"a":[2,{"b":3}]}}', '{"a":[2,{"b":3}]}'],
      ['{"\\u0061rguments":{"a":1},"name":"pay"}', '{"a":1}'],
      ['{"name":"pay","arguments":"{\\"cents\\":5}"}', '{"cents":5}'],
      ['```json\n{"name":"pay","arguments":{"cents":5}}\n```', '{"cents":5}'],
      ["{name: 'pay', arguments: {cents: 5}}", '{"cents": 5}'],
      ['{"name":"pay"}', null],
      ['{"name":"pay","arguments":null}', null],
      [{ name: "pay", arguments: { cents: 5 } }, { cents: 5 }],
      [{ name: "pay", arguments: '{"cents":5}' }, '{"cents":5}']
    ]
    for (const [written, args] of found) {
      assert.deepStrictEqual(unwrapped(calling(written)), calling(args, "pay"), JSON.stringify(written))
    }
  })

  it("stays as it is if it names no tool, and so does a call of another tool [P1385]", () => {
    for (const written of ["", "{}", "pay", '{"name":5,"arguments":{}}', '["pay"]', null, 7, { arguments: {} }]) {
      const call = calling(written)
      assert.strictEqual(unwrapped(call), call, JSON.stringify(written))
    }
    const other = calling('{"name":"pay","arguments":{}}', "pay")
    assert.strictEqual(unwrapped(other), other)
  })

  it("is read within three calls of call_tool, however that is spelled, and not within more [P1385 P1393]", () => {
    const nested = (depth: number): Schema.Json =>
      depth === 0 ? { cents: 5 } : { name: depth === 1 ? "pay" : "call_tool", arguments: nested(depth - 1) }
    for (const name of ["call_tool", "functions.call_tool", "CallTool", "tools:call-tool"]) {
      for (const depth of [1, 2, 3]) {
        assert.deepStrictEqual(unwrapped(calling(nested(depth), name)), calling({ cents: 5 }, "pay"), name)
      }
      assert.deepStrictEqual(unwrapped(calling(nested(4), name)), calling(nested(1), "call_tool"), name)
    }
    const other = calling(nested(1), "recall_tool")
    assert.strictEqual(unwrapped(other), other)
  })

  it("keeps what else the provider has sent with it [P1385]", () => {
    const opaque = { provider: "google", data: { signature: "s" } }
    assert.deepInclude(unwrapped({ ...calling('{"name":"pay"}'), opaque }), { opaque, name: "pay" })
  })
})

describe("the text of a field", () => {
  it("is the one that JSON.parse reads, in any object and with any white space [P1385]", () => {
    const key = fc.oneof(fc.constantFrom("a", "arguments", ""), fc.string())
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue()),
        key,
        fc.constantFrom(undefined, 1, "\t"),
        (object, name, space) => {
          const json = JSON.stringify(object, undefined, space)
          const text = memberOf(json, name)
          if (!Object.hasOwn(object, name)) return assert.isUndefined(text)
          assert.isDefined(text)
          assert.deepStrictEqual(JSON.parse(text ?? ""), (JSON.parse(json) as Record<string, unknown>)[name])
          assert.include(json, text ?? "")
        }
      ),
      { numRuns: 1000 }
    )
  })
})
