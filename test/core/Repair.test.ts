import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as fc from "fast-check"

const call = (id: string): Message.ToolCall => ({ type: "tool-call", id, name: "look", arguments: "{}" })
const said = (...content: Message.ForeignAssistant["content"]): Message.Foreign => ({ role: "assistant", content })
const result = (callId: string, text: string, isError?: boolean): Message.Foreign => ({
  role: "tool",
  callId,
  text,
  ...(isError === undefined ? {} : { isError })
})

/** Per call its id and its settlement. */
const settled = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) =>
          part.type === "settled-call" ? [`${part.call.id} ${part.settlement.kind}: ${part.settlement.text}`] : []
        )
      : []
  )

it("P402 results go to their calls, orphans are settled as interrupted, results without a call are dropped", () => {
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
  assert.deepStrictEqual(settled(repaired), [
    "c1 told: no",
    `c2 interrupted: ${Message.interrupted.text}`,
    "c3 result: three"
  ])
})

it("P402 ids repeat: a result belongs to the nearest message before it, there to the first open call", () => {
  const repaired = Message.repair([
    said(call("c1")),
    said(call("c1"), call("c1")),
    result("c1", "first"),
    result("c1", "second"),
    result("c1", "too many"),
    said(call("c1")),
    result("c1", "third")
  ])
  assert.deepStrictEqual(settled(repaired), [
    `c1 interrupted: ${Message.interrupted.text}`,
    "c1 result: first",
    "c1 result: second",
    "c1 result: third"
  ])
})

const id = fc.constantFrom("a", "b", "c")
const part: fc.Arbitrary<Message.ForeignAssistant["content"][number]> = fc.oneof(
  fc.string().map(Message.text),
  fc.string().map((text) => ({ type: "reasoning", text }) as const),
  id.map(call),
  fc
    .record({ id, kind: fc.constantFrom(...Message.SettlementKind.literals), text: fc.string() })
    .map(({ id, kind, text }) => ({ type: "settled-call", call: call(id), settlement: { kind, text } }) as const)
)
const foreign: fc.Arbitrary<Message.Foreign> = fc.oneof(
  fc.string().map(Message.system),
  fc.string().map(Message.user),
  fc.array(part, { maxLength: 5 }).map((content) => said(...content)),
  fc.record({ id, text: fc.string(), isError: fc.boolean() }).map(({ id, isError, text }) => result(id, text, isError))
)

it("L1002 P402 repair is total and idempotent, loses no call, keeps the order, and is the identity on transcripts of ours", () => {
  fc.assert(
    fc.property(fc.array(foreign, { maxLength: 12 }), (history) => {
      const once = Message.repair(history)
      assert.deepStrictEqual(Message.repair(once), once)
      const callsOf = (messages: ReadonlyArray<Message.Foreign>) =>
        messages.flatMap((message) =>
          message.role === "assistant"
            ? message.content.flatMap((part) =>
                part.type === "tool-call" ? [part] : part.type === "settled-call" ? [part.call] : []
              )
            : []
        )
      assert.deepStrictEqual(callsOf(once), callsOf(history))
      assert.deepStrictEqual(
        once.map(({ role }) => role),
        history.flatMap(({ role }) => (role === "tool" ? [] : [role]))
      )
      const texts = new Set(history.flatMap((message) => (message.role === "tool" ? [message.text] : [])))
      const given = new Set<unknown>(
        history.flatMap((message) => (message.role === "assistant" ? message.content : []))
      )
      for (const message of once) {
        if (message.role !== "assistant") continue
        for (const part of message.content) {
          if (part.type !== "settled-call" || given.has(part)) continue
          assert(part.settlement === Message.interrupted || texts.has(part.settlement.text))
        }
      }
    }),
    { numRuns: 500 }
  )
})
