/** What a suspended run waits for, by its snapshot. */
import { assert, it } from "@effect/vitest"
import { Message, Snapshot } from "@kintsugi/core"
import { Effect } from "effect"
import * as Token from "../../../packages/core/src/data/Token.ts"

const requestOf = (callId: string, failed?: object) => ({
  runId: "r",
  agent: "a",
  callId,
  tool: "pay",
  expiresAt: 9,
  ...(failed && { failed })
})

/** A snapshot with the parts that are read here. */
const snapshotWith = (parts: object) => ({ runId: "r", agent: "a", ...parts }) as unknown as Snapshot.Snapshot

/** Calls of a reply, each with its state. */
const unfinishedWith = (...calls: ReadonlyArray<object>) => ({
  reply: { content: calls.map((_, index) => ({ type: "tool-call", id: `c${index}`, name: "pay", arguments: {} })) },
  calls
})

const waitingOf = (parts: object): ReadonlyArray<unknown> => Snapshot.waitingOf(snapshotWith(parts))

it.effect(
  "a snapshot waits for late calls, then for calls in their order, then for messages to be read [P1524 P903]",
  () =>
    Effect.gen(function* () {
      const bound = { tool: "order", definition: "d", draw: "1", store: "s", runId: "r", key: "k" }
      const token = yield* Token.make(bound)
      const late = { callId: "c9", tool: "order", handle: 1, expiresAt: 5, token }
      const inner = snapshotWith({
        runId: "s",
        unfinished: unfinishedWith({ type: "decision", request: requestOf("c0") })
      })
      const failed = requestOf("c3", { tag: "Busy" })
      const unfinished = unfinishedWith(
        { type: "finished" },
        { type: "deferred", token, handle: 2, expiresAt: 6 },
        { type: "agent", snapshot: inner },
        { type: "decision", request: failed },
        { type: "not-begun" }
      )
      const words = Message.user("more")
      const of = { runId: "r", agent: "a" }
      assert.deepStrictEqual(waitingOf({ late: [late], unfinished, inbox: [{ id: "m", message: words }] }), [
        { type: "deferred", ...of, callId: "c9", tool: "order", handle: 1, expiresAt: 5, token },
        { type: "deferred", ...of, callId: "c1", tool: "order", handle: 2, expiresAt: 6, token },
        { type: "approval", ...of, callId: "c0", tool: "pay", request: requestOf("c0"), expiresAt: 9 },
        { type: "ask", ...of, callId: "c3", tool: "pay", request: failed, expiresAt: 9 },
        { type: "message", ...of, id: "m", message: words }
      ])
      assert.deepStrictEqual(waitingOf({}), [])
      // a call that has ended waits no longer: its end is in the snapshot
      const ended = { _tag: "Success", value: 1 }
      const over = { type: "deferred", token, handle: 2, expiresAt: 6, ended }
      assert.deepStrictEqual(waitingOf({ late: [{ ...late, ended }], unfinished: unfinishedWith(over) }), [])
      assert.deepStrictEqual(waitingOf({ late: [{ ...late, result: { text: "1" } }] }), [])
    })
)

it("a deferred call whose token is none has no tool [P903]", () => {
  const unfinished = unfinishedWith({ type: "deferred", token: "none", handle: 2, expiresAt: 6 })
  assert.deepStrictEqual(waitingOf({ unfinished }), [
    { type: "deferred", runId: "r", agent: "a", callId: "c0", tool: "", handle: 2, expiresAt: 6, token: "none" }
  ])
})
