/** Where rows, boxes and marks are, in pixels. */
import { assert, describe, it } from "@effect/vitest"
import { type Box, boxesOf, type Dot, dotsOf, sheet, whole } from "../../../packages/view/src/drawing/Layout.ts"
import type { Mark, Span } from "../../../packages/view/src/scene/Shapes.ts"
import { lane, mark, sceneOf, span } from "./_support/sceneOf.ts"

type Items = ReadonlyArray<Omit<Span, "id"> | Omit<Mark, "id">>

/** As wide as it must be for a pixel per millisecond: behind the names there are 1,000 pixels. */
const wide = { width: 132 + 1000 + 14, window: { start: 0, end: 1000 } }
const [first, last] = [132, 1132]

const boxesIn = (items: Items, { width, window } = wide): ReadonlyArray<Box> => {
  const drawn = sheet(sceneOf({ items }))
  const found: Array<Box> = []
  for (const row of drawn.rows) boxesOf(drawn, row, width, window, (box) => found.push(box))
  return found
}

const dotsIn = (items: Items, { width, window } = wide): ReadonlyArray<Dot> => {
  const drawn = sheet(sceneOf({ items }))
  const found: Array<Dot> = []
  for (const row of drawn.rows) dotsOf(drawn, row, width, window, (dot) => found.push(dot))
  return found
}

const hundredths = (pixels: number): number => Math.round(pixels * 100) / 100

/** The left edge and the width of a box, its span, how many there are, and their state. */
const short = ({ item, many, state, width, x }: Box) => [hundredths(x - first), hundredths(width), item, many, state]
const shortDot = ({ item, many, tone, x }: Dot) => [hundredths(x - first), item, many, tone]

describe("the sheet of a scene [P1210]", () => {
  it("has tracks below each other, with lanes as high as their layers and rows want it [P1220]", () => {
    const items = [
      span(0, 1, { lane: 1 }),
      mark(2, "tell", { lane: 1 }),
      span(3, 4, { lane: 1, row: 1 }),
      span(5, 6, { lane: 9 }),
      span(7, 8, { lane: 1, row: 9 }),
      mark(9, "tell", { lane: 9 })
    ]
    const lanes = [lane("run"), lane("tool", 2), lane("turn", 1, 1), lane("model", 1, 1), lane("transport", 1, 1)]
    const scene = sceneOf({
      lanes: [...lanes, lane("fixer", 1, 1)],
      items,
      tracks: [
        { kind: "run", agent: "a", depth: 0 },
        { kind: "agent", agent: "b", depth: 1, parent: 0 },
        { kind: "agent", agent: "c", depth: 2, parent: 1 }
      ]
    })
    const made = sheet(scene)
    assert.strictEqual(made.scene, scene)
    assert.strictEqual(made.axis.length, 1000)
    assert.deepStrictEqual(
      made.headings.map(({ track, y }) => [track.agent, y]),
      [
        ["a", 30 + 12],
        ["b", 30 + 24 + 9 + 5 + 40 + 5 + 8 + 12],
        ["c", 121 + 24 + 14 + 5 + 20 + 5 + 11 + 5 + 12 + 5 + 8 + 12]
      ]
    )
    assert.deepStrictEqual(made.captions, [
      { y: 54, height: 9, layer: "run", depth: 0 },
      { y: 68, height: 40, layer: "tool", depth: 0 },
      { y: 145, height: 14, layer: "turn", depth: 1 },
      { y: 164, height: 20, layer: "model", depth: 1 },
      { y: 189, height: 11, layer: "transport", depth: 1 },
      { y: 205, height: 12, layer: "fixer", depth: 1 }
    ])
    assert.deepStrictEqual(
      made.rows.map(({ height, layer, marks, spans, y }) => [
        layer,
        y,
        height,
        spans.map(({ id }) => id),
        marks.map(({ id }) => id)
      ]),
      [
        ["run", 54, 9, [], []],
        ["tool", 68, 20, [0], [1]],
        ["tool", 88, 20, [2], []],
        ["turn", 145, 14, [], []],
        ["model", 164, 20, [], []],
        ["transport", 189, 11, [], []],
        ["fixer", 205, 12, [], []]
      ]
    )
    assert.strictEqual(made.height, 230 + 24 + 8 + 6)
    assert.deepStrictEqual(whole(made), { start: -5, end: 1000 * 1.005 })
  })

  it("has lower rows in a lane of many rows, and none lower than 4 pixels [P1210]", () => {
    const heightIn = (rows: number) => sheet(sceneOf({ lanes: [lane("tool", rows)] })).rows[0]?.height
    assert.deepStrictEqual([7, 8, 37, 38, 100].map(heightIn), [20, 18, 4, 4, 4])
  })
})

describe("the boxes of a row [P1210]", () => {
  it("are as long as their spans, each with what it shows [P1220]", () => {
    assert.deepStrictEqual(boxesIn([span(100, 300, { part: "wait", state: "waited" })]), [
      {
        x: 232,
        y: 54,
        width: 200,
        height: 20,
        layer: "tool",
        part: "wait",
        state: "waited",
        item: 0,
        many: 1
      }
    ])
    assert.deepStrictEqual(boxesIn([span(0, 10), span(10, 11), span(11, 500, { state: "failed" })]).map(short), [
      [0, 10, 0, 1, "ok"],
      [10, 1.5, 1, 1, "ok"],
      [11, 489, 2, 1, "failed"]
    ])
  })

  it("end a little outside of the window, and there are none beyond it [P1210]", () => {
    const window = { start: 100, end: 600 }
    const width = 132 + 500 + 14
    const items = [span(0, 99), span(0, 101), span(101, 599), span(599, 900), span(601, 900)]
    assert.deepStrictEqual(boxesIn(items, { width, window }).map(short), [
      [-2, 3, 1, 1, "ok"],
      [1, 498, 2, 1, "ok"],
      [499, 3, 3, 1, "ok"]
    ])
    assert.deepStrictEqual(boxesIn([span(0, 100), span(600, 900)], { width, window }).map(short), [
      [-2, 2, 0, 1, "ok"],
      [500, 2, 1, 1, "ok"]
    ])
    assert.strictEqual(last - first, 1000)
  })

  it("are one where narrow ones are close together, up to three pixels wide [P1210]", () => {
    assert.deepStrictEqual(boxesIn([0, 1, 2, 3, 4, 5, 6].map((at) => span(at, at + 1))).map(short), [
      [0, 2, 0, 2, "ok"],
      [2, 2, 2, 2, "ok"],
      [4, 2, 4, 2, "ok"],
      [6, 1.5, 6, 1, "ok"]
    ])
    // tenths of a millisecond
    const many = Array.from({ length: 40 }, (_, at) => span(at / 10, at / 10 + 0.1))
    assert.deepStrictEqual(
      boxesIn(many).map((box) => box.many),
      [20, 20]
    )
    // a narrow one joins a box of less than 3 pixels, a wide one none
    assert.deepStrictEqual(boxesIn([span(0, 2.9), span(2.9, 3), span(3, 5), span(5, 5.1)]).map(short), [
      [0, 2.9, 0, 1, "ok"],
      [2.9, 1.5, 1, 1, "ok"],
      [3, 2, 2, 1, "ok"],
      [5, 1.5, 3, 1, "ok"]
    ])
    assert.deepStrictEqual(boxesIn([span(0, 2.9), span(1.9, 2)]).map(short), [[0, 2.9, 0, 2, "ok"]])
    assert.deepStrictEqual(boxesIn([span(0, 3), span(1.9, 2)]).map(short), [
      [0, 3, 0, 1, "ok"],
      [1.9, 1.5, 1, 1, "ok"]
    ])
    assert.deepStrictEqual(boxesIn([span(0, 1), span(1, 2.5)]).map(short), [
      [0, 1.5, 0, 1, "ok"],
      [1, 1.5, 1, 1, "ok"]
    ])
    assert.deepStrictEqual(boxesIn([span(0, 1), span(1, 2.4)]).map(short), [[0, 2.4, 1, 2, "ok"]])
  })

  it("have the label of the longest span, and are failed if most of their time is [P1210]", () => {
    const joined = (...items: Items) => boxesIn(items).map(short)
    assert.deepStrictEqual(joined(span(0, 0.4), span(0.4, 1), span(1, 1.3)), [[0, 1.5, 1, 3, "ok"]])
    // of equally long ones it is the first
    assert.deepStrictEqual(joined(span(0, 0.5), span(0.5, 1)), [[0, 1.5, 0, 2, "ok"]])
    assert.deepStrictEqual(joined(span(0, 0.5, { state: "failed" }), span(0.5, 1)), [[0, 1.5, 0, 2, "ok"]])
    assert.deepStrictEqual(joined(span(0, 0.75, { state: "failed" }), span(0.75, 1)), [[0, 1.5, 0, 2, "failed"]])
    assert.deepStrictEqual(joined(span(0, 0.25), span(0.25, 1, { state: "failed" })), [[0, 1.5, 1, 2, "failed"]])
    assert.deepStrictEqual(joined(span(0, 0.25, { state: "failed" }), span(0.25, 1, { state: "suspended" })), [
      [0, 1.5, 1, 2, "suspended"]
    ])
    assert.deepStrictEqual(joined(span(0, 1, { state: "failed" })), [[0, 1.5, 0, 1, "failed"]])
    assert.deepStrictEqual(joined(span(5, 5, { state: "failed" })), [[5, 1.5, 0, 1, "failed"]])
    // the sums begin anew with each box
    assert.deepStrictEqual(
      joined(span(0, 1, { state: "failed" }), span(10, 10.5), span(10.5, 10.75, { state: "failed" })),
      [
        [0, 1.5, 0, 1, "failed"],
        [10, 1.5, 1, 2, "ok"]
      ]
    )
  })

  it("have waits for what weighs least, and whose time is none [P1210]", () => {
    const wait = { part: "wait", state: "waited" } as const
    const joined = (...items: Items) => boxesIn(items).map((box) => [...short(box), box.part])
    assert.deepStrictEqual(joined(span(0, 0.9, wait), span(0.9, 1)), [[0, 1.5, 1, 2, "ok", "call"]])
    assert.deepStrictEqual(joined(span(0, 0.1), span(0.1, 1, wait)), [[0, 1.5, 0, 2, "ok", "call"]])
    // an instant weighs more than a wait too
    assert.deepStrictEqual(joined(span(0, 1, wait), span(1, 1)), [[0, 1.5, 1, 2, "ok", "call"]])
    assert.deepStrictEqual(joined(span(0, 0.5, wait), span(0.5, 1, wait)), [[0, 1.5, 0, 2, "waited", "wait"]])
    assert.deepStrictEqual(joined(span(0, 0.9, wait), span(0.9, 1, { state: "failed" })), [
      [0, 1.5, 1, 2, "failed", "call"]
    ])
    assert.deepStrictEqual(joined(span(0, 0.1, { state: "failed" }), span(0.1, 1, wait)), [
      [0, 1.5, 0, 2, "failed", "call"]
    ])
  })
})

describe("the marks of a row [P1210]", () => {
  it("are at their times in the middle of the row, within the window [P1220]", () => {
    assert.deepStrictEqual(dotsIn([mark(100, "tell")]), [{ x: 232, y: 64, height: 20, tone: "tell", item: 0, many: 1 }])
    const window = { start: 100, end: 600 }
    const items = [99, 100, 300, 600, 601].map((at) => mark(at, "tell"))
    assert.deepStrictEqual(dotsIn(items, { width: 132 + 500 + 14, window }).map(shortDot), [
      [0, 1, 1, "tell"],
      [200, 2, 1, "tell"],
      [500, 3, 1, "tell"]
    ])
    assert.deepStrictEqual(dotsIn([span(0, 1)]), [])
  })

  it("are one where they would cover each other, that of the most important [P1210]", () => {
    assert.deepStrictEqual(dotsIn([0, 7.9, 8, 15, 16].map((at) => mark(at, "tell"))).map(shortDot), [
      [0, 0, 2, "tell"],
      [8, 2, 2, "tell"],
      [16, 4, 1, "tell"]
    ])
    const tones: ReadonlyArray<Mark["tone"]> = ["note", "tell", "asked", "mended", "lost"]
    for (const [low, less] of tones.entries())
      for (const [high, more] of tones.entries()) {
        const [one, other] = [dotsIn([mark(0, less), mark(1, more)]), dotsIn([mark(0, more), mark(1, less)])]
        assert.deepStrictEqual(one.map(shortDot), [[0, high > low ? 1 : 0, 2, tones[Math.max(low, high)]]])
        assert.deepStrictEqual(other.map(shortDot), [[0, low > high ? 1 : 0, 2, tones[Math.max(low, high)]]])
      }
  })

  it("have more room between them if they would fill the row [P1210]", () => {
    const every = (gap: number, many: number) =>
      dotsIn(Array.from({ length: many }, (_, at) => mark(at * gap, "tell"))).map(({ many, x }) => [x - first, many])
    // 71 marks of 8 pixels are half of the width
    assert.lengthOf(every(10, 71), 71)
    assert.deepStrictEqual(every(10, 72).slice(0, 3), [
      [0, 4],
      [40, 4],
      [80, 4]
    ])
    assert.lengthOf(every(10, 72), 18)
  })
})
