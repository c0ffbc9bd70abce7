/** The sentences and tables that all forms of statistics share. */
import { Stats } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import {
  byFailures,
  byFrequency,
  errorRows,
  isPriced,
  isUnknown,
  neverHealed,
  neverLine,
  percent,
  sentences,
  shareOf,
  toolRows,
  verdictName
} from "../../../packages/view/src/stats/words.ts"

const spending = (fields: Partial<Stats.Stats["work"]> = {}): Stats.Stats["work"] => ({
  attempts: 1,
  tokens: 0,
  cost: 0,
  unknown: 0,
  ...fields
})

const stats = (fields: Partial<Stats.Stats>): Stats.Stats => ({ ...Stats.empty, ...fields })

const runs = (fields: Partial<Stats.Stats["runs"]>): Stats.Stats["runs"] => ({ ...Stats.empty.runs, ...fields })

describe("the sentences of statistics", () => {
  it("say what there is, in the singular and the plural [P1233]", () => {
    expect(
      sentences(
        stats({
          recordings: 1,
          events: 1,
          problems: 1,
          runs: runs({ completed: 1, failed: 2, interrupted: 3, suspended: 4, unfinished: 1000, children: 1 }),
          turns: 1,
          toolCalls: 1,
          verdicts: 1,
          waitMillis: 1500,
          work: spending({ tokens: 300 }),
          recovery: spending({ attempts: 2, tokens: 100 })
        })
      )
    ).toEqual([
      "1 recording, 1 event, 1 problem in them.",
      "Runs: 1 completed, 2 failed, 3 interrupted, 4 suspended, 1,000 without an end; 1 child run.",
      "1 turn, 1 tool call, 1 verdict, 1.5 s of waits.",
      "Work: 1 attempt, 300 tokens.",
      "Recovery: 2 attempts, 100 tokens, which is 25 % of all tokens."
    ])
  })

  it("leave out what there is none of [P1233]", () => {
    expect(sentences(Stats.empty)).toEqual([
      "0 recordings, 0 events.",
      "Runs: none.",
      "0 turns, 0 tool calls, 0 verdicts, 0 ms of waits.",
      "Work: 0 attempts, 0 tokens.",
      "Recovery: 0 attempts, 0 tokens, which is 0 % of all tokens."
    ])
  })

  it("have money if some is known, and say where a price is missing [P1233 P1704]", () => {
    const some = { work: spending({ tokens: 300, cost: 3 }), recovery: spending({ tokens: 100, cost: 1 }) }
    expect(sentences(stats({ ...some, unpriced: 0 })).slice(3)).toEqual([
      "Work: 1 attempt, 300 tokens, $3.00.",
      "Recovery: 1 attempt, 100 tokens, $1.00, which is 25 % of all money."
    ])
    expect(sentences(stats({ ...some, unpriced: 2 })).slice(4)).toEqual([
      "Recovery: 1 attempt, 100 tokens, $1.00, which is 25 % of all tokens.",
      "Prices are not known in 2 recordings."
    ])
    const unknown = { ...some, recovery: spending({ attempts: 2, tokens: 5, unknown: 1 }) }
    expect(sentences(stats(unknown))[4]).toBe(
      "Recovery: 2 attempts, at least 5 tokens, cost unknown, which is 0 % of all money."
    )
    expect(sentences(stats({ ...some, recovery: spending({ unknown: 1 }) }))[4]).toBe(
      "Recovery: 1 attempt, spending unknown."
    )
    expect(sentences(stats({ unpriced: 1 }))).toHaveLength(5)
  })
})

describe("shares [P1233]", () => {
  it("are of the money if all prices are known, else of the tokens [P1233]", () => {
    const both = { work: spending({ tokens: 100, cost: 3 }), recovery: spending({ tokens: 100, cost: 1 }) }
    expect([isPriced(stats(both)), shareOf(stats(both))]).toEqual([true, 0.25])
    expect([isPriced(stats({ ...both, unpriced: 1 })), shareOf(stats({ ...both, unpriced: 1 }))]).toEqual([false, 0.5])
    expect([isPriced(Stats.empty), shareOf(Stats.empty)]).toEqual([false, 0])
    expect(isPriced(stats({ recovery: spending({ cost: 1 }) }))).toBe(true)
    expect(isPriced(stats({ work: spending({ cost: 1 }) }))).toBe(true)
  })

  it("are none and all exactly, and else never read so [P1233]", () => {
    expect([0, 1e-9, 0.000_999, 0.001, 0.333, 0.5, 0.999, 0.999_01, 1 - 1e-9, 1].map(percent)).toEqual([
      "0 %",
      "< 0.1 %",
      "< 0.1 %",
      "0.1 %",
      "33.3 %",
      "50 %",
      "99.9 %",
      "> 99.9 %",
      "> 99.9 %",
      "100 %"
    ])
  })

  it("are unknown if each attempt is, and there is one [P1704]", () => {
    const unknown = [spending({ unknown: 1 }), spending({ attempts: 2, unknown: 1 }), spending({ attempts: 0 })]
    expect(unknown.map(isUnknown)).toEqual([true, false, false])
  })
})

const error = (fields: Partial<Stats.Stats["errors"][number]>): Stats.Stats["errors"][number] => ({
  layer: "tool",
  tag: "Busy",
  failures: 1,
  incidents: 1,
  healed: 0,
  healedBy: [],
  lostAfter: [],
  ...fields
})

const by = (verdict: string, fields: object = {}) => ({ verdict, gaveUp: false, byModel: false, count: 1, ...fields })

describe("the table of errors", () => {
  it("has the verdicts of each, with what became of them [P1233]", () => {
    const healedBy = [by("retry", { count: 1000 }), by("tell", { byModel: true })]
    const lostAfter = [by("retry", { gaveUp: true, count: 2 }), by("none")]
    expect(
      errorRows(stats({ errors: [error({ failures: 3000, incidents: 2000, healed: 1000, healedBy, lostAfter })] }))
    ).toEqual([
      ["tool", "Busy", "3,000", "2,000", "1,000 (50 %)", "retry 1,000, tell → model 1", "retry gave up 2, no row 1"]
    ])
    expect([verdictName("none", true), verdictName("fix", true), verdictName("fix", false)]).toEqual([
      "no row",
      "fix gave up",
      "fix"
    ])
  })

  it("begins with the most incidents, then with the most failures [P1233]", () => {
    const errors = [
      error({ tag: "A" }),
      error({ tag: "B", failures: 2 }),
      error({ tag: "C", incidents: 2 }),
      error({ tag: "D", incidents: 2, failures: 9 })
    ]
    expect(byFrequency(stats({ errors })).map(({ tag }) => tag)).toEqual(["D", "C", "B", "A"])
  })
})

describe("the table of tools", () => {
  const tools = [
    { tool: "fine", calls: 2000, withFailures: 0, healed: 0 },
    { tool: "busy", calls: 5, withFailures: 1, healed: 0 },
    { tool: "busier", calls: 6, withFailures: 1, healed: 0 },
    { tool: "mended", calls: 4, withFailures: 4, healed: 1 },
    { tool: "worst", calls: 2, withFailures: 2, healed: 0 }
  ]

  it("begins with the most failing calls, then with the most calls, and has shares of failing calls alone [P1233]", () => {
    expect(toolRows(stats({ tools }))).toEqual([
      ["mended", "4", "4", "1 (25 %)"],
      ["worst", "2", "2", "0 (0 %)"],
      ["busier", "6", "1", "0 (0 %)"],
      ["busy", "5", "1", "0 (0 %)"],
      ["fine", "2,000", "0", ""]
    ])
    expect(byFailures(stats({ tools }))).toHaveLength(5)
  })

  it("has a line about the tools that never healed [P1232]", () => {
    expect(neverHealed(stats({ tools })).map(({ tool }) => tool)).toEqual(["worst", "busy", "busier"])
    expect(neverLine(stats({ tools }))).toBe(
      "Never healed: worst (2 failing calls), busy (1 failing call), busier (1 failing call)."
    )
    expect(neverLine(Stats.empty)).toBe("Every tool that failed has healed at least once.")
  })
})
