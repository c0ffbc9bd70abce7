/** The digest of a request, and its texts that come from code. */
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import type { RunContext } from "@kintsugi/core/RunContext"
import { asksOf, isOther, revisionOf, stampOf } from "../../packages/durable/src/asks.ts"

type Call = Pick<Extract<Interception.InterceptedStep, { readonly type: "model call" }>, "request" | "shortened">

const system = (text: string): Message.Message => ({ role: "system", text })
const user = (text: string): Message.Message => ({ role: "user", content: [{ type: "text", text }] })
const answer = (text: string): Message.Message => ({ role: "assistant", content: [{ type: "text", text }] })

/** A settled call, as the model gets it. */
const withSettlement = (settlement: object): Message.Message =>
  // a call with only what the digest reads
  ({
    role: "assistant",
    content: [{ type: "settled-call", id: "1", name: "look", arguments: {}, settlement }]
  }) as unknown as Message.Message

const call = (messages: ReadonlyArray<Message.Message>, over: object = {}): Call =>
  // a request with only what the digest reads
  ({ request: { messages, tools: [], toolChoice: "auto", ...over }, shortened: new WeakSet() }) as unknown as Call

/** A run at a turn, and what it has replaced in its conversation. */
const running = (turn: number, agent = "clerk", canReplace = true) => {
  const replaced: Array<readonly [Message.Message, Message.Message]> = []
  const replace = (before: Message.Message, after: Message.Message) => void replaced.push([before, after])
  // a run with only what the digest reads
  const run = { agent, turn: () => turn, conversation: canReplace ? { replace } : {} } as unknown as RunContext
  return { replaced, run }
}

const digests = (format: number, run: RunContext | undefined, of: Call) => {
  const { conversationDigest, requestDigest } = asksOf(format, run, of)
  assert.match(requestDigest ?? "", /^[0-9a-f]{32}$/)
  assert.match(conversationDigest ?? "", /^[0-9a-f]{32}$/)
  return { conversationDigest, requestDigest }
}

describe("the digest of a request", () => {
  const talk = [user("go"), answer("what?"), user("that")]
  const { run } = running(2)
  const base = digests(3, run, call(talk))

  it("is the same with any instructions, and with other messages before the last reply: those are records [P1119]", () => {
    assert.deepStrictEqual(digests(3, running(5).run, call([system("Be kind."), ...talk])), base)
    assert.deepStrictEqual(digests(3, run, call([user("other"), answer("what?"), user("that")])), base)
    assert.notStrictEqual(base.requestDigest, base.conversationDigest)
  })

  const before = call([user("go"), user("that")])
  const talked = call(talk)
  it.each<readonly [what: string, from: Call, run: RunContext | undefined, of: Call, isOtherTalk: boolean]>([
    ["another agent", talked, running(2, "other").run, talked, false],
    ["another tool", talked, run, call(talk, { tools: [{ name: "look" }] }), false],
    ["another choice of tools", talked, run, call(talk, { toolChoice: "none" }), false],
    ["no run", talked, undefined, talked, true],
    ["other last words", talked, run, call([user("go"), answer("what?"), answer("this")]), true],
    ["one more message before the last reply", talked, run, call([user("oh"), ...talk]), true],
    ["the last reply", talked, run, call([user("go"), answer("which?"), user("that")]), true],
    ["any message before the first reply", before, run, call([user("stop"), user("that")]), true]
  ])(
    "tells %s from this one by the request, and another conversation by both digests [P1119 P1714]",
    (_, from, other, of, isOtherTalk) => {
      const [one, two] = [digests(3, run, from), digests(3, other, of)]
      assert.notStrictEqual(two.requestDigest, one.requestDigest)
      assert.strictEqual(two.conversationDigest !== one.conversationDigest, isOtherTalk)
    }
  )
})

describe("the texts that come from code", () => {
  const rejected = { kind: "rejected", text: "no" }
  const cut = {
    kind: "result",
    text: "cut",
    parts: [
      { type: "text", text: "part" },
      { type: "image", url: "u" }
    ]
  }
  const whole = { kind: "result", text: "whole" }
  const [first, last] = [withSettlement(rejected), user("words")]
  const messages = [user("go"), first, last]

  it("are stored apart, from format 3 on those of shortened results too, and another wording has the same digest [P1712]", () => {
    const { run } = running(2)
    assert.deepStrictEqual(asksOf(3, run, call(messages)).words, ["no", "words"])
    const reworded = [user("go"), withSettlement({ ...rejected, text: "never" }), user("other words")]
    assert.deepStrictEqual(digests(3, run, call(reworded)), digests(3, run, call(messages)))
    const request = call([user("go"), withSettlement(cut)])
    request.shortened.add(cut as never)
    assert.deepStrictEqual(asksOf(3, run, request).words, ["cut", "part"])
    assert.strictEqual(asksOf(2, run, request).words, undefined)
    const other = call([user("go"), withSettlement(whole)])
    assert.strictEqual(asksOf(3, run, other).words, undefined)
  })

  it.each([
    ["the first format", 1, running(2).run, messages],
    ["the first turn", 3, running(1).run, messages],
    ["a call without a run", 3, undefined, messages],
    ["a conversation without a reply", 3, running(2).run, [user("go")]]
  ] as const)("are not looked for in %s, so its digest has them [P1712]", (_, format, run, of) => {
    const asks = asksOf(format, run, call(of))
    assert.deepStrictEqual([asks.words, asks.restore], [undefined, undefined])
    const reworded = of.map((message) => (message.role === "user" ? user("other words") : message))
    assert.notStrictEqual(asksOf(format, run, call(reworded)).requestDigest, asks.requestDigest)
  })

  it("are restored into the conversation of a replay, where they differ [P1712]", () => {
    const { replaced, run } = running(2)
    const asks = asksOf(3, run, call(messages))
    asks.restore?.(["no", "words"])
    assert.deepStrictEqual(replaced, [])
    asks.restore?.(["no", "former words"])
    assert.deepStrictEqual(replaced, [[last, user("former words")]])
    replaced.length = 0
    asks.restore?.(["never", "words"])
    assert.deepStrictEqual(replaced, [[first, withSettlement({ ...rejected, text: "never" })]])
    // a stored row with fewer texts leaves the others
    replaced.length = 0
    asks.restore?.(["never"])
    assert.deepStrictEqual(replaced, [[first, withSettlement({ ...rejected, text: "never" })]])
    // a conversation that replaces nothing stays as it is
    asksOf(3, running(2, "clerk", false).run, call(messages)).restore?.(["never", "former words"])
  })

  it("of a shortened result are restored with its parts, and the copy counts as shortened [P1712]", () => {
    const { replaced, run } = running(2)
    const request = call([user("go"), withSettlement(cut)])
    request.shortened.add(cut as never)
    asksOf(3, run, request).restore?.(["CUT", "PART"])
    const after = { ...cut, text: "CUT", parts: [{ type: "text", text: "PART" }, cut.parts[1]] }
    assert.deepStrictEqual(
      replaced.map(([, message]) => message),
      [withSettlement(after)]
    )
    const copy = replaced[0]?.[1]
    const [part] = copy?.role === "assistant" ? copy.content : []
    assert.isTrue(part?.type === "settled-call" && request.shortened.has(part.settlement))
  })
})

it("a stamp holds what there is, and its revision is read as a number, or as none [P1119 P1714]", () => {
  const asks = { requestDigest: "r", conversationDigest: "c", words: ["w"] }
  assert.deepStrictEqual(
    [stampOf(0), stampOf(2, {}), stampOf(1, asks)],
    [{}, { revision: 2 }, { ...asks, revision: 1 }]
  )
  const rows = [stampOf(3, asks), stampOf(0), { revision: "3" }, 7, undefined, null]
  assert.deepStrictEqual(rows.map(revisionOf), [3, 0, 0, 0, 0, 0])
})

it("a result is of another request if its digest differs, and after a migration that of its conversation [P1714]", () => {
  const asks = { requestDigest: "r", conversationDigest: "c", words: ["w"] }
  assert.isFalse(isOther({ requestDigest: "r", conversationDigest: "x" }, asks, false))
  assert.isTrue(isOther({ requestDigest: "x", conversationDigest: "c" }, asks, false))
  assert.isFalse(isOther({ requestDigest: "x", conversationDigest: "c" }, asks, true))
  assert.isTrue(isOther({ requestDigest: "r", conversationDigest: "x" }, asks, true))
  // earlier releases have no digest of the conversation: the number of texts counts
  assert.isFalse(isOther({ requestDigest: "x", words: ["other"] }, asks, true))
  assert.isTrue(isOther({ requestDigest: "x" }, asks, true))
  assert.isFalse(isOther({}, undefined, true))
  assert.isFalse(isOther({}, undefined, false))
})
