import { assert, describe, it } from "@effect/vitest"
import { Scene } from "@kintsugi/view"
import { signs } from "../../../packages/view/src/browser/legend.ts"
import { mid } from "../_support/recorded.ts"
import { written } from "../_support/references.ts"

describe("the legend [P1221]", () => {
  it("has a sign for each item that the outline draws, and no two with the same meaning [P1221]", () => {
    for (const recording of [mid("mid-fail"), written("mended"), written("storm")])
      for (const item of Scene.make(recording).items) {
        const isDrawn = item.shape === "mark" || !["run", "turn", "mending"].includes(item.part)
        if (isDrawn)
          assert.isTrue(
            signs.some(({ has }) => has(item)),
            `${item.shape} ${item.label}`
          )
      }
    assert.strictEqual(new Set(signs.map(({ text }) => text)).size, signs.length)
    assert.strictEqual(new Set(signs.map(({ inner }) => inner)).size, signs.length)
  })

  it("has nothing that does not occur [P1221]", () => {
    const { items } = Scene.make(mid("mid-fail"))
    const shown = signs.filter(({ has }) => items.some(has)).map(({ text }) => text)
    assert.include(shown, "waits for a person")
    assert.include(shown, "failed")
    assert.notInclude(shown, "fixer")
    assert.notInclude(shown, "HTTP request")
    assert.notInclude(shown, "the model reads the failure")
  })
})
