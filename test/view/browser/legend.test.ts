import { assert, describe, it } from "@effect/vitest"
import { signs } from "../../../packages/view/src/browser/legend.ts"
import { fillOf, isFaded } from "../../../packages/view/src/drawing/Figure.ts"

describe("the legend [P1221]", () => {
  it("has each way in which a box or a mark is drawn [P1221]", () => {
    const drawn = signs.map(([inner]) => inner).join()
    for (const state of [
      "ok",
      "failed",
      "tell",
      "discarded",
      "interrupted",
      "suspended",
      "refused",
      "waited",
      "unfinished"
    ] as const) {
      const box = { x: 0, y: 0, width: 90, height: 20, layer: "tool", part: "call", state, item: 0, many: 1 } as const
      const fill = fillOf(box)
      if (isFaded(state)) assert.include(drawn, `class="k-${fill} k-unfinished"`)
      else if (fill === "broken") assert.include(drawn, "k-failed k-pale")
      else if (fill !== "tool") assert.include(drawn, `class="k-${fill}" x=`)
    }
    for (const tone of ["mended", "tell", "lost", "asked", "note"]) assert.include(drawn, `class="k-${tone}"`)
    assert.strictEqual(new Set(signs.map(([, text]) => text)).size, signs.length)
  })
})
