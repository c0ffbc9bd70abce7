/** The steps through the failures of a report, where a call has several of them. */
import { describe, expect, it } from "vitest"
import { Steps } from "../../../packages/view/src/browser/steps.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { events, recordingOf } from "./_support/desk.ts"

describe("the steps through failures [P1219]", () => {
  it("know a failure by its event, and a call without one of its own by its last failure [P1219]", () => {
    const { length } = events
    const store = new Store(
      recordingOf([
        ...events.slice(0, length - 1),
        { turn: 2, callId: "b", tool: "pay", type: "result-cut" },
        ...events.slice(length - 1)
      ])
    )
    const steps = new Steps(store)
    const nth = (event: number) => {
      store.selectEvent(event)
      return steps.nth
    }
    expect([5, 11, 12, 10, 3].map(nth)).toEqual([1, 2, 3, 3, undefined])
  })

  it("go from a part without a failure to the one that begins at the same time, in both directions [P1219]", () => {
    const beside = { turn: 2, callId: "c", tool: "look", at: 10_000 }
    const ended = { ...beside, type: "tool-end", use: { settlement: { kind: "result", text: "" }, attempts: 1 } }
    const store = new Store(
      recordingOf([...events.slice(0, 11), { ...beside, type: "tool-start" }, ended, ...events.slice(11)])
    )
    const steps = new Steps(store)
    for (const by of [1, -1] as const) {
      store.selectEvent(11)
      expect(steps.nth).toBe(undefined)
      steps.failure(by)
      expect([store.branch?.name, steps.nth]).toEqual(["pay", 2])
    }
  })
})
