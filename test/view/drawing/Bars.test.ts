/** Bars with their parts, their texts and their frame. */
import { describe, expect, it } from "vitest"
import {
  type Bar,
  drawn,
  headline,
  hundredths,
  sheet,
  sizeOf,
  spotsOf
} from "../../../packages/view/src/drawing/Bars.ts"
import { gutter, margin, scaleOf } from "../../../packages/view/src/drawing/scale.ts"

const bar: Bar = {
  name: "<a>",
  parts: [
    { size: 2, fill: "gold", says: "2 <healed>" },
    { size: 0, fill: "tool", says: "none" },
    { size: 1, fill: "model", says: "1" }
  ],
  says: "<b>"
}

describe("a bar [P1233]", () => {
  it("has its parts one after the other, and its texts beside them [P1233]", () => {
    expect(drawn(bar, 100, 10, 960)).toBe(
      [
        '<text class="k-text" x="232" y="115" text-anchor="end">&lt;a&gt;</text>',
        '<text class="k-quiet k-small" x="278" y="115">&lt;b&gt;</text>',
        '<g><title>&lt;a&gt;: 2 &lt;healed&gt;</title><rect class="k-gold" x="240" y="103" width="20" height="16"/></g>',
        '<g><title>&lt;a&gt;: 1</title><rect class="k-model" x="260" y="103" width="10" height="16"/></g>'
      ].join("")
    )
    expect(sizeOf(bar)).toBe(3)
    // the figure stays within the drawing
    expect(drawn(bar, 100, 1000, 960)).toContain('x="818" y="115">&lt;b&gt;')
  })

  it("has its texts above it in a narrow drawing [P1233]", () => {
    expect(drawn({ ...bar, name: "n".repeat(50) }, 100, 10, 350)).toMatch(
      /^<text class="k-text" x="12" y="114">n+…<\/text><text class="k-quiet k-small" x="338" y="114" text-anchor="end">&lt;b&gt;<\/text><g>.*<rect class="k-gold" x="12" y="119" width="20" height="16"\/>/
    )
    expect(drawn({ ...bar, name: "n".repeat(50) }, 100, 10, 350)).toContain(`>${"n".repeat(26)}…</text>`)
    expect(spotsOf(599)).toEqual({ lineHeight: 40, left: 12, right: 12, isStacked: true })
    expect(spotsOf(600)).toEqual({ lineHeight: 22, left: 240, right: 150, isStacked: false })
  })

  it("is cracked where it failed, and has a line for the interval of its value [P1212]", () => {
    const failed = (size: number) => drawn({ ...bar, parts: [{ size, fill: "failed", says: "" }] }, 0, 1, 960)
    expect(failed(9)).not.toContain("k-crack")
    expect(failed(9)).toMatch(/<rect class="k-failed" [^<>]*\/><\/g>$/)
    expect(failed(10)).toContain('<path class="k-crack" stroke-width="1.2" d="M244 3l4 8l-3 0l4 8"/>')
    expect(failed(19)).toContain('d="M244 3l4 8l-3 0l4 8M253 3l4 8l-3 0l4 8"')
    expect(failed(9000).match(/M\d/g)).toHaveLength(200)
    expect(drawn(bar, 0, 10, 960)).not.toContain("k-asked")
    expect(drawn({ ...bar, range: { low: 1, high: 2.5 } }, 0, 10, 960)).toContain(
      '<path class="k-asked" d="M250 7v8M250 11H265M265 7v8"/>'
    )
  })

  it("is drawn to a hundredth of a pixel [P1233]", () => {
    expect([1.234, 1.235_1, -0.001].map(hundredths)).toEqual([1.23, 1.24, -0])
  })
})

describe("a drawing of bars [P1233]", () => {
  it("has a headline with the meaning of its bars, beside it or below [P1233]", () => {
    expect(headline("<t>", "<k>", 20, 960)).toBe(
      '<text class="k-text k-name" x="12" y="20">&lt;t&gt;</text><text class="k-quiet k-small" x="240" y="20">&lt;k&gt;</text>'
    )
    expect(headline("t", "k", 20, 350)).toContain('x="12" y="35">k</text>')
  })

  it("is one picture with a title and a description [P1233]", () => {
    const made = sheet({ width: 300, height: 40 }, "<t>", "<d>", ["<a/>", "<b/>"])
    expect(made.replace(/<style>.*<\/style>/, "")).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" class="k-figure" role="img" aria-labelledby="k-title k-desc" viewBox="0 0 300 40" width="300" height="40"><title id="k-title">&lt;t&gt;</title><desc id="k-desc">&lt;d&gt;</desc><rect class="k-paper" width="100%" height="100%"/><a/><b/></svg>'
    )
    expect(made).toMatch(/<style>\.k-figure text\{.*@media screen and \(prefers-color-scheme:dark\)\{.*<\/style>/)
  })
})

describe("the scale of a drawing [P1208]", () => {
  it("converts between positions of the axis and pixels [P1208]", () => {
    const scale = scaleOf(gutter + margin + 200, { start: 50, end: 150 })
    expect([scale.left, scale.right, scale.perMilli]).toEqual([132, 332, 2])
    expect([scale.x(50), scale.x(100), scale.drawn(132), scale.drawn(332)]).toEqual([132, 232, 50, 150])
    // a drawing that has no room has a pixel
    expect(scaleOf(10, { start: 0, end: 1 }).right).toBe(133)
  })
})
