/** The narrow picture of the whole time: what it paints, and what a drag on it shows. */
import { describe, expect, it, vi } from "vitest"
import { dark, light } from "../../../packages/view/src/drawing/Colors.ts"
import { Minimap } from "../../../packages/view/src/browser/minimap.ts"
import { Steps } from "../../../packages/view/src/browser/steps.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { buttonIn, elementOf, page, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

/** A context that writes down what is painted, with the colour. */
const context = () => {
  const painted: Array<string> = []
  const written =
    (name: string) =>
    (...numbers: ReadonlyArray<number>) =>
      void painted.push(`${name} ${numbers.map((one) => Number(one.toFixed(1))).join(",")}`)
  const made = {
    fillStyle: "",
    strokeStyle: "",
    lineWidth: 0,
    setTransform: written("transform"),
    clearRect: written("clear"),
    save: written("save"),
    beginPath: written("path"),
    rect: written("rect"),
    clip: written("clip"),
    moveTo: written("move"),
    lineTo: written("line"),
    stroke: () => void painted.push(`stroke ${made.strokeStyle} ${made.lineWidth}`),
    restore: written("restore"),
    fillRect: (...numbers: ReadonlyArray<number>) =>
      void painted.push(`${made.fillStyle} ${numbers.map((one) => Number(one.toFixed(1))).join(",")}`)
  }
  return { made, painted }
}

/** Joins the columns of a bar that stand beside each other: colour, from, to, top. */
const barsIn = (painted: ReadonlyArray<string>) => {
  const bars: Array<[color: string, from: number, to: number, top: number]> = []
  for (const [, color = "", x, top] of painted.flatMap((one) => [...one.matchAll(/^(#\w+) (\d+),(\d+),1,7$/g)])) {
    const last = bars.at(-1)
    if (last?.[0] === color && last[2] + 1 === Number(x)) last[2] += 1
    else bars.push([color, Number(x), Number(x), Number(top)])
  }
  return bars
}

const shown = (all: ReadonlyArray<object> = events) => {
  vi.stubGlobal("devicePixelRatio", 2)
  const store = new Store(recordingOf(all))
  const map = new Minimap(store, new Steps(store))
  const section = elementOf(map.section)
  const canvas = section.querySelector(".map canvas")
  const box = section.querySelector(".map")
  const frame = section.querySelector(".frame")
  const { made, painted } = context()
  if (canvas !== null) canvas.getContext = (...[kind]: ReadonlyArray<unknown>) => (kind === "2d" ? made : null)
  const on = (type: string, fields: { readonly button?: number; readonly clientX?: number } = {}) =>
    box?.dispatch(new PageEvent(type, fields))
  const says = () => section.querySelector(".span span")?.textContent
  return { box, canvas, frame, map, on, painted, says, section, store }
}

describe("the minimap [P1219]", () => {
  it("paints the work of the model and of the tools, and each failure [P1219]", () => {
    const { canvas, map, painted } = shown()
    map.draw()
    expect(canvas).toMatchObject({ width: 600, height: 68 })
    expect(painted.slice(0, 2)).toEqual(["transform 2,0,0,2,0,0", "clear 0,0,300,34"])
    // the run has 12 seconds in 300 pixels, with half a hundredth before and one after
    expect(barsIn(painted)).toEqual([
      [light.model, 65, 97, 4],
      [light.tool, 129, 161, 13],
      [light.tool, 193, 225, 13],
      [light.tool, 232, 265, 13]
    ])
    expect(painted.filter((one) => /^#.*(?:,34|,8,7)$/.test(one))).toEqual([
      `${light.gold} 160.7,22,2,34`,
      `${light.failed} 264,0,2,34`,
      `${light.failed} 264,0,8,7`
    ])
  })

  it("paints nothing without a canvas, or without room [P1219]", () => {
    const { box, map, painted } = shown()
    Object.assign(box ?? {}, { clientWidth: 19 })
    map.draw()
    expect(painted).toEqual([])
    Object.assign(box ?? {}, { clientWidth: 20 })
    map.draw()
    expect(painted[1]).toBe("clear 0,0,20,34")
  })

  it("has the colours of the page [P1219]", () => {
    page.root.dataset["theme"] = "dark"
    const { map, painted } = shown()
    map.draw()
    delete page.root.dataset["theme"]
    expect(barsIn(painted).map(([color]) => color)).toEqual([dark.model, dark.tool, dark.tool, dark.tool])
  })

  it("hatches a gap, and leaves out the time in which the run waited for a person [P1219]", () => {
    const { map, painted } = shown([
      { turn: 0, type: "run-start", input: "Go." },
      { turn: 0, type: "run-suspended", at: 1000, requests: [] },
      { turn: 0, type: "run-resumed", at: 3_600_000 },
      { turn: 0, type: "run-completed", at: 3_601_000, output: "" }
    ])
    map.draw()
    // the gap is short on the axis, and its lines are clipped to it
    const lines = Array.from({ length: 9 }, (_, nth) => nth * 5).flatMap((at) => [
      `move ${(111.7 + at).toFixed(1)},34`,
      `line ${(145.7 + at).toFixed(1)},0`
    ])
    expect(painted).toEqual([
      "transform 2,0,0,2,0,0",
      "clear 0,0,300,34",
      "save ",
      "path ",
      "rect 145.7,0,7.2,34",
      "clip ",
      "path ",
      ...lines,
      `stroke ${light.quiet} 0.7`,
      "restore "
    ])
  })

  it("leaves out the time in which a call waits, and has a failure that the model reads in the colour of a healed one [P1219]", () => {
    const call = (callId: string, type: string, at: number, fields: object = {}) => ({
      turn: 1,
      callId,
      tool: callId,
      type,
      at,
      ...fields
    })
    const error = { name: "No", message: "no" }
    const { map, painted } = shown([
      { turn: 0, type: "run-start", at: 0 },
      { turn: 1, type: "turn-start", at: 0 },
      call("a", "tool-start", 1000),
      call("a", "tool-failed", 2000, { attempt: 1, error }),
      call("a", "verdict", 2000, { layer: "tool", tag: "No", verdict: "retry", attempt: 1, delay: 3000 }),
      call("a", "tool-end", 6000, { use: { settlement: { kind: "result" } } }),
      call("b", "tool-start", 7000),
      call("b", "approval-requested", 7000, { request: {} }),
      call("b", "approval-decided", 9000, { decision: { type: "approve" } }),
      call("b", "tool-end", 10_000, { use: { settlement: { kind: "result" } } }),
      call("c", "tool-start", 10_000),
      call("c", "tool-failed", 10_500, { attempt: 1, error }),
      call("c", "verdict", 10_500, { layer: "tool", tag: "No", verdict: "tell", attempt: 1 }),
      call("c", "tool-end", 10_500, { use: { settlement: { kind: "failed", text: "no" } } }),
      call("d", "tool-start", 10_500),
      call("d", "tool-failed", 11_000, { attempt: 1, error }),
      { turn: 1, type: "run-failed", at: 11_000, error }
    ])
    map.draw()
    // what works is painted: 1 s to 2 s, 5 s to 6 s, the moment before b waits, and 9 s to 11 s
    const seconds = barsIn(painted).map(([, from, to]) => [from, to].map((x) => Math.round((x * 11.165) / 300 - 0.055)))
    expect(seconds).toEqual([
      [1, 2],
      [5, 6],
      [7, 7],
      [9, 11]
    ])
    expect(painted.flatMap((one) => (one.endsWith(",2,34") ? [one.split(" ")[0]] : []))).toEqual([
      light.gold,
      light.gold,
      light.failed
    ])
  })

  it("shows which stretch is visible, in percent and in words [P1219]", () => {
    const { frame, map, says, store } = shown()
    map.draw()
    expect([frame?.hidden, says()]).toEqual([true, "Drag to zoom"])
    store.show({ start: 3000, end: 6000 })
    expect([frame?.hidden, frame?.style, says()]).toMatchObject([
      false,
      { left: "32.53234010172614%", width: "32.03972926428772%" },
      "3 s shown"
    ])
    store.showAll()
    expect([frame?.hidden, says()]).toEqual([true, "Drag to zoom"])
  })

  it("is drawn anew for another size [P1219]", () => {
    const acts: Array<() => void> = []
    vi.stubGlobal(
      "ResizeObserver",
      class {
        constructor(act: () => void) {
          acts.push(act)
        }
        observe() {}
      }
    )
    const { painted } = shown()
    expect(painted).toEqual([])
    for (const act of acts) act()
    expect(painted[1]).toBe("clear 0,0,300,34")
  })

  it("is drawn anew for other events, and else its frame alone [P1219]", () => {
    const { painted, store } = shown()
    store.select(0)
    store.show({ start: 3000, end: 6000 })
    expect(painted).toEqual([])
    store.renew(recordingOf(events.slice(0, 4)))
    expect(painted[1]).toBe("clear 0,0,300,34")
  })

  it("shows the stretch of a drag, in both directions and within its ends [P1219]", () => {
    const { on, store } = shown()
    const stretch = () => [store.window.start, store.window.end].map(Math.round)
    const whole = stretch()
    on("pointermove", { clientX: 50 })
    expect(stretch()).toEqual(whole)
    on("pointerdown", { clientX: 25, button: 1 })
    on("pointermove", { clientX: 50 })
    expect(stretch()).toEqual(whole)
    on("pointerdown", { clientX: 25 })
    on("pointermove", { clientX: 25.4 })
    expect(stretch()).toEqual(whole)
    on("pointermove", { clientX: 50 })
    expect(stretch()).toEqual([2295, 4636])
    on("pointermove", { clientX: 10 })
    expect(stretch()).toEqual([890, 2295])
    on("pointermove", { clientX: 400 })
    expect(stretch()).toEqual([2295, 9317])
    on("pointermove", { clientX: -400 })
    expect(stretch()).toEqual([-46, 2295])
    on("pointerup")
    on("pointermove", { clientX: 90 })
    expect(stretch()).toEqual([-46, 2295])
    on("pointerdown", { clientX: 25 })
    on("pointercancel")
    on("pointermove", { clientX: 90 })
    expect(stretch()).toEqual([-46, 2295])
    on("dblclick")
    expect(stretch()).toEqual(whole)
  })

  it("has buttons for the time of the selection and for the whole time [P1219]", () => {
    const { section, store } = shown()
    store.selectEvent(5)
    buttonIn(section, "Fit z").click()
    expect([store.window.start, store.window.end].map(Math.round)).toEqual([3940, 5060])
    buttonIn(section, "All 0").click()
    expect(store.isWhole).toBe(true)
    expect(String(section)).toMatch(/^<div class="minimap"><div class="span">/)
    expect(String(section.querySelector(".span"))).toBe(
      [
        '<div class="span"><span>Drag to zoom</span>',
        '<button type="button" title="Show the time of the selection">Fit <kbd>z</kbd></button>',
        '<button type="button" title="Show the whole time">All <kbd>0</kbd></button></div>'
      ].join("")
    )
  })
})
