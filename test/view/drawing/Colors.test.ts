/** Colours that every reader can tell apart. */
import { assert, describe, it } from "@effect/vitest"
import * as Colors from "../../../packages/view/src/drawing/Colors.ts"
import * as Style from "../../../packages/view/src/drawing/Style.ts"
import { contrast, distance, over, sights } from "./_support/sight.ts"

const meanings = ["model", "transport", "tool", "fixer", "failed", "gold"] as const
const pairs = meanings.flatMap((one, at) => meanings.slice(at + 1).map((other) => [one, other] as const))

describe.each(Object.entries({ light: Colors.light, dark: Colors.dark }))("on %s paper [P1212]", (_, palette) => {
  it.each(sights)("layers, failures and gold differ for a sight with %s [P1212]", (sight) => {
    for (const [one, other] of pairs)
      assert.isAbove(distance(palette[one], palette[other], sight), 8.5, `${one} and ${other}`)
    for (const one of meanings)
      for (const ground of ["paper", "raised", "turn"] as const)
        assert.isAbove(distance(palette[one], palette[ground], sight), 8.5, `${one} on ${ground}`)
  })

  it("texts stand out from what they are on [P1212]", () => {
    for (const text of ["ink", "quiet"] as const)
      for (const ground of ["paper", "raised"] as const) assert.isAtLeast(contrast(palette[text], palette[ground]), 4.5)
    for (const ground of ["model", "tool", "fixer"] as const)
      assert.isAtLeast(contrast(palette.onFill, palette[ground]), 4.5, ground)
    for (const ground of ["turn", "run"] as const) assert.isAtLeast(contrast(palette.ink, palette[ground]), 4.5, ground)
    // what is faded, or broken
    for (const ground of ["model", "tool", "fixer", "turn"] as const)
      assert.isAtLeast(contrast(palette.ink, over(palette[ground], palette.paper, 0.45)), 4.5, ground)
    assert.isAtLeast(contrast(palette.ink, over(palette.failed, palette.paper, 0.25)), 4.5)
  })

  it("signs stand out from the paper [P1212]", () => {
    // what is paler, such as the lanes of runs and turns and all that is faded, has an edge
    const pale = new Set(["paper", "raised", "line", "run", "turn", "onFill"])
    for (const [sign, color] of Object.entries(palette))
      if (!pale.has(sign))
        for (const ground of ["paper", "raised"] as const)
          assert.isAtLeast(contrast(color, palette[ground]), 3, `${sign} on ${ground}`)
    for (const style of [Style.figure, Style.themed])
      for (const rule of [
        ...["run", "turn", "unfinished"].map((name) => `.k-${name}{stroke:${palette.edge}}`),
        `.k-pale{fill-opacity:.25;stroke:${palette.failed}}`
      ])
        assert.include(style, rule)
  })

  it("texts of a drawing have 11 pixels or more [P1212]", () => {
    const sizes = [...Style.figure.matchAll(/font-size:([\d.]+)px/g)].map(([, size]) => Number(size))
    assert.isAtLeast(Math.min(...sizes), 11)
    assert.isAbove(sizes.length, 2)
  })
})

describe("what is measured [P1212]", () => {
  it("sees what is known to be alike [P1212]", () => {
    assert.closeTo(contrast("#000000", "#ffffff"), 21, 0.01)
    assert.isAbove(distance("#ff0000", "#00a000", "none"), 30)
    for (const sight of ["protanopia", "deuteranopia"] as const)
      assert.isBelow(distance("#d62728", "#2ca02c", sight), distance("#d62728", "#2ca02c", "none") * 0.75)
    assert.isBelow(distance("#1f77b4", "#1f8a70", "tritanopia"), distance("#1f77b4", "#1f8a70", "none") * 0.75)
  })
})
