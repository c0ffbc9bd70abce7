/** What fuzzing has found, each as the input that failed, and as what is done about it now. */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type { Schema } from "effect"
import { apis } from "../../../test/_support/wireFixtures.ts"
import { ok, whole } from "../../../test/_support/codec.ts"
import { codecs } from "../src/codecs.ts"
import { targets } from "../src/targets.ts"

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

/** One call with these arguments, as each format has it. */
const calling = (args: string): Readonly<Record<(typeof apis)[number], string>> => ({
  anthropic: `{"content":[{"type":"tool_use","id":"c","name":"f","input":${args}}],"stop_reason":"tool_use"}`,
  "openai-chat": `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${args}}}]},"finish_reason":"tool_calls"}]}`,
  "openai-responses": `{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":${args}}]}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`,
  ollama: `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":${args}}}]},"done":true}`
})

describe.each(apis)("replies of %s that are nested deeply", (api) => {
  const [codec] = codecs[api]
  assert(codec !== undefined)

  it("are read, whole or streamed, as denied calls, and can be written back [T8 A907]", () => {
    for (const levels of [3_000, 6_000, 100_000]) {
      const body = calling(nested(levels))[api]
      const [call] = Message.callsOf(ok(whole(codec, body)))
      assert(call !== undefined)
      // the text of the model, or what stands in the place of values
      if (call.arguments !== "(arguments that are nested too deeply)")
        assert.isAbove(depthOf(typeof call.arguments === "string" ? JSON.parse(call.arguments) : call.arguments), 1_000)
      targets[api]?.check(body)
    }
  })

  it("are read as they are as far as calls may go [T8]", () => {
    const [call] = Message.callsOf(ok(whole(codec, calling(nested(900))[api])))
    assert.strictEqual(
      typeof call?.arguments === "string" ? call.arguments : JSON.stringify(call?.arguments),
      nested(900)
    )
  })
})

const depthOf = (value: unknown): number => {
  let depth = 0
  // fields of an object
  for (let inner = value; typeof inner === "object" && inner !== null; inner = (inner as { a?: unknown }).a) depth++
  return depth
}

it("two marks of the byte order are read alike, wherever they are cut [T8]", () => {
  const { check } = targets["gemini"] ?? assert.fail("no such target")
  check(`\uFEFF\uFEFF{"andidates":[],"usageMetadata":{"promptTokenCount":42},"modelVersion":"gemini-2.0-flash-001"}`)
  for (let blanks = 0; blanks < 12; blanks++) check(`\uFEFF\uFEFF${" ".repeat(blanks)}{"error":{"code":429}}`)
})

describe("histories that are nested deeply", () => {
  // what a snapshot of the run would be refused for
  const deep = JSON.parse(nested(3_000)) as Schema.Json // it is JSON

  it("a call keeps its place, without its arguments [P402]", () => {
    const call = { type: "tool-call", id: "c", name: "look", arguments: deep, opaque: { provider: "p", data: deep } }
    const bare: Message.ToolCall = { type: "tool-call", id: "c", name: "look", arguments: null }
    const settlement: Message.Settlement = { kind: "result", text: "seen" }
    assert.deepStrictEqual(
      Message.repair([
        { role: "assistant", content: [call] },
        { role: "tool", callId: "c", text: "seen" }
      ]),
      [{ role: "assistant", content: [{ type: "settled-call", call: bare, settlement }] }]
    )
    assert.deepStrictEqual(
      Message.repair([{ role: "assistant", content: [{ type: "settled-call", call, settlement }] }]),
      [{ role: "assistant", content: [{ type: "settled-call", call: bare, settlement }] }]
    )
  })

  it("reasoning keeps its words, and what only its provider reads is dropped [P402]", () => {
    const opaque = { provider: "p", data: deep }
    const content = [
      { type: "reasoning", text: "hm", opaque },
      { type: "provider-item", kind: "search", opaque }
    ]
    assert.deepStrictEqual(Message.repair([{ role: "assistant", content }]), [
      { role: "assistant", content: [{ type: "reasoning", text: "hm" }] }
    ])
  })
})
