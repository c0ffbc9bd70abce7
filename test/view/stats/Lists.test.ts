/** The lists of statistics as values: their titles, their rows and what they say when they are empty. */
import { Stats, StatsText } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { comparison, endings, headline, listsOf, locationOf, totalOf } from "../../../packages/view/src/stats/Lists.ts"
import { call, failed, statsOf, verdict } from "./_support/events.ts"

const runs = (fields: Partial<Stats.Stats["runs"]>): Stats.Stats["runs"] => ({ ...Stats.empty.runs, ...fields })

const ended = (tag: string, count: number, at: number, fields: object = {}): Stats.Stats["ended"][number] => ({
  tag,
  agent: "desk",
  why: "no-row",
  runs: count,
  example: { runId: `run-${tag}`, at, reason: `no row for ${tag}` },
  ...fields
})

const stats: Stats.Stats = {
  ...Stats.empty,
  runs: runs({ completed: 1, failed: 1000, interrupted: 2, suspended: 3, unfinished: 4, children: 5 }),
  ended: [
    ended("Old", 2, 0),
    ended("New", 2, 60_000, {
      tool: "pay",
      example: { runId: "run-New", at: 60_000, file: "new.jsonl", reason: "no row for New" }
    }),
    ended("Often", 1000, 0)
  ],
  healing: [
    {
      layer: "tool",
      tag: "A",
      verdict: "retry",
      byModel: false,
      incidents: 1,
      attempts: 2,
      took: [{ upTo: 100, count: 1 }],
      cost: 0,
      unpriced: 0
    },
    {
      layer: "tool",
      tag: "B",
      verdict: "none",
      byModel: true,
      incidents: 20,
      attempts: 30,
      took: [
        { upTo: 100, count: 18 },
        { upTo: 2000, count: 2 }
      ],
      cost: 0,
      unpriced: 1
    },
    {
      layer: "model",
      tag: "C",
      verdict: "retry",
      byModel: false,
      incidents: 2,
      attempts: 2,
      took: [],
      cost: 2,
      unpriced: 1
    }
  ],
  unhandled: [
    { layer: "model", tag: "A", agent: "desk", incidents: 1 },
    { layer: "tool", tag: "B", agent: "desk", tool: "pay", incidents: 3, row: { code: "the row", page: "the page" } }
  ],
  errors: [
    {
      layer: "tool",
      tag: "A",
      failures: 9,
      incidents: 9,
      healed: 1,
      healedBy: [{ verdict: "fix", gaveUp: false, byModel: false, count: 1 }],
      lostAfter: [
        { verdict: "retry", gaveUp: true, byModel: false, count: 3 },
        { verdict: "fix", gaveUp: true, byModel: false, count: 1 },
        { verdict: "retry", gaveUp: false, byModel: true, count: 2 },
        { verdict: "none", gaveUp: false, byModel: false, count: 2 }
      ]
    }
  ]
}

const numbered = (...headings: ReadonlyArray<string>) => headings.map((heading) => ({ heading, isNumber: true }))

describe("the lists of statistics", () => {
  it("begin with what ended runs, the most frequent first, then the latest [P1703]", () => {
    expect(listsOf(stats)[0]).toEqual({
      title: "What ended runs",
      caption: "Runs that failed or were interrupted, by error and place",
      columns: [
        { heading: "error" },
        { heading: "where" },
        ...numbered("runs"),
        { heading: "last seen" },
        { heading: "why" },
        { heading: "example" }
      ],
      rows: [
        ["Often", "desk", "1,000 (99 %)", "1970-01-01 00:00 UTC", "no row for Often", "run-Often"],
        ["New", "desk › pay", "2 (0.2 %)", "1970-01-01 00:01 UTC", "no row for New", "new.jsonl"],
        ["Old", "desk", "2 (0.2 %)", "1970-01-01 00:00 UTC", "no row for Old", "run-Old"]
      ],
      nothing: "No run failed."
    })
    expect(endings(stats).map(({ tag }) => tag)).toEqual(["Often", "New", "Old"])
    const [list] = listsOf(stats, ({ file }) => (file === undefined ? undefined : `reports/${file}`))
    expect(list?.rows.map((row) => row.at(-1))).toEqual([
      "run-Often",
      { text: "reports/new.jsonl", href: "reports/new.jsonl" },
      "run-Old"
    ])
  })

  it("say what healed, with the time in the middle and of the slowest, and a cost that may be unknown [P1703 P1704]", () => {
    expect(listsOf(stats)[1]).toEqual({
      title: "What was healed, and by what",
      caption: "Failures with a good end: the extra time in the middle, and of the slowest 5 %",
      columns: [
        { heading: "layer" },
        { heading: "error" },
        { heading: "healed by" },
        ...numbered("incidents", "attempts", "extra time, p50", "p95", "cost")
      ],
      rows: [
        ["tool", "B", "no row → model", "20", "30", "100 ms", "2 s", "unknown"],
        ["model", "C", "retry", "2", "2", "0 ms", "0 ms", "at least $2.00"],
        ["tool", "A", "retry", "1", "2", "100 ms", "100 ms", "$0"]
      ],
      nothing: "Nothing was healed."
    })
  })

  it("name the rows that healed nothing, each once, and no missing row [P1703]", () => {
    expect(listsOf(stats)[2]).toEqual({
      title: "Rows that never helped",
      caption: "Rows whose verdict was the last of incidents, and has healed none of them",
      columns: [{ heading: "layer" }, { heading: "error" }, { heading: "row" }, ...numbered("lost")],
      rows: [["tool", "A", "retry", "5"]],
      nothing: "Each row that was used has helped at least once."
    })
  })

  it("end with the errors without a row, and the row to write [P1703]", () => {
    expect(listsOf(stats)[3]).toEqual({
      title: "Errors without a row",
      caption: "Failures about which no table has decided, and a row that would have gone on",
      columns: [
        { heading: "layer" },
        { heading: "error" },
        { heading: "where" },
        ...numbered("incidents"),
        { heading: "a row that would have gone on" }
      ],
      rows: [
        ["tool", "B", "desk › pay", "3", "the row"],
        ["model", "A", "desk", "1", ""]
      ],
      nothing: "Each error has a row."
    })
    expect([locationOf({ agent: "a" }), locationOf({ agent: "a", tool: "t" })]).toEqual(["a", "a › t"])
  })
})

describe("the first line of statistics", () => {
  it("counts the runs with any end, and the share that failed [P1703]", () => {
    expect(totalOf(stats)).toBe(1010)
    expect(headline(stats)).toBe("1,000 of 1,010 runs failed (99 %).")
    expect(headline({ ...stats, runs: runs({ completed: 1 }) })).toBe("0 of 1 run failed (0 %).")
    expect(headline({ ...stats, runs: runs({ children: 1 }) })).toBe("There is no run.")
  })
})

describe("two sets of statistics", () => {
  it("stand side by side, with each error that ended runs of one of them [P1705]", () => {
    const after: Stats.Stats = {
      ...Stats.empty,
      runs: runs({ completed: 2 }),
      ended: [ended("New", 1, 0, { tool: "pay", why: "gave-up" }), ended("x".repeat(100), 1, 0)]
    }
    const list = comparison(stats, after)
    expect(list).toEqual({
      title: "Before and after",
      caption: "Two sets of runs side by side",
      columns: [{ heading: "" }, ...numbered("before", "after")],
      rows: [
        ["runs", "1,010", "2"],
        ["failed", "1,000 (99 %)", "0 (0 %)"],
        ["incidents", "9", "0"],
        ["healed", "1 (11.1 %)", "0"],
        ["ended by Often at desk", "1,000 (99 %)", "0 (0 %)"],
        ["ended by New at desk › pay", "2 (0.2 %)", "1 (50 %)"],
        ["ended by Old at desk", "2 (0.2 %)", "0 (0 %)"],
        [`ended by ${"x".repeat(90)}…`, "0 (0 %)", "1 (50 %)"]
      ],
      nothing: ""
    })
  })
})

describe("the text of statistics", () => {
  it("has one blank for the white space within a name [P1233]", () => {
    expect(StatsText.format(statsOf(verdict("tool", "Two  \n blanks", "retry", 1)))).toContain("Two blanks")
  })

  it("has each list below its title, with columns of equal width [P1233]", () => {
    const one = statsOf(
      { type: "run-start" },
      { ...call("1", "a\u001b\ntool"), type: "tool-start" },
      { ...call("1", "a\u001b\ntool"), ...failed },
      { ...call("1", "a\u001b\ntool"), ...verdict("tool", "Busy", "raise", 1) },
      { type: "run-failed", error: { name: "Busy" } }
    )
    expect(StatsText.format(one, { emphasise: (text) => `*${text}*` })).toBe(
      `1 of 1 run failed (100 %).

*What ended runs*
*error  where                 runs  last seen             why                                               example*
Busy   clerk › a␛ tool  1 (100 %)  1970-01-01 00:00 UTC  the row of a␛ tool for Busy ends the run (raise)  r

Nothing was healed.

*Rows that never helped*
*layer  error  row    lost*
tool   Busy   raise     1

Each error has a row.

*Errors*
*layer  error  failures  incidents   healed  healed by  lost after*
tool   Busy          1          1  0 (0 %)             raise 1

*Tools*
*tool     calls  with failures   healed*
a␛ tool      1              1  0 (0 %)

Never healed: a␛
tool (1 failing call).

1 recording, 5 events.
Runs: 1 failed.
0 turns, 1 tool call, 1 verdict, 0 ms of waits.
Work: 0 attempts, 0 tokens.
Recovery: 0 attempts, 0 tokens, which is 0 % of all tokens.`
    )
  })

  it("of nothing says so for each list [P1233]", () => {
    expect(StatsText.format(Stats.empty)).toBe(
      `There is no run.

No run failed.

Nothing was healed.

Each row that was used has helped at least once.

Each error has a row.

Nothing has failed.

0 recordings, 0 events.
Runs: none.
0 turns, 0 tool calls, 0 verdicts, 0 ms of waits.
Work: 0 attempts, 0 tokens.
Recovery: 0 attempts, 0 tokens, which is 0 % of all tokens.`
    )
  })
})
