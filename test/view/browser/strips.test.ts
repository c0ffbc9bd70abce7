import { assert, describe, it } from "@effect/vitest"
import { Scene } from "@kintsugi/view"
import fc from "fast-check"
import * as Axis from "../../../packages/view/src/drawing/Axis.ts"
import * as Strip from "../../../packages/view/src/drawing/Strip.ts"
import * as Outline from "../../../packages/view/src/scene/Outline.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { stripOf } from "../../../packages/view/src/browser/strips.ts"
import { mid } from "../_support/recorded.ts"
import { written } from "../_support/references.ts"
import { recordingOf } from "./_support/desk.ts"

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

const pay = { turn: 1, callId: "c", tool: "pay" }
const child = (turn: number, event: object) => ({ runId: "s", agent: "clerk", parent: { runId: "r" }, turn, ...event })
const bad = { name: "Bad", message: "no" }

/** A model whose requests fail, a call that is mended and told to the model, one that is given up, and a run without a call. */
const rich = [
  { turn: 0, type: "run-start", input: "Go." },
  { turn: 1, type: "turn-start" },
  { turn: 1, type: "model-start", model: "m", attempt: 1 },
  { turn: 1, type: "model-failed", attempt: 1, error: bad },
  { turn: 1, type: "verdict", layer: "model", tag: "Bad", verdict: "retry", attempt: 1 },
  { turn: 1, type: "model-start", model: "m", attempt: 2 },
  { turn: 1, type: "verdict", layer: "transport", tag: "Reset", verdict: "retry", attempt: 1, delay: 500 },
  { turn: 1, type: "model-end", attempt: 2, reply: { content: [] } },
  { ...pay, type: "arguments-coerced", change: { step: "json" } },
  { ...pay, type: "tool-start", arguments: {} },
  { ...pay, type: "tool-failed", attempt: 1, error: bad },
  { ...pay, type: "fix-start", input: "x" },
  { ...pay, type: "fix-end", answer: "y" },
  { ...pay, type: "tool-failed", attempt: 2, error: bad },
  { ...pay, type: "verdict", layer: "tool", tag: "Bad", verdict: "tell", attempt: 2 },
  { ...pay, type: "tool-end", use: { settlement: { kind: "failed", text: "no" } } },
  { turn: 1, type: "turn-end" },
  { turn: 2, type: "turn-start" },
  child(0, { type: "run-start", input: "Ask." }),
  child(1, { type: "turn-start" }),
  child(1, { type: "model-start", model: "n", attempt: 1 }),
  child(1, { type: "model-end", attempt: 1 }),
  child(1, { type: "turn-end" }),
  child(1, { type: "run-completed", output: "" }),
  { turn: 2, callId: "d", tool: "file", type: "tool-start", arguments: {} },
  { turn: 2, callId: "d", tool: "file", type: "tool-failed", attempt: 1, error: bad },
  { turn: 2, callId: "d", tool: "file", type: "verdict", layer: "tool", tag: "Bad", verdict: "raise", attempt: 1 },
  { turn: 2, type: "run-failed", error: bad }
]

describe("the bars of a branch [P1279]", () => {
  const store = new Store(recordingOf(rich))
  const { outline, scene } = store
  const strip = (name: string, nth = 0) => {
    const branch = outline.branches.filter((one) => one.name === name)[nth]
    assert.isDefined(branch)
    const { marks, segments } = stripOf(scene, outline, branch)
    return [
      ...segments.map(({ label, look }) => `${look}: ${label}`),
      ...marks.map(({ label, tone }) => `${tone} ${label}`)
    ]
  }

  it("are those of its attempts, its failed requests, its waits and its marks, but not of the time in which it is mended [P1279]", () => {
    const model = ["model: m, attempt 2", "failed: m", "failed: send 1", "wait: waits before send 2"]
    assert.deepStrictEqual(strip("m"), [...model, "mended Bad → retry", "mended Reset → retry in 500 ms"])
    assert.deepStrictEqual(strip("pay"), [
      "fixer: fixes pay, repair 1",
      "failed: pay",
      "failed: pay, attempt 2",
      "mended arguments read by json",
      "tell Bad → tell"
    ])
    assert.deepStrictEqual(
      ["attempt 1", "send 1", "send 2", "fixes pay, repair 1"].map((name) => strip(name)),
      [["failed: m"], ["failed: send 1"], ["transport: send 2"], ["fixer: fixes pay, repair 1"]]
    )
  })

  it("of a turn and of a run are those of their calls, with what was mended or given up [P1279]", () => {
    const first = [
      "model: m, attempt 2",
      "fixer: fixes pay, repair 1",
      "failed: m",
      "failed: send 1",
      "failed: pay",
      "failed: pay, attempt 2"
    ]
    const mended = ["mended Bad → retry", "mended Reset → retry in 500 ms", "mended arguments read by json"]
    assert.deepStrictEqual(strip("turn 1"), ["turn: turn 1", ...first, "wait: waits before send 2", ...mended])
    // a run that a turn has started is in the bars of that turn, and not in those of its run
    assert.deepStrictEqual(strip("turn 2"), [
      "run: clerk",
      "turn: turn 1",
      "turn: turn 2",
      "model: n",
      "failed: file",
      "lost Bad → raise"
    ])
    assert.deepStrictEqual(strip("desk"), [
      ...first,
      "failed: file",
      "wait: waits before send 2",
      ...mended,
      "lost Bad → raise"
    ])
    assert.deepStrictEqual(strip("clerk"), ["model: n"])
  })
})
