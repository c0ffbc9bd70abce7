import { assert, describe, it } from "@effect/vitest"
import { Scene } from "@kintsugi/view"
import { legend, signs } from "../../../packages/view/src/browser/legend.ts"
import { withPage } from "../_support/dom.ts"
import { mid } from "../_support/recorded.ts"
import { written } from "../_support/references.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

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

  it("is a list of the signs that occur, with a picture of each [P1221]", () => {
    const said = String(legend(Scene.make(recordingOf(events))))
    const items = [...said.matchAll(/<li>(.*?)<\/li>/g)].map(([, item = ""]) => item)
    assert.strictEqual(
      said,
      `<ul class="legend" aria-label="Signs">${items.map((item) => `<li>${item}</li>`).join("")}</ul>`
    )
    assert.deepStrictEqual(
      items.map((item) => item.replace(/<svg.*<\/svg>/, "")),
      [
        "model",
        "tool",
        "failed",
        "failed within a moment, or not run",
        "faded: interrupted, waiting, without an end, or it does not count",
        "healed: it goes on"
      ]
    )
    assert.strictEqual(
      items[0],
      '<svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true"><rect class="k-model" x="1" y="1" width="20" height="12" rx="2"/></svg>model'
    )
  })

  it("has one sign for a bar that is too short for a crack, and for a call that was not run [P1221]", () => {
    const refused = [
      { turn: 1, type: "tool-skipped", callId: "c", tool: "pay" },
      { turn: 1, type: "run-completed", output: "" }
    ]
    const short = signs.find(({ text }) => text === "failed within a moment, or not run")
    const states = Scene.make(recordingOf([...events, ...refused])).items.flatMap((item) =>
      short?.has(item) === true && item.shape === "span" ? [item.state] : []
    )
    assert.deepStrictEqual([...new Set(states)].toSorted(), ["failed", "refused"])
  })
})
