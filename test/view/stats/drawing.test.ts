/** Statistics as a drawing and as a page, from sums that are given. */
import { Stats, StatsPage, StatsSvg } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { drawings, phone } from "../../../packages/view/src/page/StillPage.ts"
import { textsOf } from "../_support/textsOf.ts"

const spending = { attempts: 3, tokens: 300, cost: 0, unknown: 0 }

const stats: Stats.Stats = {
  ...Stats.empty,
  recordings: 2,
  events: 40,
  runs: { ...Stats.empty.runs, completed: 6, failed: 2 },
  minutes: [
    { minute: 0, completed: 6, failed: 0, others: 0 },
    { minute: 2, completed: 0, failed: 2, others: 0 }
  ],
  ended: [
    {
      tag: "Declined",
      agent: "desk",
      tool: "refund",
      why: "no-row",
      runs: 2,
      example: { runId: "r", at: 120_000, reason: "no row is for it" }
    }
  ],
  work: spending,
  recovery: { ...spending, attempts: 1, tokens: 100 },
  errors: [{ layer: "tool", tag: "Busy", failures: 7, incidents: 4, healed: 3, healedBy: [], lostAfter: [] }],
  tools: [
    { tool: "look", calls: 10, withFailures: 4, healed: 3 },
    { tool: "quiet", calls: 5, withFailures: 0, healed: 0 }
  ]
}

/** What the bars of a drawing say to those who point at their parts, and how wide these are. */
const bars = (svg: string) =>
  [...svg.matchAll(/<g><title>([^<]*)<\/title><rect class="k-(\w+)"[^>]* width="([^"]+)"/g)].map(
    ([, says, fill, width]) => [says, fill, Number(width)]
  )

describe("statistics as a drawing [P1233]", () => {
  it("have a panel for each kind, with a line for each bar and its figure [P1233]", () => {
    const svg = StatsSvg.draw(stats)
    const named = textsOf(svg).filter(([, x]) => x === 12)
    expect(named.map(([text]) => text)).toEqual(["Over time", "What ended runs", "Errors", "Tools", "Spent"])
    const words = textsOf(svg).map(([text]) => text)
    expect(words).toEqual([
      "Over time",
      "runs per 1 min: completed, then failed, then others",
      ...words.slice(2, words.indexOf("What ended runs")),
      "What ended runs",
      "runs, by error and place",
      "Declined · desk › refund",
      "25 % of runs",
      "Errors",
      "incidents: healed, then lost (cracked)",
      "tool Busy",
      "75 % of 4 healed",
      "Tools",
      "calls: in order, then healed, then never healed (cracked)",
      "look",
      "3 of 4 healed",
      "quiet",
      "5, no failures",
      "Spent",
      "tokens",
      "work 300 tokens",
      "25 % on recovery"
    ])
    const whole = 960 - 240 - 150
    expect(bars(svg).slice(-9)).toEqual([
      ["Declined · desk › refund: 2, no row is for it", "failed", whole],
      ["tool Busy: 3 healed", "gold", (whole * 3) / 4],
      ["tool Busy: 1 lost", "failed", whole / 4],
      ["look: 6 in order", "tool", whole * 0.6],
      ["look: 3 healed", "gold", whole * 0.3],
      ["look: 1 never healed", "failed", whole * 0.1],
      ["quiet: 5 in order", "tool", whole / 2],
      ["work 300 tokens: work: 300 tokens", "model", whole * 0.75],
      ["work 300 tokens: recovery: 100 tokens", "gold", whole * 0.25]
    ])
    expect(svg).toContain('<title id="k-title">Statistics of 2 recordings</title>')
    expect(svg).toContain(
      '<desc id="k-desc">2 of 8 runs failed (25 %). 2 recordings, 40 events. Runs: 6 completed, 2 failed.'
    )
    expect(svg).toContain("Every tool that failed has healed at least once.</desc>")
  })

  it("count money where prices are known, and no share of nothing [P1233]", () => {
    const priced = StatsSvg.draw({ ...stats, work: { ...spending, cost: 3 }, recovery: { ...spending, cost: 1 } })
    expect(textsOf(priced).map(([text]) => text)).toContain("money")
    expect(bars(priced).slice(-2)).toEqual([
      ["work $3.00: work: $3.00", "model", 427.5],
      ["work $3.00: recovery: $1.00", "gold", 142.5]
    ])
    const unknown = StatsSvg.draw({ ...stats, recovery: { ...spending, attempts: 1, unknown: 1 } })
    expect(textsOf(unknown).map(([text]) => text)).toContain("recovery unknown")
  })

  it("have so many bars in a panel, and a line for the others [P1233]", () => {
    const lines = (maxBars: number) =>
      textsOf(StatsSvg.draw(stats, { maxBars }))
        .map(([text]) => text)
        .filter((text) => ["look", "quiet", "and 1 more"].includes(String(text)))
    expect(lines(2)).toEqual(["look", "quiet"])
    expect(lines(1)).toEqual(["look", "and 1 more"])
  })
})

describe("statistics as a page [P1233]", () => {
  const headings = (page: string) =>
    [...page.matchAll(/<(?:h1|h2|caption|p class="lead")[^>]*>([^<]*)</g)].map(([, text]) => text)

  it("have their drawing and tables under a title that says how many runs failed [P1233]", () => {
    const page = StatsPage.make(stats)
    expect(page).toContain("<title>2 of 8 runs failed (25 %)</title>")
    expect(headings(page)).toEqual([
      "2 of 8 runs failed (25 %)",
      "What ended runs",
      "Runs that failed or were interrupted, by error and place",
      ...headings(page).slice(3, headings(page).indexOf("Errors")),
      "Errors",
      "What has failed, and what healed it",
      "Tools",
      "Calls of each tool",
      "Totals"
    ])
    expect(page).toContain(drawings(StatsSvg.draw(stats), StatsSvg.draw(stats, { width: phone })))
    expect(page).toContain("<p>Every tool that failed has healed at least once.</p>")
    // the title has the first sentence, and without other runs there is nothing to compare
    expect(page).toContain("<main><h1>2 of 8 runs failed (25 %)</h1>\n<h2>What ended runs</h2>\n<div ")
    expect(page.split("\n")).toContain("<h2>Errors</h2>")
  })

  it("have the sentence below a title of one's own, and what was before [P1233]", () => {
    const page = StatsPage.make(stats, { title: "Nightly", before: Stats.empty })
    expect(headings(page).slice(0, 2)).toEqual(["Nightly", "2 of 8 runs failed (25 %)."])
    expect(headings(page)[2]).toBe("Before and after")
    const empty = StatsPage.make(Stats.empty)
    expect(empty).toContain("<title>There is no run</title>")
    expect(empty).toContain("<h2>What ended runs</h2>\n<p>No run failed.</p>\n")
  })
})
