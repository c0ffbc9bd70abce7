/** The bars and marks of one row of an outline. */
import { assert, describe, it } from "@effect/vitest"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import * as Strip from "../../../packages/view/src/drawing/Strip.ts"
import type { Mark, Span } from "../../../packages/view/src/scene/Shapes.ts"
import { lane, mark, sceneOf, span } from "./_support/sceneOf.ts"

type Items = ReadonlyArray<Omit<Span, "id"> | Omit<Mark, "id">>

const lanes = (["tool", "run", "turn", "model", "transport", "fixer"] as const).map((layer) => lane(layer))
const laneOf = { tool: 0, run: 1, turn: 2, model: 3, transport: 4, fixer: 5 }

const stripOf = (items: Items): Strip.Strip => {
  const scene = sceneOf({ items, lanes })
  return Strip.make(scene, scene.items)
}

/** The elements of a row with a pixel per millisecond. */
const drawn = (items: Items, { end, start } = { start: 0, end: 1000 }): string =>
  Strip.draw(stripOf(items), Axis.make(sceneOf({})), end - start, { start, end })

/** The bars that are no threads: their left edges, widths and titles. */
const bars = (items: Items, window?: { readonly start: number; readonly end: number }) =>
  [
    ...drawn(items, window).matchAll(
      /<rect class="bar k-(\S+?)[ "].*?x="(\S+)".*? width="(\S+)".*?>(?:<title>(.*?)<\/title>)?<\/rect>/g
    )
  ].map(([, look, x, width, title]) => [look, Number(x), Number(width), title])

describe("the strip of some items [P1279]", () => {
  it("has bars by their looks, good ones first, each in the order of time [P1279]", () => {
    const state = "unfinished"
    const { segments } = stripOf([
      span(9, 10, { part: "approval" }),
      span(8, 10, { part: "mending" }),
      span(7, 10, { part: "wait" }),
      span(6, 10, { state: "failed" }),
      span(5, 10, { lane: laneOf.fixer }),
      span(5, 10),
      span(3, 10, { state }),
      span(4, 10),
      span(2, 10, { lane: laneOf.transport }),
      span(2, 10, { lane: laneOf.model }),
      span(1, 10, { lane: laneOf.turn }),
      span(0, 10, { lane: laneOf.run }),
      span(0, 10, { lane: 99 }),
      span(7, 10, { state: "refused" })
    ])
    assert.deepStrictEqual(
      segments.map(({ from, isFaded, look }) => `${look} ${from}${isFaded ? " faded" : ""}`),
      [
        "run 0",
        "run 0",
        "turn 1",
        "model 2",
        "transport 2",
        "tool 4",
        "tool 5",
        "tool 3 faded",
        "fixer 5",
        "failed 6",
        "failed 7",
        "wait 7",
        "mending 8",
        "person 9"
      ]
    )
    assert.deepStrictEqual(stripOf([span(1, 3, { label: "x" })]).segments, [
      { look: "tool", isFaded: false, label: "x", from: 1, to: 3 }
    ])
  })

  it("has marks that mean something, in the order of time [P1279]", () => {
    const marks = [mark(3, "tell"), mark(2, "note"), mark(1, "lost"), mark(2, "asked")]
    assert.deepStrictEqual(
      stripOf(marks).marks.map(({ at, tone }) => [at, tone]),
      [
        [1, "lost"],
        [2, "asked"],
        [3, "tell"]
      ]
    )
  })

  it("has the scale of its window [P1279]", () => {
    const x = Strip.scale(500, { start: 100, end: 1100 })
    assert.deepStrictEqual([100, 300, 1100].map(x), [0, 100, 500])
  })
})

describe("the row of a strip [P1279]", () => {
  it("has a form for each look [P1221 P1279]", () => {
    const one = (more: Parameters<typeof span>[2]) => drawn([span(100, 300, { label: "<x>", ...more })])
    const title = "<title>&lt;x&gt;</title>"
    assert.strictEqual(one({}), `<rect class="bar k-tool" x="100" y="7" width="200" height="12" rx="2">${title}</rect>`)
    for (const layer of ["turn", "run"] as const)
      assert.strictEqual(
        one({ lane: laneOf[layer] }),
        `<rect class="bar k-${layer}" x="100" y="4" width="200" height="18" rx="2">${title}</rect>`
      )
    assert.strictEqual(
      one({ state: "suspended" }),
      `<rect class="bar k-tool k-unfinished" x="100" y="7" width="200" height="12" rx="2">${title}</rect>`
    )
    assert.strictEqual(
      one({ part: "wait" }),
      `<path class="k-thread" d="M100 13h200" stroke-width="2" stroke-dasharray="4 3">${title}</path>`
    )
    assert.strictEqual(
      one({ part: "mending" }),
      `<path class="k-thread" d="M100 13h200" stroke-width="3">${title}</path>`
    )
    assert.strictEqual(
      one({ part: "approval" }),
      `<path class="k-person" d="M100 13h200" stroke-width="3" stroke-dasharray="1 4">${title}</path>`
    )
    assert.strictEqual(
      one({ state: "failed" }),
      `<g class="bar">${title}<path class="k-failed k-pale" d="M102 7H291l3 3.6l-4 4.8l2.5 3.6H102q-2 0 -2 -2V9q0 -2 2 -2Z"/><path class="k-failed" d="M293 7H298q2 0 2 2V17q0 2 -2 2H294.5l-2.5 -3.6l4 -4.8Z"/></g>`
    )
    const narrow = (to: number) => drawn([span(100, to, { state: "failed" })])
    assert.include(narrow(116), "k-pale")
    assert.include(narrow(115), '<rect class="bar k-failed" x="100" y="7" width="15" height="12" rx="2">')
    assert.include(drawn([span(100, 103)]), 'width="3" height="12" rx="1.5">')
  })

  it("has bars of at least two pixels, and none outside of its window [P1279]", () => {
    const window = { start: 100, end: 600 }
    assert.deepStrictEqual(bars([span(0, 96), span(0, 96.9)], window), [])
    assert.deepStrictEqual(bars([span(0, 97)], window), [["tool", -4, 2, "0 to 97"]])
    assert.deepStrictEqual(bars([span(603, 700)], window), [["tool", 498, 6, "603 to 700"]])
    assert.deepStrictEqual(bars([span(603.1, 700)], window), [])
    assert.deepStrictEqual(bars([span(0, 700)], window), [["tool", -4, 508, "0 to 700"]])
    assert.deepStrictEqual(bars([span(599, 599.5)], window), [["tool", 498, 2, "599 to 599.5"]])
    assert.deepStrictEqual(bars([span(300, 300)], window), [["tool", 200, 2, "300 to 300"]])
  })

  it("joins bars of one look that are too near, without a title [P1279]", () => {
    assert.deepStrictEqual(bars([span(0, 10), span(10, 20)]), [
      ["tool", 0, 10, "0 to 10"],
      ["tool", 10, 10, "10 to 20"]
    ])
    assert.deepStrictEqual(bars([span(0, 10), span(9, 20), span(12, 15)]), [["tool", 0, 20, undefined]])
    assert.deepStrictEqual(bars([span(0, 10), span(9, 20, { state: "suspended" })]), [
      ["tool", 0, 10, "0 to 10"],
      ["tool", 9, 11, "9 to 20"]
    ])
    assert.deepStrictEqual(bars([span(0, 10, { lane: laneOf.model }), span(9, 20)]), [
      ["model", 0, 10, "0 to 10"],
      ["tool", 9, 11, "9 to 20"]
    ])
    // a short one needs a pixel between them, and one of two pixels none
    assert.deepStrictEqual(bars([span(0, 10), span(10.9, 11)]), [["tool", 0, 11, undefined]])
    assert.deepStrictEqual(bars([span(0, 10), span(11, 12)]), [
      ["tool", 0, 10, "0 to 10"],
      ["tool", 11, 2, "11 to 12"]
    ])
    assert.lengthOf(bars([span(0, 10), span(10, 12)]), 2)
    // a bar is as wide as it is drawn
    assert.lengthOf(bars([span(0, 0.5), span(1.9, 5)]), 1)
    assert.lengthOf(bars([span(0, 0.5), span(2, 5)]), 2)
    assert.lengthOf(bars([span(0, 0.5), span(2.9, 3)]), 1)
  })

  it("has titles for up to twelve bars [P1279]", () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => span(at * 20, at * 20 + 10))
    assert.strictEqual(drawn(many(12)).split("<title>").length - 1, 12)
    assert.notInclude(drawn(many(13)), "<title>")
    assert.match(drawn(many(13)), /^(?:<rect [^<>]*><\/rect>){13}$/)
  })

  it("has marks with their names, the most important of those that would cover each other [P1279]", () => {
    const marks = (items: Items, window?: { readonly start: number; readonly end: number }) =>
      [
        ...drawn(items, window).matchAll(
          /<path class="k-(\w+)" stroke-width="1\.5" d="M(\S+) .*?<title>(.*?)<\/title>/g
        )
      ].map(([, tone, x]) => [tone, Number(x)])
    assert.strictEqual(
      drawn([mark(100, "lost", { label: "<x>" })]),
      '<path class="k-lost" stroke-width="1.5" d="M95 8H105V18H95Z"><title>&lt;x&gt;</title></path>'
    )
    assert.deepStrictEqual(marks([100, 108.9, 109, 117, 118].map((at) => mark(at, "asked"))), [
      ["asked", 100],
      ["asked", 109],
      ["asked", 118]
    ])
    const tones: ReadonlyArray<Mark["tone"]> = ["asked", "tell", "mended", "lost"]
    for (const [low, less] of tones.entries())
      for (const [high, more] of tones.entries()) {
        const joined = marks([mark(100, less), mark(104, more)])
        assert.deepStrictEqual(
          joined.map(([tone]) => tone),
          [tones[Math.max(low, high)]]
        )
      }
    const window = { start: 100, end: 600 }
    assert.deepStrictEqual(
      marks(
        [95.9, 96, 300, 604, 604.1].map((at) => mark(at, "asked")),
        window
      ),
      [
        ["asked", -4],
        ["asked", 200],
        ["asked", 504]
      ]
    )
    assert.strictEqual(drawn([]), "")
  })
})
