/** The axis of a drawing: times and positions, and its ticks. */
import { assert, describe, it } from "@effect/vitest"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"

const minute = 60_000

describe("an axis [P1208]", () => {
  it("draws each gap as long as a fortieth of all other time [P1208]", () => {
    const gaps = [
      { from: 1400, to: 11_400 },
      { from: 11_600, to: 12_600 }
    ]
    const axis = Axis.make({ from: 1000, to: 12_800, gaps })
    // 800 milliseconds are no gap
    assert.deepStrictEqual(axis.breaks, [
      { from: 1400, to: 11_400, start: 400, end: 420 },
      { from: 11_600, to: 12_600, start: 620, end: 640 }
    ])
    assert.strictEqual(axis.length, 840)
    for (const [time, drawn] of [
      [900, -100],
      [1000, 0],
      [1400, 400],
      [6400, 410],
      [11_400, 420],
      [11_500, 520],
      [11_600, 620],
      [12_100, 630],
      [12_600, 640],
      [12_800, 840]
    ] as const) {
      assert.strictEqual(axis.toDrawn(time), drawn)
      assert.strictEqual(axis.toTime(drawn), time)
    }
  })

  it("is at least a millisecond long, and draws no gap longer than it is [P1208]", () => {
    assert.strictEqual(Axis.make({ from: 5, to: 5, gaps: [] }).length, 1)
    const short = Axis.make({ from: 0, to: 1000, gaps: [{ from: 0, to: 10 }] })
    assert.deepStrictEqual([short.breaks[0]?.end, short.length], [10, 1000])
    // without other time, a gap is a millisecond
    assert.strictEqual(Axis.make({ from: 0, to: 1000, gaps: [{ from: 0, to: 1000 }] }).length, 1)
  })
})

describe("the ticks of an axis [P1209]", () => {
  const short = (axis: Axis.Axis, start: number, end: number, count: number) =>
    Axis.ticks(axis, start, end, count).map(({ drawn, label }) => [drawn, label])
  const plain = Axis.make({ from: 7000, to: 8000, gaps: [] })

  it("are at round times since the beginning [P1209]", () => {
    assert.deepStrictEqual(short(plain, 0, 1000, 4), [
      [0, "0"],
      [200, "200 ms"],
      [400, "400 ms"],
      [600, "600 ms"],
      [800, "800 ms"],
      [1000, "1 s"]
    ])
    assert.deepStrictEqual(short(plain, 130, 730, 3), [
      [200, "200 ms"],
      [400, "400 ms"],
      [600, "600 ms"]
    ])
    assert.deepStrictEqual(short(plain, 0.5, 3.5, 3), [
      [1, "1 ms"],
      [2, "2 ms"],
      [3, "3 ms"]
    ])
    // one tick has room too
    assert.deepStrictEqual(short(plain, 0, 1000, 1), [
      [0, "0"],
      [1000, "1 s"]
    ])
    assert.deepStrictEqual(short(plain, 0, 1000, 0.4), [])
    for (const [start, end] of [
      [1, 1],
      [2, 1],
      [NaN, 1]
    ] as const)
      assert.deepStrictEqual(short(plain, start, end, 5), [])
  })

  it("count from the end of a gap behind it, and there are none within it [P1208 P1209]", () => {
    // 40 minutes of work are 40 times as long as the gap
    const gaps = [{ from: 20 * minute, to: 200 * minute }]
    const axis = Axis.make({ from: 0, to: 220 * minute, gaps })
    const ticks = (start: number, end: number, count: number) =>
      short(axis, start * minute, end * minute, count).map(([drawn, label]) => [Number(drawn) / minute, label])
    const before = [
      [0, "0"],
      [5, "5 min"],
      [10, "10 min"],
      [15, "15 min"],
      [20, "20 min"]
    ]
    const behind = [
      [21, "+0"],
      [26, "+5 min"],
      [31, "+10 min"],
      [36, "+15 min"],
      [41, "+20 min"]
    ]
    // the first tick behind the gap would be too near to the last one before it
    assert.deepStrictEqual(ticks(0, 41, 8), [...before, ...behind.slice(1)])
    assert.deepStrictEqual(ticks(0, 20, 4), before)
    assert.deepStrictEqual(ticks(0, 10, 2), before.slice(0, 3))
    assert.deepStrictEqual(ticks(21, 41, 4), behind)
    assert.deepStrictEqual(ticks(31, 41, 2), [
      [31, "3 h 30 min"],
      [36, "3 h 35 min"],
      [41, "3 h 40 min"]
    ])
    assert.deepStrictEqual(ticks(20.5, 41, 4), behind)
    assert.deepStrictEqual(ticks(0, 20.5, 4), before)
  })

  it("are fewer where their labels are long [P1209]", () => {
    const late = Axis.make({ from: 0, to: 100_000_000, gaps: [] })
    const hours = 86_400_000 + 3_600_000
    const seconds = (from: number) => short(late, from + 61_000, from + 65_000, 4).map(([, label]) => label)
    assert.deepStrictEqual(
      seconds(86_400_000),
      [1, 2, 3, 4, 5].map((at) => `1 d 1 min ${at} s`)
    )
    assert.deepStrictEqual(
      seconds(hours),
      [1, 3, 5].map((at) => `1 d 1 h 1 min ${at} s`)
    )
    assert.deepStrictEqual(
      short(plain, 0, 10, 12).map(([drawn]) => drawn),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    )
  })
})
