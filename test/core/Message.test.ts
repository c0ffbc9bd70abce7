import { assert, it } from "@effect/vitest"
import { Message, Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Schema } from "effect"
import fc from "fast-check"

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Schema.Json)
const opaque = fc.record({ provider: fc.constantFrom("a", "b"), data: json })

const toolCall: fc.Arbitrary<Message.ToolCall> = fc.record(
  {
    type: fc.constant("tool-call" as const),
    id: fc.string(),
    name: fc.constantFrom("fetch", "look"),
    arguments: fc.oneof(json, fc.string()),
    opaque
  },
  { requiredKeys: ["type", "id", "name", "arguments"] }
)

const reply: fc.Arbitrary<Message.Reply> = fc.record(
  {
    content: fc.array(
      fc.oneof(
        fc.constantFrom("", "a", "some text").map(Message.text),
        fc.record(
          { type: fc.constant("reasoning" as const), text: fc.constantFrom("", "hm"), opaque },
          { requiredKeys: ["type", "text"] }
        ),
        toolCall
      ),
      { maxLength: 8 }
    ),
    finish: fc.constantFrom(...Message.FinishReason.literals),
    usage: fc.nat(1000).map((inputTokens) => Usage.make({ inputTokens })),
    model: fc.constant("gpt")
  },
  { requiredKeys: ["content", "finish", "usage"] }
)

const collect = (parts: ReadonlyArray<Model.Part>) => {
  const collector = new Model.Collector()
  for (const part of parts) collector.push(part)
  return collector
}

it("A114 L1004 a reply put together from its parts is the whole reply, raw arguments included", () => {
  fc.assert(
    fc.property(reply, (whole) => {
      assert.deepStrictEqual(collect(ScriptedModel.toParts(whole)).reply(), Model.collected(whole))
    })
  )
})

it("L1004 collecting changes neither texts nor calls, and does nothing twice", () => {
  fc.assert(
    fc.property(reply, (whole) => {
      const collected = Model.collected(whole)
      assert.strictEqual(Message.textOf(collected), Message.textOf(whole))
      assert.deepStrictEqual(Message.callsOf(collected), Message.callsOf(whole))
      assert.strictEqual(Model.collected(collected), collected)
    })
  )
})

it("P504 parts without an end are no reply; what a reader saw so far is their text", () => {
  const parts = ScriptedModel.toParts(
    ScriptedModel.reply({ content: [Message.text("one "), ScriptedModel.call("fetch", {}), Message.text("two")] })
  )
  const collector = collect(parts.slice(0, -1))
  assert.isUndefined(collector.reply())
  assert.strictEqual(collector.partial, "one two")
})

it("P703 what was counted so far is kept of parts without an end, and makes them no reply", () => {
  const counted = (outputTokens: number): Model.Part => ({ type: "usage", usage: Usage.make({ outputTokens }) })
  const text: Model.Part = { type: "text-delta", text: "one" }
  const collector = collect([counted(1), text, counted(2)])
  assert.isUndefined(collector.reply())
  assert.deepInclude(collector.spent, { usage: Usage.make({ outputTokens: 2 }) })
  const whole = collect([counted(1), text, counted(2), { type: "finish", finish: "stop", usage: Usage.empty }])
  assert.deepStrictEqual(whole.reply(), { content: [Message.text("one")], finish: "stop", usage: Usage.empty })
  assert.deepInclude(whole.spent, { usage: Usage.empty })
})

const settlement: fc.Arbitrary<Message.Settlement> = fc.record({
  kind: fc.constantFrom(...Message.SettlementKind.literals),
  text: fc.string()
})

it("P401 settling closes every call in order, whatever is missing; the rest stays as it was", () => {
  fc.assert(
    fc.property(reply, fc.array(fc.option(settlement, { nil: undefined })), (reply, settlements) => {
      const message = Message.settle(reply, settlements)
      assert.strictEqual(message.content.length, reply.content.length)
      let calls = 0
      for (const [index, part] of message.content.entries()) {
        const before = reply.content[index]
        if (part.type !== "settled-call") assert.strictEqual<unknown>(part, before)
        else {
          assert.strictEqual<unknown>(part.call, before)
          assert.deepStrictEqual(part.settlement, settlements[calls++] ?? Message.notRun)
        }
      }
    })
  )
})

it("P401 a transcript survives JSON text", () => {
  const codec = Schema.toCodecJson(Message.Transcript)
  fc.assert(
    fc.property(fc.array(reply), fc.array(settlement), (replies, settlements) => {
      const transcript: Message.Transcript = [
        Message.system("s"),
        Message.user("u"),
        ...replies.map((reply) => Message.settle(reply, settlements))
      ]
      const text = JSON.stringify(Schema.encodeSync(codec)(transcript))
      assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(JSON.parse(text)), transcript)
    })
  )
})

it("C2 only a result is a success", () => {
  assert.deepStrictEqual(
    Message.SettlementKind.literals.filter((kind) => !Message.isError({ kind, text: "" })),
    ["result"]
  )
})
