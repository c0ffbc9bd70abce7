import { assert, it } from "@effect/vitest"
import { Message, Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Option, Schema } from "effect"
import fc from "fast-check"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"

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
    finish: fc.constantFrom(...Message.Reply.fields.finish.literals),
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

it("a reply put together from its parts is the whole reply, raw arguments included [A114 L1004]", () => {
  fc.assert(
    fc.property(reply, (whole) => {
      assert.deepStrictEqual(collect(toParts(whole)).reply(), Model.collected(whole))
    })
  )
})

it("collecting changes neither texts nor calls, and does nothing twice [L1004]", () => {
  fc.assert(
    fc.property(reply, (whole) => {
      const collected = Model.collected(whole)
      assert.strictEqual(Message.textOf(collected), Message.textOf(whole))
      assert.deepStrictEqual(Message.callsOf(collected), Message.callsOf(whole))
      assert.strictEqual(Model.collected(collected), collected)
    })
  )
})

it("parts without an end are no reply; what a reader saw so far is their text [P504]", () => {
  const parts = toParts(
    ScriptedModel.reply({ content: [Message.text("one "), ScriptedModel.call("fetch", {}), Message.text("two")] })
  )
  const collector = collect(parts.slice(0, -1))
  assert.isUndefined(collector.reply())
  assert.strictEqual(collector.partial, "one two")
})

it("parts without an end give the usage so far, and no reply [P703]", () => {
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
  kind: fc.constantFrom(...Message.Settlement.fields.kind.literals),
  text: fc.string()
})

it("settle closes every call in order, also calls without a result; the other parts stay as they were [P401]", () => {
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

it("a transcript survives JSON text [P401]", () => {
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

it("a reply decodes from JSON as it was encoded; a missing or wrong field is refused [P401]", () => {
  const codec = Schema.toCodecJson(Message.Reply)
  const isReply = (value: unknown) => Option.isSome(Schema.decodeUnknownOption(codec)(value))
  const whole: Message.Reply = {
    content: [
      Message.text("well"),
      { type: "reasoning", text: "hm", opaque: { provider: "p", data: [1, null] } },
      { type: "provider-item", kind: "search", opaque: { provider: "p", data: {} } },
      { type: "tool-call", id: "c1", name: "look", arguments: { n: 1 } }
    ],
    finish: "tool-calls",
    usage: Usage.make({ inputTokens: 3, outputTokens: 2 }),
    cost: 0.25,
    model: "gpt"
  }
  const written: object = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(whole)))
  assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(written), whole)
  const { cost: _, model: __, ...least } = whole
  assert.isTrue(isReply(least))
  for (const name of Object.keys(least)) assert.isFalse(isReply({ ...written, [name]: undefined }), name)
  for (const wrong of [
    { content: [{ type: "text" }] },
    { content: [Message.user("go")] },
    { cost: "1" },
    { model: 1 }
  ]) {
    assert.isFalse(isReply({ ...written, ...wrong }), JSON.stringify(wrong))
  }
})

it("only a result is a success, and what is deferred is no error [C2 P401]", () => {
  assert.deepStrictEqual(
    Message.Settlement.fields.kind.literals.filter((kind) => !Message.isError({ kind, text: "" })),
    ["result", "deferred"]
  )
})

const read = Schema.decodeUnknownOption(Schema.toCodecJson(Message.Transcript))

it("each part, attachment and settlement needs all its fields [P401]", () => {
  const opaque = { provider: "p", data: [1, null] }
  const call = { type: "tool-call", id: "c1", name: "look", arguments: null }
  const callPart = { type: "settled-call", call, settlement: { kind: "result", text: "seen" } }
  const picture = { type: "image", mediaType: "image/png" }
  const document = { type: "file", mediaType: "text/plain" }
  const user = (part: object) => ({ role: "user", content: [part] })
  const assistant = (part: object) => ({ role: "assistant", content: [part] })
  const sound: ReadonlyArray<object> = [
    { role: "system", text: "Work." },
    user({ type: "text", text: "go" }),
    user({ ...picture, data: "AAAA" }),
    user({ ...picture, url: "https://example.org/a.png" }),
    user({ ...document, data: "AAAA", name: "a.txt" }),
    user({ ...document, url: "https://example.org/a.txt" }),
    assistant({ type: "text", text: "well" }),
    assistant({ type: "reasoning", text: "hm", opaque }),
    assistant({ type: "provider-item", kind: "search", opaque }),
    ...["result", "told", "denied", "interrupted", "truncated", "unknown", "deferred"].map((kind) =>
      assistant({ ...callPart, settlement: { kind, text: "so" } })
    ),
    assistant({ ...callPart, call: { ...call, arguments: { n: 1 }, opaque } }),
    { role: "assistant", content: [], paused: true }
  ]
  for (const message of sound) assert.deepStrictEqual<unknown>(Option.getOrUndefined(read([message])), [message])
  const senseless: ReadonlyArray<object> = [
    { role: "system" },
    { role: "tool", text: "seen" },
    { role: "user", content: "go" },
    user({ type: "text" }),
    user({ type: "", text: "go" }),
    user(picture),
    user({ ...picture, type: "video", data: "AAAA" }),
    user({ ...document, mediaType: 1, data: "AAAA" }),
    user({ ...document, data: "AAAA", name: 1 }),
    user({ type: "reasoning", text: "hm" }),
    assistant({ type: "reasoning" }),
    assistant({ type: "reasoning", text: "hm", opaque: { data: 1 } }),
    assistant({ type: "provider-item", kind: "search" }),
    assistant({ type: "provider-item", opaque }),
    assistant(call),
    assistant({ ...callPart, call: { ...call, type: "call" } }),
    assistant({ ...callPart, call: { ...call, id: 1 } }),
    assistant({ ...callPart, settlement: { kind: "result" } }),
    assistant({ ...callPart, settlement: { kind: "done", text: "seen" } }),
    assistant({ ...callPart, settlement: { kind: "", text: "seen" } }),
    { role: "assistant", content: [], paused: false }
  ]
  for (const message of senseless) assert.isTrue(Option.isNone(read([message])), JSON.stringify(message))
})

it("a call that was not run, was cut off or may have taken effect has that text, word by word [P401]", () => {
  assert.deepStrictEqual(Message.notRun, {
    kind: "interrupted",
    text: "The call was not run: the run stopped before it."
  })
  assert.deepStrictEqual(Message.unapproved, {
    kind: "interrupted",
    text: "The call was not run: it was still waiting for approval."
  })
  assert.deepStrictEqual(Message.unknown, {
    kind: "unknown",
    text: "The call was cut off after its start. It may have taken effect: look that up before any repetition."
  })
  assert.deepStrictEqual(Message.truncated, {
    kind: "truncated",
    text: "The call was not run: the reply that contained it was cut off."
  })
  assert.deepStrictEqual(Message.interrupted, {
    kind: "interrupted",
    text: "The call was interrupted before it ended."
  })
})

it("a reply ends for one of six reasons", () => {
  assert.deepStrictEqual(
    [...Message.Reply.fields.finish.literals],
    ["stop", "tool-calls", "length", "filtered", "paused", "other"]
  )
})

it("a call that did not end says why, and a withheld message that it was withheld", () => {
  assert.deepStrictEqual<unknown>(
    [Message.notRun, Message.unapproved, Message.passedOver, Message.superseded, Message.supersededAtWork],
    [
      "The call was not run: the run stopped before it.",
      "The call was not run: it was still waiting for approval.",
      "The call was not run: a message of the user came before it.",
      "The call was not run: superseded by a message of the user.",
      "The call was interrupted before it ended: superseded by a message of the user."
    ].map((text) => ({ kind: "interrupted", text }))
  )
  const withheld = (message: Message.Message) => ({ ...message, withheld: true }) as Message.Message
  const transcript = [Message.system("Work."), Message.user("a"), Message.assistant("b")]
  assert.strictEqual(Message.withoutWithheld(transcript), transcript)
  assert.deepStrictEqual(
    Message.withoutWithheld([...transcript, withheld(Message.user("c")), withheld(Message.assistant("d"))]),
    [
      ...transcript,
      withheld(Message.user("This message was withheld.")),
      withheld(Message.assistant("This answer was withheld."))
    ]
  )
})
