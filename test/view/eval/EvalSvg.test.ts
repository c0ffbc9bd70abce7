/** A comparison of policies as a drawing and as a page. */
import { EvalPage, EvalSvg } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { share } from "../../../packages/core/src/testing/Eval.ts"
import { phone } from "../../../packages/view/src/page/StillPage.ts"
import { hostile } from "../_support/hostile.ts"
import { textsOf } from "../_support/textsOf.ts"
import { reportOf } from "./_support/report.ts"

/** What a drawing says to those who point at its parts. */
const titles = (svg: string) => [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map(([, text = ""]) => text)

/** The widths of rectangles of a kind, in order. */
const widths = (svg: string, fill: string) =>
  [...svg.matchAll(new RegExp(`<rect class="k-${fill}"[^>]* width="([^"%]+)"`, "g"))].map(([, width]) => Number(width))

describe("a comparison as a drawing", () => {
  const draw = (width = 960) => EvalSvg.draw(reportOf(["none", "retry"], ["busy", "gone"]), { width })

  it("has a bar for each policy: passed, failed, and wrong and silent", () => {
    const svg = draw()
    expect(titles(svg).slice(0, 6)).toEqual([
      "none: 5 passed",
      "none: failed: Busy 12",
      "none: 3 wrong and silent",
      "retry: 15 passed",
      "retry: failed: Busy 2",
      "retry: 3 wrong and silent"
    ])
    const [none = 0, retry = 0] = widths(svg, "gold")
    expect(retry).toBeCloseTo(3 * none, 5)
    const [failed = 0] = widths(svg, "turn")
    expect(failed).toBeCloseTo((12 / 5) * none, 5)
    // what is wrong and silent is cracked, too
    expect(svg.match(/class="k-crack"/g)).toHaveLength(2)
  })

  it("shows where the rate may really be", () => {
    const { high, low } = share(5, 20)
    const svg = draw()
    const [, from, to] = /class="k-asked" d="M([\d.]+) [^"]*H([\d.]+)M/.exec(svg) ?? []
    const pixels = 960 - 240 - 150
    expect(Number(from)).toBeCloseTo(240 + pixels * low, 1)
    expect(Number(to)).toBeCloseTo(240 + pixels * high, 1)
  })

  it("has a cell for each scenario under each policy", () => {
    const svg = draw()
    expect(titles(svg).slice(6)).toEqual([
      "busy, none: 0 % (0 % to 28 %) of 10",
      "busy, retry: 100 % (72 % to 100 %) of 10",
      "gone, none: 50 % (24 % to 76 %) of 10",
      "gone, retry: 50 % (24 % to 76 %) of 10"
    ])
    const cell = (960 - 240 - 12) / 2 - 8
    expect(widths(svg, "gold").slice(2)).toEqual([0, cell, cell / 2, cell / 2])
  })

  it("has its texts beside what they name, line below line", () => {
    const column = (960 - 240 - 12) / 2
    const svg = draw()
    expect(textsOf(svg)).toEqual([
      ["Policies", 12, 20],
      ["runs: passed, then failed, then wrong and silent (cracked); the line is the interval of 95 %", 240, 20],
      ["none", 232, 45],
      ["25 % (11 % to 47 %)", 818, 45],
      ["retry", 232, 67],
      ["75 % (53 % to 89 %)", 818, 67],
      ["Scenarios", 12, 100],
      ["runs that passed, under each policy", 240, 100],
      ["none", 240, 125],
      ["retry", 240 + column, 125],
      ["busy", 232, 147],
      ["0 %", 244, 148],
      ["100 %", 244 + column, 148],
      ["gone", 232, 169],
      ["50 %", 244, 170],
      ["50 %", 244 + column, 170]
    ])
    const cells = [...svg.matchAll(/<rect class="k-raised" x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)"/g)]
    expect(cells.map(([, ...numbers]) => numbers.map(Number))).toEqual(
      [135, 157].flatMap((y) => [240, 240 + column].map((x) => [x, y, column - 8, 16]))
    )
    expect(svg).toContain('viewBox="0 0 960 188"')
  })

  it("has the policies alone where there is little room, with their texts above the bars", () => {
    const svg = draw(599)
    expect(textsOf(svg)).toEqual([
      ["Policies", 12, 20],
      ["gold: passed; grey: failed; cracked: wrong and silent", 12, 35],
      ["none", 12, 59],
      ["25 % (11 % to 47 %)", 587, 59],
      ["retry", 12, 99],
      ["75 % (53 % to 89 %)", 587, 99]
    ])
    expect(textsOf(draw(600))).toHaveLength(16)
  })

  it("has no scenarios in a narrow drawing, and room for long names", () => {
    const narrow = EvalSvg.draw(reportOf(["none", "retry"], ["busy"]), { width: 599 })
    expect(narrow).toContain('viewBox="0 0 599 137"')
    expect(narrow).not.toContain("Scenarios")
    expect(EvalSvg.draw(reportOf(["none"], ["busy"]), { width: 600 })).toContain('viewBox="0 0 640 ')
    const long = EvalSvg.draw(reportOf(["p".repeat(200)], ["s".repeat(200)]))
    expect(long).toContain(`y="125" text-anchor="end">${"s".repeat(35)}…</text>`)
    expect(long).toContain(`x="240" y="103">${"p".repeat(115)}…</text>`)
    const { policies, ...report } = reportOf(["none"], ["busy"])
    const none = EvalSvg.draw({ ...report, policies: [] })
    expect(titles(none)).toContain("busy, : 0 % (0 % to 28 %) of 10")
    const silent = policies.map((row) => ({ ...row, passed: share(0, 0), silent: 3 }))
    expect(EvalSvg.draw({ ...report, policies: silent })).not.toMatch(/NaN|width="-/)
  })

  it("has no rate of nothing", () => {
    const { scenarios, ...report } = reportOf(["none"], ["busy"])
    const empty = scenarios.map(({ scenario }) => ({ scenario, passed: [share(0, 0)] }))
    expect(titles(EvalSvg.draw({ ...report, scenarios: empty }))).toContain("busy, none: – of 0")
  })

  it("is as wide as the policies need it", () => {
    const many = reportOf(
      Array.from({ length: 20 }, (_, index) => `policy ${index}`),
      ["busy"]
    )
    expect(EvalSvg.draw(many)).toContain(`viewBox="0 0 ${240 + 20 * 72 + 12} `)
    expect(EvalSvg.draw(many, { width: 2400 })).toContain('viewBox="0 0 2400 ')
  })
})

describe("a comparison as a page", () => {
  it("has the drawing, and tables that tell the same", () => {
    const report = reportOf(["none", "retry"], ["busy", "gone"])
    const page = EvalPage.make(report, { title: "Ours" })
    expect(page.split("\n")).toContain("<h2>Scenarios</h2>")
    expect([...page.matchAll(/<(?:h1|h2|caption)[^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual([
      "Ours",
      "Policies",
      "All scenarios together; amounts are means of a run",
      "Scenarios",
      "Runs that passed, with the interval of 95 %"
    ])
    const heads = [...page.matchAll(/<th scope="col"[^>]*>([^<]*)</g)].map(([, text]) => text)
    const columns = ["policy", "passed (95 %)", "silent", "failed with", "model calls", "tokens", "waited"]
    expect(heads).toEqual([...columns, "scenario", "none", "retry"])
    const [, narrow = ""] = page.split('<div class="drawing narrow">')
    expect(textsOf(narrow)).toEqual(textsOf(EvalSvg.draw(report, { width: phone })))
    expect(page).toContain("<title>Ours</title>")
    expect(page).toContain(EvalSvg.draw(report))
    expect(page).toContain("2 policies on 2 scenarios, 10 runs of each, seed 3.")
    // on a narrow screen each cell names its column
    expect(page).toContain('<td class="number" data-name="tokens">120</td>')
    const plain = page.replaceAll(/ data-name="[^"]*"/g, "")
    expect(plain).toContain(
      '<tr><th scope="row">none</th><td class="number">25 % (11 % to 47 %)</td><td class="number">3</td><td>Busy 12</td><td class="number">2.5</td><td class="number">120</td><td class="number">1.5 s</td></tr>'
    )
    expect(plain).toContain('<tr><th scope="row">gone</th><td class="number">50 % (24 % to 76 %)</td>')
    expect(EvalPage.make(report)).toContain("<title>Recovery policies compared</title>")
  })
})

it.each(hostile)("hostile names of policies and scenarios stay text: %j [P1214]", (text) => {
  const page = EvalPage.make(reportOf([text, "other"], [text], text), { title: text })
  const outside = page.replaceAll(/<style>[^]*?<\/style>/g, "")
  for (const [, tag = ""] of outside.matchAll(/<\/?([^\s/>]+)/g)) {
    expect(allowed).toContain(tag)
  }
  for (const [tag] of outside.matchAll(/<[^>]*>/g)) expect(tag.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/\son\w+/i)
})

const allowed =
  "!doctype html head meta title style body main h1 h2 p svg desc g path text rect div table caption thead tbody tr th td".split(
    " "
  )
