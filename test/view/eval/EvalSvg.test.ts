/** A comparison of policies as a drawing and as a page. */
import { EvalPage, EvalSvg } from "@kintsugi/view"
import { describe, expect, it } from "vitest"
import { share } from "../../../packages/core/src/testing/Eval.ts"
import { hostile } from "../_support/hostile.ts"
import { reportOf } from "./_support/report.ts"

/** What a drawing says to those who point at its parts. */
const titles = (svg: string) => [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map(([, text = ""]) => text)

/** The widths of rectangles of a kind, in order. */
const widths = (svg: string, fill: string) =>
  [...svg.matchAll(new RegExp(`<rect class="k-${fill}"[^>]* width="([^"%]+)"`, "g"))].map(([, width]) => Number(width))

describe("a comparison as a drawing", () => {
  const svg = EvalSvg.draw(reportOf(["none", "retry"], ["busy", "gone"]))

  it("has a bar for each policy: passed, failed, and wrong and silent", () => {
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
    const [, from, to] = /class="k-asked" d="M([\d.]+) [^"]*H([\d.]+)M/.exec(svg) ?? []
    const pixels = 960 - 240 - 150
    expect(Number(from)).toBeCloseTo(240 + pixels * low, 1)
    expect(Number(to)).toBeCloseTo(240 + pixels * high, 1)
  })

  it("has a cell for each scenario under each policy", () => {
    expect(titles(svg).slice(6)).toEqual([
      "busy, none: 0 % (0 % to 28 %) of 10",
      "busy, retry: 100 % (72 % to 100 %) of 10",
      "gone, none: 50 % (24 % to 76 %) of 10",
      "gone, retry: 50 % (24 % to 76 %) of 10"
    ])
    const cell = (960 - 240 - 12) / 2 - 8
    expect(widths(svg, "gold").slice(2)).toEqual([0, cell, cell / 2, cell / 2])
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
