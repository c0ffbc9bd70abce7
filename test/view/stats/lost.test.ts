/** What statistics say first: what was lost, and what would have helped. */
import { Recording, Stats, StatsPage, StatsSvg, StatsText } from "@kintsugi/view"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { drawnRuns } from "../scene/_support/drawn.ts"
import { call, entry, failed, gaveUp, statsOf, verdict } from "./_support/events.ts"

describe("statistics", () => {
  it("begin with what ended runs, a failure without a row too [P1703]", () => {
    const declined = { name: "PaymentDeclined", message: "no" }
    const run = (id: string, at: number, ...events: ReadonlyArray<object>) =>
      events.map((event, index) => ({ runId: id, agent: "desk", turn: 1, at: at + index, ...event }))
    const paying = { ...call("c", "refund"), type: "tool-start", sideEffects: "unsafe" }
    const broken = [
      paying,
      { ...call("c", "refund"), ...failed, error: declined },
      { type: "run-failed", error: declined }
    ]
    const stats = Stats.sum([
      Stats.of(Recording.fromEvents(run("a", 0, { type: "run-start" }, ...broken)), { file: "a.jsonl" }),
      Stats.of(Recording.fromEvents(run("b", 9000, { type: "run-start" }, ...broken)), { file: "b.jsonl" }),
      Stats.of(Recording.fromEvents(run("c", 0, { type: "run-start" }, { type: "run-completed", output: "" })))
    ])
    expect(stats.ended).toEqual([
      {
        tag: "PaymentDeclined",
        agent: "desk",
        tool: "refund",
        why: "no-row",
        runs: 2,
        example: {
          runId: "b",
          at: 9003,
          file: "b.jsonl",
          reason: "refund has no row for PaymentDeclined"
        }
      }
    ])
    expect(stats.errors).toMatchObject([
      { layer: "tool", tag: "PaymentDeclined", failures: 2, incidents: 2, healed: 0, lostAfter: [{ verdict: "none" }] }
    ])
    expect(stats.unhandled).toMatchObject([
      { tool: "refund", incidents: 2, row: { code: "Tool.onError({ PaymentDeclined: Recovery.tell() })" } }
    ])
    const texts = [StatsText.format(stats), StatsPage.make(stats), StatsSvg.draw(stats)]
    for (const text of texts) {
      const first = text.indexOf("2 of 3 runs failed (66.7 %)")
      expect(first).toBeGreaterThan(-1)
      expect(text.indexOf("PaymentDeclined", first)).toBeGreaterThan(first)
      expect(text).toContain("refund has no row for PaymentDeclined")
    }
    for (const text of texts.slice(0, 2)) {
      expect(text).toContain("1970-01-01 00:00 UTC")
      expect(text).toContain("b.jsonl")
      expect(text).toContain("Tool.onError({ PaymentDeclined: Recovery.tell() })")
    }
    expect(StatsPage.make(stats, { reportOf: () => "out/1.html" })).toContain('<a href="out/1.html">out/1.html</a>')
  })

  it(
    "agree with what the runs of a soak did: each failed run has an end, and an incident that was lost [P1703]",
    () =>
      Effect.runPromise(
        Effect.map(drawnRuns, (all) => {
          for (const events of all) {
            const stats = Stats.of(Recording.fromEvents(events))
            const ended = stats.ended.reduce((sum, { runs }) => sum + runs, 0)
            expect(ended).toBe(stats.runs.failed + stats.runs.interrupted)
            const lost = stats.errors.reduce((sum, { healed, incidents }) => sum + incidents - healed, 0)
            if (stats.runs.failed > 0) expect(lost).toBeGreaterThan(0)
          }
        })
      ),
    120_000
  )

  it("say how long healing took, and what it cost [P1703]", () => {
    const fail = (at: number) => [
      { at, type: "model-failed", attempt: 1, error: { _tag: "Busy" }, entry: entry("failed", 10, 0.5) },
      { at, ...verdict("model", "Busy", "retry", 1, 100) },
      { at: at + 1000, type: "model-end", entry: entry("used", 10, 0.5) }
    ]
    const { healing } = statsOf(...fail(0), ...fail(5000))
    expect(healing).toMatchObject([{ tag: "Busy", verdict: "retry", incidents: 2, attempts: 2, cost: 1, unpriced: 0 }])
    const text = StatsText.format(statsOf(...fail(0), ...fail(5000)))
    expect(text).toMatch(/^model +Busy +retry +2 +2 +1\.0\d s +1\.0\d s +\$1\.00$/m)
  })

  it("name the rows that never helped [P1703]", () => {
    const lost = [
      verdict("model", "Busy", "retry", 1),
      gaveUp(verdict("model", "Busy", "retry", 2)),
      { type: "run-failed" }
    ]
    const text = StatsText.format(statsOf(...lost))
    expect(text).toMatch(/^Rows that never helped\n.*\nmodel +Busy +retry +1$/m)
    expect(StatsText.format(statsOf(verdict("model", "Busy", "retry", 1), { type: "model-end" }))).toContain(
      "Each row that was used has helped at least once."
    )
  })

  it("say that what no provider has reported is unknown [P1704]", () => {
    const unknown = { type: "model-failed", attempt: 1, entry: entry("failed", 0) }
    const used = { type: "model-end", entry: entry("used", 100, 2) }
    const reported = { type: "model-failed", attempt: 1, entry: entry("failed", 50, 1) }
    expect(StatsText.format(statsOf(unknown, used))).toContain("Recovery: 1 attempt, spending unknown.")
    expect(StatsSvg.draw(statsOf(unknown, used))).toContain("recovery unknown")
    expect(StatsText.format(statsOf(unknown, reported, used))).toContain(
      "Recovery: 2 attempts, at least 50 tokens, at least $1.00, which is 33.3 % of all money."
    )
    const healed = [unknown, verdict("model", "Busy", "retry", 1), { type: "model-end" }]
    expect(StatsText.format(statsOf(...healed))).toMatch(/^model +Busy +retry .* unknown$/m)
  })

  it("stand side by side [P1705]", () => {
    const lost = statsOf({ type: "run-failed", error: { name: "Busy" } })
    const fine = statsOf({ type: "run-completed" })
    for (const text of [StatsText.format(fine, { before: lost }), StatsPage.make(fine, { before: lost })]) {
      expect(text).toContain("Before and after")
      expect(text).toMatch(/failed\W.*1 \(100 %\).*0 \(0 %\)/)
      expect(text).toMatch(/ended by Busy at clerk.*1 \(100 %\).*0 \(0 %\)/)
    }
  })

  it("have a drawing for narrow screens, whose texts fit [P1233]", () => {
    const stats = statsOf({ ...call("1", "a-tool-with-a-rather-long-name-for-a-phone"), type: "tool-start" })
    const narrow = StatsSvg.draw(stats, { width: 350 })
    expect(narrow).toContain('width="350"')
    for (const [, x] of narrow.matchAll(/ x="([\d.]+)"/g)) expect(Number(x)).toBeLessThanOrEqual(350)
    expect(StatsPage.make(stats)).toContain('class="drawing narrow"')
  })
})
