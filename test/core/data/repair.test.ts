import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"

const call = (id: string): Message.ToolCall => ({ type: "tool-call", id, name: "look", arguments: "{}" })
const said = (...content: Extract<Message.Foreign, { readonly role: "assistant" }>["content"]): Message.Foreign => ({
  role: "assistant",
  content
})
const result = (callId: string, text: string, isError?: boolean): Message.Foreign => ({
  role: "tool",
  callId,
  text,
  ...(isError === undefined ? {} : { isError })
})

/** Per call its id and its settlement. */
const settlements = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) =>
          part.type === "settled-call" ? [`${part.call.id} ${part.settlement.kind}: ${part.settlement.text}`] : []
        )
      : []
  )

it("results go to their calls, orphans are settled as interrupted, results without a call are dropped [P402]", () => {
  const repaired = Message.repair([
    Message.system("Work."),
    result("c0", "from nowhere"),
    Message.user("go"),
    said(Message.text("well"), call("c1"), call("c2"), call("c3")),
    result("c3", "three"),
    result("c1", "no", true),
    result("c1", "again"),
    Message.user("and?")
  ])
  assert.deepStrictEqual(
    repaired.map(({ role }) => role),
    ["system", "user", "assistant", "user"]
  )
  assert.deepStrictEqual(settlements(repaired), [
    "c1 told: no",
    `c2 interrupted: ${Message.interrupted.text}`,
    "c3 result: three"
  ])
})

it("ids repeat: a result belongs to the nearest message before it, there to the first open call [P402]", () => {
  const repaired = Message.repair([
    said(call("c1")),
    said(call("c1"), call("c1")),
    result("c1", "first"),
    result("c1", "second"),
    result("c1", "too many"),
    said(call("c1")),
    result("c1", "third")
  ])
  assert.deepStrictEqual(settlements(repaired), [
    `c1 interrupted: ${Message.interrupted.text}`,
    "c1 result: first",
    "c1 result: second",
    "c1 result: third"
  ])
})

it("what can be read is mended: texts in the place of parts, ids that are numbers, arguments that are no JSON [P402]", () => {
  const cyclic: Array<unknown> = []
  cyclic.push(cyclic)
  const repaired = Message.repair([
    { role: "system", content: "Work." },
    { role: "user", content: ["see", { type: "text", text: "this" }, { type: "hologram" }] },
    {
      role: "assistant",
      content: [
        { type: "tool-call", id: 5, name: "look" },
        { type: "tool-call", id: "c2", name: "look", arguments: cyclic },
        { type: "settled-call", call: { id: "c3", name: "look", arguments: {} }, settlement: { kind: "done" } },
        { type: "settled-call", call: { id: 4, name: "look" }, settlement: { kind: "denied", text: "no" } },
        { type: "reasoning", text: "hm", opaque: 1 }
      ]
    },
    { role: "tool", callId: 5, content: [{ type: "text", text: "five" }] },
    { role: "tool", callId: "c3", text: "three", isError: true },
    { role: "assistant", content: "done", paused: true },
    { role: "assistant", content: "do", incomplete: true },
    { role: "assistant", content: "do", incomplete: "true" }
  ])
  const look = (id: string, args: Message.ToolCall["arguments"]) => ({ ...call(id), arguments: args })
  assert.deepStrictEqual(repaired, [
    Message.system("Work."),
    Message.user([Message.text("see"), Message.text("this")]),
    {
      role: "assistant",
      content: [
        { type: "settled-call", call: look("5", null), settlement: { kind: "result", text: "five" } },
        { type: "settled-call", call: look("c2", null), settlement: Message.interrupted },
        { type: "settled-call", call: look("c3", {}), settlement: { kind: "told", text: "three" } },
        { type: "settled-call", call: look("4", null), settlement: { kind: "denied", text: "no" } },
        { type: "reasoning", text: "hm" }
      ]
    },
    { role: "assistant", content: [Message.text("done")], paused: true },
    { role: "assistant", content: [Message.text("do")], incomplete: true },
    { role: "assistant", content: [Message.text("do")] }
  ])
})

it("unreadable messages are dropped, and no input makes it throw [P402]", () => {
  const hostile = {
    get role(): string {
      throw new Error("look away")
    }
  }
  let deep: unknown = []
  for (let i = 0; i < 50_000; i++) deep = [deep]
  for (const history of [
    null,
    undefined,
    5,
    "x",
    {},
    [null],
    [1, "x", []],
    [hostile],
    [{ role: "developer", content: "x" }]
  ]) {
    assert.deepStrictEqual(Message.repair(history), [])
  }
  const hostilePart = {
    get type(): string {
      throw new Error("look away")
    }
  }
  for (const content of [
    null,
    5,
    {},
    { flatMap: () => [Message.text("x")], length: 1 },
    [null],
    [hostile],
    [hostilePart],
    [{ type: "tool-call", id: "c", name: null }],
    [{ type: "tool-call", name: "look" }]
  ]) {
    assert.deepStrictEqual(
      Message.repair([
        { role: "assistant", content },
        { role: "user", content }
      ]),
      []
    )
  }
  const nested = { ...call("c1"), arguments: deep }
  assert.deepStrictEqual(settlements(Message.repair([{ role: "assistant", content: [nested] }])), [
    `c1 interrupted: ${Message.interrupted.text}`
  ])
  const paused: Message.Transcript = [{ role: "assistant", content: [], paused: true }]
  assert.deepStrictEqual(Message.repair(paused), paused)
})

it("texts stand under either name, and parts without a text or with an empty one are no obstacle [P402]", () => {
  const repaired = Message.repair([
    { role: "system", text: [{ type: "text", text: "Work " }, 5, "hard."] },
    { role: "system", content: [{ type: "text", text: "" }] },
    { role: "system", content: [{ type: "image" }, 5] },
    { role: "user", text: "go" },
    { role: "user", content: [] },
    { role: "assistant", text: "well" },
    { role: "assistant", content: [] },
    { role: "assistant", content: [{ type: "hologram" }] },
    { role: "assistant", content: [{ type: "tool-call", id: "c1", name: "look", arguments: {} }] },
    { role: "tool", callId: "c1", content: ["seen", { type: "text", text: " it" }] }
  ])
  assert.deepStrictEqual<ReadonlyArray<unknown>>(repaired, [
    { role: "system", text: "Work hard." },
    { role: "system", text: "" },
    { role: "user", content: [Message.text("go")] },
    { role: "user", content: [] },
    { role: "assistant", content: [Message.text("well")] },
    { role: "assistant", content: [] },
    {
      role: "assistant",
      content: [
        {
          type: "settled-call",
          call: { type: "tool-call", id: "c1", name: "look", arguments: {} },
          settlement: { kind: "result", text: "seen it" }
        }
      ]
    }
  ])
})

it("a call that has to be mended keeps what belongs to its provider, where that can be read [P402]", () => {
  const opaque = { provider: "p", data: { signature: "s" } }
  const repaired = Message.repair([
    {
      role: "assistant",
      content: [
        { type: "tool-call", id: 5, name: "look", arguments: {}, opaque },
        { type: "tool-call", id: 6, name: "look", arguments: {}, opaque: "s" },
        { type: "reasoning", text: 5 }
      ]
    }
  ])
  assert.deepStrictEqual(
    repaired.flatMap((message) =>
      message.role === "assistant" ? message.content.map((part) => ("call" in part ? part.call : part)) : []
    ),
    [
      { type: "tool-call", id: "5", name: "look", arguments: {}, opaque },
      { type: "tool-call", id: "6", name: "look", arguments: {} }
    ]
  )
})

it("a sound message stays as it is, with its extra fields [P402]", () => {
  const user = { ...Message.user("go"), at: 5 }
  const noted = { ...call("c1"), at: 6 }
  const repaired = Message.repair([user, { role: "assistant", content: [noted] }])
  assert.strictEqual(repaired[0], user)
  const [, said] = repaired
  assert(said?.role === "assistant" && said.content[0]?.type === "settled-call")
  assert.strictEqual(said.content[0].call, noted)
})

it("a result without a call id or without a text settles no call [P402]", () => {
  const repaired = Message.repair([
    { role: "assistant", content: [call("c1"), call("undefined")] },
    { role: "tool", callId: "c1", parts: [] },
    { role: "tool", text: "seen" }
  ])
  assert.deepStrictEqual(settlements(repaired), [
    `c1 interrupted: ${Message.interrupted.text}`,
    `undefined interrupted: ${Message.interrupted.text}`
  ])
})

it("of two names for a text the one that is meant for texts counts [P402]", () => {
  const repaired = Message.repair([
    { role: "system", text: ["Work."], content: "Play." },
    { role: "assistant", content: [call("c1")] },
    { role: "tool", callId: "c1", text: "seen", content: "not this" }
  ])
  assert.deepStrictEqual(repaired[0], Message.system("Work."))
  assert.deepStrictEqual(settlements(repaired), ["c1 result: seen"])
})

it("a call that is settled already takes no result of another, though it has to be mended itself [P402]", () => {
  const settlement = { kind: "told", text: "no" }
  const repaired = Message.repair([
    {
      role: "assistant",
      content: [{ type: "settled-call", call: { type: "tool-call", id: 5, name: "look", arguments: {} }, settlement }]
    },
    { role: "tool", callId: 5, text: "seen" }
  ])
  assert.deepStrictEqual(settlements(repaired), ["5 told: no"])
})

it("a part that is nested too deeply to be serialised is dropped, its message stays [P402 P1393]", () => {
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000))
  const repaired = Message.repair([
    { ...Message.system("Work."), junk: deep },
    { ...Message.user("go"), junk: deep },
    { role: "user", content: [{ type: "text", text: "now", junk: deep }, Message.text("please")], junk: deep },
    {
      role: "assistant",
      content: [
        { ...Message.text("well"), junk: deep },
        { ...call("c1"), arguments: deep }
      ]
    },
    { ...result("c1", "one"), junk: deep }
  ])
  assert.deepStrictEqual(JSON.parse(JSON.stringify(repaired)), [
    { role: "system", text: "Work." },
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "user", content: [{ type: "text", text: "please" }] },
    {
      role: "assistant",
      content: [
        {
          type: "settled-call",
          call: { type: "tool-call", id: "c1", name: "look", arguments: null },
          settlement: { kind: "result", text: "one" }
        }
      ]
    }
  ])
})
