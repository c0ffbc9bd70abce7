import { assert, it } from "@effect/vitest"
import { ofMessage } from "../../../../packages/providers/src/codec/openai-chat/calls.ts"

it("of a message with calls in both forms, the older form is not read [A114]", () => {
  const fn = (name: string) => ({ name, arguments: "{}" })
  const names = (message: Parameters<typeof ofMessage>[0]) => ofMessage(message).map(({ name }) => name)
  const tool_calls = ["v", "w"].map((name) => ({ id: name, function: fn(name) }))
  assert.deepStrictEqual(names({ tool_calls, function_call: fn("old") }), ["v", "w"])
  assert.deepStrictEqual(names({ tool_calls: [], function_call: fn("old") }), ["old"])
  assert.deepStrictEqual(names({ tool_calls: null }), [])
})
