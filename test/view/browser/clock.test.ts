/** Times of the wall clock, and the text for an issue. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { dateOf, period, timeOf } from "../../../packages/view/src/browser/clock.ts"
import { issueOf, testCommand } from "../../../packages/view/src/browser/issue.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"

const noon = Date.UTC(2026, 10, 21, 12)

describe("a time [P1219]", () => {
  it("is in UTC, to the millisecond, if a date can hold it [P1219]", () => {
    expect([dateOf(noon), dateOf(-8.64e15), dateOf(8.64e15 + 1), dateOf(NaN)]).toEqual([
      "2026-11-21T12:00:00.000Z",
      "-271821-04-20T00:00:00.000Z",
      "",
      ""
    ])
    expect([timeOf(noon + 1234), timeOf(8.64e15), timeOf(Infinity)]).toEqual(["12:00:01.234", "00:00:00.000", "?"])
  })

  it("to another has the day once, if it is the same one [P1219]", () => {
    expect(period(noon, noon + 3_600_000)).toBe("21 Nov 2026 12:00:00 → 13:00:00 UTC")
    expect(period(noon, noon + 43_200_000)).toBe("21 Nov 2026 12:00:00 → 22 Nov 2026 00:00:00 UTC")
    expect([period(NaN, noon), period(noon, NaN)]).toEqual(["", ""])
    const months = Array.from({ length: 12 }, (_, month) =>
      period(Date.UTC(2026, month), Date.UTC(2026, month)).slice(2, 5)
    )
    expect(months.join(" ")).toBe("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
  })
})

const storeOf = (...events: ReadonlyArray<object>) =>
  new Store(
    Recording.fromEvents(
      events.map((event, index) => ({ runId: "r_1", agent: "a*b", turn: 1, at: noon + index * 1000, ...event }))
    )
  )

describe("the text for an issue [P1700]", () => {
  it("has the failure, and the verdicts before it, and nothing of the run is Markdown [P1701]", () => {
    const verdict = {
      type: "verdict",
      layer: "tool",
      callId: "c",
      tool: "p|y",
      tag: "Busy",
      verdict: "retry",
      attempt: 1
    }
    const error = { name: "Busy", message: "`` ``` <b>" }
    const store = storeOf(
      { type: "tool-failed", callId: "c", tool: "p|y", attempt: 1, error },
      { ...verdict, gaveUp: true },
      { type: "verdict", turn: 2 },
      { type: "run-failed", error }
    )
    expect(issueOf(store, "https://x")).toBe(
      String.raw`**✕ Failed: Busy: \`\` \`\`\` \<b\>. Where: a\*b › turn 1 › p\|y › attempt 1 of 1. Why: its row does not retry it.**

~~~~text
Busy: ~~ ~~~ <b>
~~~~

- Where: a\*b › turn 1 › p\|y › attempt 1 of 1
- Why: its row does not retry it
- Run: r\_1 of a\*b
- Time: 21 Nov 2026 12:00:00 → 12:00:03 UTC, 3 s
- Event: https://x

Verdicts:

- p\|y, turn 1: Busy → retry gave up
- ?, turn 2: ? → ?
`.replaceAll("~", "`")
    )
  })

  it("has the last ten of many verdicts, and none of a run without any [P1700]", () => {
    const verdicts = Array.from({ length: 11 }, (_, turn) => ({
      type: "verdict",
      layer: "model",
      turn,
      tag: "T",
      verdict: "fix"
    }))
    const text = issueOf(storeOf({ type: "run-start" }, ...verdicts, { type: "run-completed", output: "ok" }), "x")
    expect(text).toContain("\nThe last 10 of 11 verdicts:\n\n- model, turn 1: T → fix\n")
    expect(text.match(/^- model, turn/gm)).toHaveLength(10)
    expect(text).not.toContain("Why")
    expect(
      issueOf(storeOf({ type: "run-start" }), "x")
        .split("\n")
        .slice(1)
    ).toEqual([
      "",
      String.raw`- Run: r\_1 of a\*b`,
      "- Time: 21 Nov 2026 12:00:00 → 12:00:00 UTC, 0 ms",
      "- Event: x",
      ""
    ])
    expect(issueOf(new Store(Recording.fromEvents([])), "x")).toBe("")
    expect(issueOf(storeOf({ type: "run-start", runId: "two \n\tlines" }), "x")).toContain("- Run: two lines of ")
  })

  it("has a command for a test, in which the id of the run is one word of a shell [P1708]", () => {
    const { outcome } = storeOf({ type: "run-start", runId: "it's" })
    expect(testCommand(outcome)).toBe(
      String.raw`npx -p @kintsugi/view kintsugi test events.jsonl --run 'it'\''s' -o run.test.ts`
    )
    expect(testCommand(undefined)).toBe("npx -p @kintsugi/view kintsugi test events.jsonl -o run.test.ts")
  })
})
