/** How runs ended over time. */
import { Recording, Stats, StatsPage, StatsSvg, StatsText } from "@kintsugi/view"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  addMinutes,
  barsOf,
  instant,
  minuteKey,
  minuteOf,
  overTime,
  textOf
} from "../../../packages/view/src/stats/overTime.ts"

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

  it("have bars that end where the names and figures of the others end, each with room to see it [P1703]", () => {
    const day = statsOf([start, "run-failed"], [start + 24 * hour, "run-completed"])
    const drawn = (width: number) => {
      const svg = StatsSvg.draw(day, { width })
      return [/runs per [^:]+/.exec(svg)?.[0], /<path class="k-line" d="M([\d.]+) [\d.]+H([\d.]+)"/.exec(svg)?.slice(1)]
    }
    expect(drawn(960)).toEqual(["runs per 30 min", ["240", "810"]])
    // 136 pixels have room for 22 bars
    expect(drawn(160)).toEqual(["runs per 2 h", ["12", "148"]])
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

describe("a minute [P1703]", () => {
  it("has the run that ended in it, by how it ended [P1703]", () => {
    const none = { completed: 0, failed: 0, others: 0 }
    expect(minuteOf(119_999, "completed")).toEqual([{ ...none, minute: 1, completed: 1 }])
    expect(minuteOf(120_000, "failed")).toEqual([{ ...none, minute: 2, failed: 1 }])
    expect(minuteOf(-1, "suspended")).toEqual([{ ...none, minute: -1, others: 1 }])
    expect(minuteOf(Infinity, "failed")).toEqual([])
  })

  it("adds up with the same minute [P1230]", () => {
    const [one, other] = [
      { minute: 7, completed: 1, failed: 2, others: 3 },
      { minute: 7, completed: 10, failed: 20, others: 30 }
    ]
    expect(addMinutes(one, other)).toEqual({ minute: 7, completed: 11, failed: 22, others: 33 })
    expect(minuteKey(one)).toBe("7")
  })

  it("is an instant in words, if it is on the calendar [P1703]", () => {
    expect([0, 59_999, start, NaN, 8.64e15 + 1].map(instant)).toEqual([
      "1970-01-01 00:00 UTC",
      "1970-01-01 00:00 UTC",
      "2026-11-21 22:39 UTC",
      "?",
      "?"
    ])
  })
})

describe("steps of time [P1703]", () => {
  const one = { completed: 1, failed: 0, others: 0 }
  const between = (first: number, last: number, most: number) =>
    overTime(
      [first, last].map((minute) => ({ minute, ...one })),
      most
    )

  it("are as short as their number admits, and whole days beyond a day [P1703]", () => {
    const steps = [1, 8, 9, 17, 18, 44, 45, 12_959, 12_960, 25_920].map(
      (last) => (between(0, last, 10)?.step ?? 0) / 60_000
    )
    expect(steps).toEqual([1, 1, 2, 2, 5, 5, 10, 1440, 2880, 4320])
    expect(between(5, 5, 10)).toBeUndefined()
    expect(overTime([], 10)).toBeUndefined()
    // one step would have no end
    expect(between(0, 100, 1)?.step).toBe(120 * 60_000)
  })

  it("begin at whole steps of the epoch [P1703]", () => {
    expect(between(7, 16, 6)).toEqual({
      from: 6 * 60_000,
      to: 18 * 60_000,
      step: 2 * 60_000,
      bins: [
        one,
        { ...one, completed: 0 },
        { ...one, completed: 0 },
        { ...one, completed: 0 },
        { ...one, completed: 0 },
        one
      ]
    })
  })

  const bins = [
    { completed: 2, failed: 1, others: 1 },
    { completed: 0, failed: 0, others: 0 },
    { completed: 0, failed: 0, others: 1 },
    { completed: 0, failed: 8, others: 0 },
    { completed: 1, failed: 0, others: 0 }
  ]
  const time = { from: 0, to: 300_000, step: 60_000, bins }

  it("are blocks of a text, by how many runs failed [P1703]", () => {
    expect(textOf(time)).toBe("Failed runs per 1 min, at most 8:\n1970-01-01 00:00 UTC │▁ ·█·│ 1970-01-01 00:05 UTC")
  })

  it("are bars of a drawing, with others on failed on completed runs [P1703]", () => {
    const drawn = barsOf({ ...time, to: 180_000, bins: bins.slice(0, 3) }, 10, 20, 30)
    expect(drawn).toBe(
      [
        "<g><title>1970-01-01 00:00 UTC: 2 completed, 1 failed, 1 others</title>",
        '<rect class="k-tool" x="20" y="32" width="9" height="22"/>',
        '<rect class="k-failed" x="20" y="21" width="9" height="11"/>',
        '<rect class="k-run" x="20" y="10" width="9" height="11"/></g>',
        "<g><title>1970-01-01 00:02 UTC: 0 completed, 0 failed, 1 others</title>",
        '<rect class="k-run" x="40" y="43" width="9" height="11"/></g>',
        '<path class="k-line" d="M20 54.5H50"/>',
        '<text class="k-quiet k-small" x="20" y="68">1970-01-01 00:00 UTC</text>',
        '<text class="k-quiet k-small" x="50" y="68" text-anchor="end">1970-01-01 00:03 UTC</text>'
      ].join("")
    )
    expect(barsOf({ ...time, bins }, 0, 0, 5)).toContain('width="1"')
    const equal = [{ completed: 1, failed: 0, others: 1 }]
    expect(barsOf({ ...time, bins: equal }, 0, 0, 5)).toContain("1 completed, 0 failed, 1 others</title>")
  })
})
