/** The parts of a snapshot that are bounded: long results, withdrawn requests, and the compacted conversation. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import type * as RunContext from "@kintsugi/core/RunContext"
import { abridged, asideOf, inboxOf, requestsOf } from "../../../packages/core/src/run/keeping.ts"

/** A run of which the functions under test read these parts alone. */
const runWith = (parts: unknown) => parts as RunContext.RunContext

it("a snapshot has the newest long results up to 1 MiB of text, and of the older ones the handles [P1537]", () => {
  const half = 2 ** 18
  const asideWith = (...texts: ReadonlyArray<string | undefined>) =>
    asideOf(runWith({ done: { aside: texts.map((text, index) => ({ handle: `h${index}`, text })) } })).putAside?.map(
      ({ handle, text }) => [handle, text?.length]
    )
  assert.deepStrictEqual(asideOf(runWith({ done: {} })), {})
  assert.deepStrictEqual(asideWith("a".repeat(half), "b".repeat(half)), [
    ["h0", half],
    ["h1", half]
  ])
  assert.deepStrictEqual(asideWith("a".repeat(half + 1), "b".repeat(half)), [
    ["h0", undefined],
    ["h1", half]
  ])
  // what was left out before stays so, and what is older than a left-out text is left out too
  assert.deepStrictEqual(asideWith("old", "a".repeat(2 * half), undefined, "b"), [
    ["h0", undefined],
    ["h1", undefined],
    ["h2", undefined],
    ["h3", 1]
  ])
})

it("a snapshot lists the 64 newest withdrawn requests, that of a sub-agent none [P1533]", () => {
  const withdrawn = Array.from({ length: 66 }, (_, index) => `r${index}`)
  const inbox = { keep: () => [], withdrawn }
  assert.deepStrictEqual(inboxOf(runWith({ tree: { inbox } })), { withdrawn: withdrawn.slice(2) })
  assert.deepStrictEqual(inboxOf(runWith({ tree: { inbox }, parent: { runId: "r" } })), {})
  assert.deepStrictEqual(inboxOf(runWith({ tree: {} })), {})
})

it("a compacted conversation is its head, and where it is the whole one again [P1571]", () => {
  const [one, two, three] = ["1", "2", "3"].map((text) => Message.user(text))
  assert(one !== undefined && two !== undefined && three !== undefined)
  const head = Message.user("short")
  assert.deepStrictEqual(abridged([one, two, three], [head, three]), { head: [head], from: 2 })
  assert.deepStrictEqual(abridged([one, two, three], [head]), { head: [head], from: 3 })
  // nothing but the end of the conversation is left, or all of it
  assert.deepStrictEqual(abridged([one, two, three], [two, three]), { head: [], from: 1 })
  assert.deepStrictEqual(abridged([one, two], [one, two]), { head: [], from: 0 })
})

it("the requests of a call are those of its sub-agents too, however deep [P1533]", () => {
  type Call = Parameters<typeof requestsOf>[0]
  const decision = (digest: string) => ({ type: "decision", request: { digest } }) as Call
  const agent = (...calls: ReadonlyArray<Call>) => ({ type: "agent", snapshot: { unfinished: { calls } } }) as Call
  assert.deepStrictEqual(requestsOf(decision("d1")), ["d1"])
  assert.deepStrictEqual(requestsOf(agent(decision("d1"), agent(decision("d2"), agent()), decision("d3"))), [
    "d1",
    "d2",
    "d3"
  ])
  const idle = { type: "agent", snapshot: {} } as Call
  for (const call of [undefined, idle, { type: "deferred" } as Call]) assert.deepStrictEqual(requestsOf(call), [])
})
