/** The sums of a recorded run for the list of runs. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { recordedIn, summaryOf, tagsSeen } from "../../../packages/view/src/serve/summary.ts"

const eventsOf = (...events: ReadonlyArray<object>) =>
  Recording.fromEvents(
    events.map((event, index) => ({ runId: "r", agent: "a", turn: 0, at: 5 + index * 10, ...event }))
  ).events

const start = { type: "run-start" }
const failed = (error: unknown, fields: object = {}) => ({ type: "run-failed", error, ...fields })

describe("the sums of a run", () => {
  it("are its status by its last end, its turns and its time [P1285]", () => {
    expect(
      summaryOf(eventsOf(start, { type: "turn-start", turn: 2 }, { type: "run-completed", turn: 1 }), false)
    ).toEqual({
      status: "completed",
      healed: 0,
      turns: 2,
      missing: [],
      lasted: 20
    })
    const statuses = [
      { type: "run-interrupted" },
      { type: "run-suspended" },
      { type: "turn-start" },
      { type: "run-completed", runId: "child" }
    ].map((event) => summaryOf(eventsOf(start, event), false).status)
    expect(statuses).toEqual(["interrupted", "waiting", "cut off", "cut off"])
    // a resumed run goes on
    expect(summaryOf(eventsOf(start, { type: "run-suspended" }, start), false).status).toBe("cut off")
    expect(summaryOf(eventsOf(start, { type: "run-suspended" }), true).status).toBe("running")
    expect(summaryOf([], false)).toEqual({ status: "cut off", healed: 0, turns: 0, missing: [], lasted: 0 })
  })

  it("have the error of a run that failed, with its message if there is one [P1285]", () => {
    const error = (value: unknown) => summaryOf(eventsOf(start, failed(value)), false).error
    expect([error({ _tag: "Busy", message: "later" }), error({ _tag: "Busy", message: "" }), error(undefined)]).toEqual(
      ["Busy: later", "Busy", "Error"]
    )
    expect(summaryOf(eventsOf(start, failed({ _tag: "Busy" }), start), false)).not.toHaveProperty("error")
  })

  it("count what was healed: verdicts that go on, and each call whose arguments were repaired [P1285]", () => {
    const verdict = (kind: string, fields: object = {}) => ({ type: "verdict", verdict: kind, ...fields })
    const goingOn = ["retry", "fix", "tell", "respondWith", "compact", "ask"].map((kind) => verdict(kind))
    expect(summaryOf(eventsOf(start, ...goingOn), false).healed).toBe(6)
    expect(
      summaryOf(
        eventsOf(start, verdict("raise"), verdict("retry", { gaveUp: true }), { type: "x", verdict: "retry" }),
        false
      ).healed
    ).toBe(0)
    const repaired = (fields: object) => ({ type: "arguments-coerced", callId: "c", ...fields })
    expect(
      summaryOf(
        eventsOf(
          start,
          repaired({}),
          repaired({}),
          repaired({ callId: "d" }),
          repaired({ turn: 1 }),
          repaired({ runId: "s" })
        ),
        false
      ).healed
    ).toBe(4)
  })

  it("name the services that were not found, each once [P1287]", () => {
    const missing = (text: string) => ({ message: `Service not found: ${text}` })
    expect(
      summaryOf(
        eventsOf(
          start,
          failed(missing("app/Bank  \nat x")),
          failed({ message: "x" }, { reasons: [missing("app/Bank"), missing("app/Desk"), {}] }),
          { type: "tool-failed", error: missing("app/Other") }
        ),
        false
      ).missing
    ).toEqual(["app/Bank", "app/Desk"])
  })
})

it("lines that were cut off have no event [P1285]", () => {
  expect(recordedIn(['{"a":1}', '{"a"', "", '{"b":2}'])).toEqual([{ a: 1 }, { b: 2 }])
})

it("tools have failed with their tags [P1281]", () => {
  const toolFailed = (tool: string | undefined, tag: string) => ({ type: "tool-failed", tool, error: { _tag: tag } })
  const seen = tagsSeen(
    eventsOf(
      toolFailed("pay", "A"),
      toolFailed("pay", "B"),
      toolFailed("pay", "A"),
      toolFailed("look", "C"),
      toolFailed(undefined, "D"),
      { ...toolFailed("pay", "E"), type: "verdict" }
    )
  )
  expect([...seen].map(([tool, tags]) => [tool, ...tags])).toEqual([
    ["pay", "A", "B"],
    ["look", "C"]
  ])
})
