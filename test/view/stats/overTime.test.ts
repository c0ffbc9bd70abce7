/** How runs ended over time. */
import { Recording, Stats, StatsPage, StatsSvg, StatsText } from "@kintsugi/view"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { overTime } from "../../../packages/view/src/stats/overTime.ts"

const start = Date.UTC(2026, 10, 21, 22, 39)
const hour = 3_600_000

/** Statistics of runs that end at these instants. */
const statsOf = (...runs: ReadonlyArray<readonly [at: number, type: string]>) =>
  Stats.sum(
    runs.map(([at, type], index) =>
      Stats.of(
        Recording.fromEvents([
          { runId: `r${index}`, agent: "desk", turn: 0, at: start, type: "run-start" },
          { runId: `r${index}`, agent: "desk", turn: 1, at, type, error: { name: "Busy" } }
        ])
      )
    )
  )

const night = statsOf(
  [start, "run-completed"],
  [start + hour, "run-failed"],
  [start + 2 * hour, "run-failed"],
  [start + 2 * hour + 1000, "run-failed"],
  [start + 3 * hour, "run-suspended"]
)

describe("statistics over time", () => {
  it("keep every run in one step, for any number of steps [P1703]", () => {
    const at = fc.integer({ min: 0, max: 400 * 24 * 60 }).map((minutes) => start + minutes * 60_000)
    const run = fc.tuple(at, fc.constantFrom("run-completed", "run-failed", "run-interrupted", "turn-start"))
    fc.assert(
      fc.property(fc.array(run, { minLength: 2, maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (runs, most) => {
        const stats = statsOf(...runs)
        const time = overTime(stats.minutes, most)
        if (time === undefined) {
          expect(new Set(runs.map(([at]) => at)).size).toBe(1)
          return
        }
        const sum = (of: "completed" | "failed" | "others") => time.bins.reduce((sum, bin) => sum + bin[of], 0)
        expect(sum("completed")).toBe(stats.runs.completed)
        expect(sum("failed")).toBe(stats.runs.failed)
        expect(sum("others")).toBe(stats.runs.interrupted + stats.runs.unfinished)
        expect(time.bins.length).toBeLessThanOrEqual(Math.max(2, most))
        expect(time.to - time.from).toBe(time.bins.length * time.step)
        for (const [at] of runs) expect(at >= time.from && at < time.to).toBe(true)
      })
    )
  })

  it("are a line of the text, and bars of the page and the drawing, with their bounds [P1703]", () => {
    expect(StatsText.format(night)).toContain(
      "Failed runs per 5 min, at most 2:\n2026-11-21 22:35 UTC │·           ▄           █           ·│ 2026-11-22 01:40 UTC"
    )
    for (const text of [StatsSvg.draw(night), StatsPage.make(night)]) {
      expect(text).toContain("runs per 5 min: completed, then failed, then others")
      expect(text).toContain("<title>2026-11-22 00:35 UTC: 0 completed, 2 failed, 0 others</title>")
    }
  })

  it("are left out where all runs ended at one time, and from the text where none failed [P1703]", () => {
    const one = statsOf([start, "run-failed"])
    for (const text of [StatsText.format(one), StatsSvg.draw(one)]) expect(text).not.toContain("per 1 min")
    const well = statsOf([start, "run-completed"], [start + hour, "run-completed"])
    expect(StatsText.format(well)).not.toContain("│")
    expect(StatsSvg.draw(well)).toContain("Over time")
    expect(StatsSvg.draw(statsOf([NaN, "run-failed"], [8.64e15 + 6e4, "run-failed"]))).not.toContain("NaN")
  })
})
