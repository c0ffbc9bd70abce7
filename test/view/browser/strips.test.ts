import { assert, describe, it } from "@effect/vitest"
import { Scene } from "@kintsugi/view"
import fc from "fast-check"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import * as Strip from "../../../packages/view/src/drawing/Strip.ts"
import * as Outline from "../../../packages/view/src/scene/Outline.ts"
import { stripOf } from "../../../packages/view/src/browser/strips.ts"
import { mid } from "../_support/recorded.ts"
import { written } from "../_support/references.ts"

const recordings = { midFail: mid("mid-fail"), storm: written("storm") }

const drawing = (name: keyof typeof recordings) => {
  const scene = Scene.make(recordings[name])
  return { scene, axis: Axis.make(scene), outline: Outline.make(scene, recordings[name].events) }
}

/** The left edge and the width of each bar in an SVG. */
const barsOf = (svg: string) =>
  [...svg.matchAll(/<rect class="bar ([^"]*)" x="([^"]*)" y="[^"]*" width="([^"]*)"/g)].map(([, look, x, width]) => ({
    look,
    x: Number(x),
    width: Number(width)
  }))

describe("the bars of an outline [P1279]", () => {
  it("are 2 pixels wide at least, and no more than there are pixels [P1279]", () => {
    for (const name of ["midFail", "storm"] as const) {
      const { axis, outline, scene } = drawing(name)
      fc.assert(
        fc.property(
          fc.constantFrom(...outline.branches),
          fc.integer({ min: 20, max: 900 }),
          fc.double({ min: 0, max: 0.9, noNaN: true }),
          fc.double({ min: 0.001, max: 1, noNaN: true }),
          (branch, width, from, length) => {
            const window = { start: from * axis.length, end: (from + length) * axis.length }
            const bars = barsOf(Strip.draw(stripOf(scene, outline, branch), axis, width, window))
            for (const bar of bars) assert.isAtLeast(bar.width, 2)
            assert.isAtMost(bars.length, 6 * width)
          }
        )
      )
    }
  })

  it("of a call has its attempts, the wait between them and the verdict, at their times [P1279]", () => {
    const { axis, outline, scene } = drawing("midFail")
    const call = outline.branches.find(({ badges }) => badges.some(({ text }) => text === "retried"))
    assert.isDefined(call)
    const window = { start: axis.toDrawn(call.from), end: axis.toDrawn(call.to) }
    const svg = Strip.draw(stripOf(scene, outline, call), axis, 1000, window)
    const lasts = call.to - call.from
    const [failed, ok] = call.items
      .flatMap((id) => scene.items[id] ?? [])
      .filter((item) => item.shape === "span" && item.part === "call")
    assert.isTrue(failed?.shape === "span" && ok?.shape === "span")
    if (failed?.shape !== "span" || ok?.shape !== "span") return
    const [bar] = barsOf(svg)
    assert.closeTo(bar?.x ?? 0, (1000 * (ok.from - call.from)) / lasts, 0.02)
    assert.closeTo(bar?.width ?? 0, (1000 * (ok.to - ok.from)) / lasts, 0.02)
    assert.include(svg, "k-failed k-pale")
    const [, from, width] = /<path class="k-thread" d="M([\d.]+) 13h([\d.]+)"/.exec(svg) ?? []
    assert.closeTo(Number(from), (1000 * (failed.to - call.from)) / lasts, 0.02)
    assert.closeTo(Number(width), (1000 * 800) / lasts, 0.02)
    assert.include(svg, "StaleIndex → retry in 800 ms")
  })
})
