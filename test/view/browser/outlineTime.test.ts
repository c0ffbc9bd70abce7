/** The time of an outline: the labels and lines of its axis, the gaps, and when its bars are drawn. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { OutlineView } from "../../../packages/view/src/browser/outline.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { elementOf, page, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

/** What waits for the next frame, if frames wait; and what is called when an element has another size. */
const frames: Array<() => void> = []
let isWaiting = false
const sized = new Map<unknown, () => void>()

beforeEach(() => {
  isWaiting = false
  page.body.listeners.splice(0)
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => (isWaiting ? frames.push(act) : act()))
  vi.stubGlobal(
    "ResizeObserver",
    class {
      readonly act: () => void
      constructor(act: () => void) {
        this.act = act
      }
      observe(of: unknown) {
        sized.set(of, this.act)
      }
    }
  )
})
afterEach(() => frames.splice(0))

const frame = () => {
  for (const act of frames.splice(0)) act()
}

const shown = (all: ReadonlyArray<object> = events) => {
  const store = new Store(recordingOf(all))
  const view = new OutlineView(store, () => undefined)
  view.renew()
  const section = elementOf(view.section)
  const grid = section.querySelector(".outline")
  const rows = () => section.querySelectorAll(".row").slice(1)
  return { store, view, section, grid, rows }
}

describe("the time of an outline [P1279]", () => {
  const axis = (section: PageElement) => section.querySelector(".axis")?.innerHTML
  const labels = (section: PageElement) =>
    [...(axis(section) ?? "").matchAll(/<text class="k-(\w+)" x="([^"]*)" y="15" text-anchor="(\w+)">([^<]*)</g)].map(
      ([, look, x, anchor, text]) => `${look} ${Number(Number(x).toFixed(1))} ${anchor}: ${text}`
    )
  const lines = (section: PageElement) =>
    section
      .querySelectorAll(".lines i")
      .map(({ attributes, style }) => [attributes.get("class"), style["left"], style["width"]].join(" "))
  const bars = (section: PageElement) => {
    const found = section.querySelector(".head .bars")
    if (found === null) throw new Error("there are no bars")
    return found
  }
  const resize = (section: PageElement, width: number) => {
    Object.assign(bars(section), { clientWidth: width })
    sized.get(bars(section))?.()
  }

  it("has a label for each line, with the end of the picture in it, but for those beside the length of a gap [P1279]", () => {
    const { section, store } = shown()
    expect(labels(section)).toEqual([
      "text 229.4 middle: 3 s",
      "quiet 1.5 start: 0",
      "quiet 161.7 middle: 5 s",
      "quiet 297 end: +2 s"
    ])
    expect(lines(section).map((line) => line.replaceAll(/(\d+\.\d)\d+/g, "$1"))).toEqual([
      "gap 225.7px 7.2px",
      "tick 1.4px 0px",
      "tick 161.6px 0px",
      "tick 232.9px 0px",
      "tick 265.0px 0px",
      "tick 297.0px 0px"
    ])
    expect(section.querySelector(".lines")?.style["width"]).toBe("300px")
    store.show({ start: 200, end: 2200 })
    expect(labels(section)).toEqual([
      "quiet 45 middle: 500 ms",
      "quiet 120 middle: 1 s",
      "quiet 195 middle: 1.5 s",
      "quiet 270 middle: 2 s"
    ])
    expect(lines(section)).toEqual(["tick 45px 0px", "tick 120px 0px", "tick 195px 0px", "tick 270px 0px"])
    store.show({ start: -40, end: 560 })
    expect(labels(section)[0]).toBe("quiet 20 middle: 0")
    store.show({ start: 7100, end: 9100 })
    expect([labels(section)[0], lines(section)[0]]).toEqual(["text 9.4 middle: 3 s", "gap 0px 18.75px"])
  })

  it("shows a label that is 38 pixels from a gap, and none that is nearer [P1279]", () => {
    const { section, store } = shown([
      { turn: 0, type: "run-start", at: 0 },
      { turn: 1, type: "model-start", attempt: 1, at: 0 },
      { turn: 1, type: "model-end", attempt: 1, at: 4000 },
      { turn: 2, type: "model-start", attempt: 1, at: 14_000 },
      { turn: 2, type: "model-end", attempt: 1, at: 18_000 }
    ])
    resize(section, 304)
    store.show({ start: 0, end: 8000 })
    expect(labels(section)).toEqual([
      "text 155.8 middle: 10 s",
      "quiet 0 start: 0",
      "quiet 38 middle: 1 s",
      "quiet 76 middle: 2 s",
      "quiet 114 middle: 3 s",
      "quiet 197.6 middle: +1 s",
      "quiet 235.6 middle: +2 s",
      "quiet 273.6 middle: +3 s"
    ])
  })

  it("is drawn once for each frame, from a width of 20 pixels on [P1279]", () => {
    const { rows, section, store } = shown()
    const before = axis(section)
    isWaiting = true
    store.show({ start: 0, end: 2000 })
    store.show({ start: 0, end: 1000 })
    expect([frames.length, axis(section)]).toEqual([1, before])
    frame()
    expect(labels(section).at(-1)).toBe("quiet 300 end: 1 s")
    store.show({ start: 0, end: 2000 })
    expect(frames.length).toBe(1)
    frame()
    expect(labels(section).at(-1)).toBe("quiet 300 end: 2 s")
    isWaiting = false
    resize(section, 20)
    const boxes = () =>
      [section.querySelector(".axis"), rows()[0]?.querySelector("svg")].map((one) => one?.getAttribute("viewBox"))
    expect(boxes()).toEqual(["0 0 20 22", "0 0 20 26"])
    resize(section, 19)
    store.choose("call")
    expect(boxes()).toEqual(["0 0 20 22", null])
  })

  it("is measured when its size changes and no more, and says how wide the scroll bar is [P1279]", () => {
    const { grid, section, view } = shown()
    const pane = new PageElement("div")
    const set = vi.fn()
    Object.assign(pane.style, { setProperty: set })
    pane.append(section)
    view.renew()
    expect(set.mock.calls).toEqual([])
    Object.assign(grid ?? {}, { offsetWidth: 315 })
    resize(section, 200)
    expect([set.mock.calls, section.querySelector(".axis")?.getAttribute("viewBox")]).toEqual([
      [["--bar", "15px"]],
      "0 0 200 22"
    ])
  })

  it("is magnified and moved by a wheel, which scrolls as usual without a key or to the side [P1279]", () => {
    const { grid, section, store } = shown()
    bars(section).getBoundingClientRect = () => ({ left: 50, top: 0, bottom: 26, width: 200 })
    const wheel = (fields: object) => {
      store.show({ start: 2000, end: 6000 })
      const event = Object.assign(new PageEvent("wheel", { clientX: 100 }), { deltaX: 0, deltaY: 0, ...fields })
      grid?.dispatch(event)
      const { end, start } = store.window
      return [event.defaultPrevented, Math.round(start), Math.round(end)]
    }
    expect(wheel({ deltaY: 60 })).toEqual([false, 2000, 6000])
    expect(wheel({ deltaX: 10, deltaY: 10 })).toEqual([false, 2000, 6000])
    // a pixel is 20 milliseconds
    expect(wheel({ deltaX: 11, deltaY: -10 })).toEqual([true, 2220, 6220])
    expect(wheel({ deltaX: -11, deltaY: 10 })).toEqual([true, 1780, 5780])
    // around the time at the pointer, which is 3 seconds
    const doubled = 300 * Math.LN2
    for (const key of ["ctrlKey", "metaKey"]) {
      expect(wheel({ [key]: true, deltaY: -doubled })).toEqual([true, 2500, 4500])
      expect(wheel({ [key]: true, deltaX: 500, deltaY: doubled })).toEqual([true, 1000, 9000])
    }
  })

  it("is drawn for paper, and for the screen afterwards [P1279]", () => {
    const { rows, section } = shown()
    const drawn = () =>
      [section.querySelector(".axis"), ...rows().map((row) => row.querySelector("svg"))].map((one) =>
        one?.getAttribute("viewBox")
      )
    const screen = drawn()
    page.body.dispatch(new PageEvent("beforeprint"))
    expect([drawn(), rows()[1]?.style["top"]]).toEqual([screen.map((box) => box?.replace("300", "280")), "20px"])
    page.body.dispatch(new PageEvent("afterprint"))
    expect([drawn(), rows()[1]?.style["top"]]).toEqual([screen, "26px"])
  })

  it("has the bars of the events that there are now, in each row of theirs [P1279]", () => {
    const drawn = ({ rows }: ReturnType<typeof shown>) => rows().map((row) => row.querySelector("svg")?.innerHTML)
    const part = shown(events.slice(0, 4))
    const before = drawn(part)
    part.store.renew(recordingOf())
    expect(drawn(part)).toEqual(drawn(shown()))
    expect(drawn(part)[0]).not.toBe(before[0])
    part.store.show({ start: 0, end: 5000 })
    const zoomed = shown()
    zoomed.store.show({ start: 0, end: 5000 })
    zoomed.view.renew()
    expect(drawn(part)).toEqual(drawn(zoomed))
    expect(drawn(part)[0]).not.toBe(drawn(shown())[0])
  })
  it("has bars in the rows that are made when the list scrolls [P1279]", () => {
    const many = Array.from({ length: 100 }, (_, turn) => ({ turn: turn + 1, type: "turn-start" }))
    const { grid, rows } = shown([{ turn: 0, type: "run-start" }, ...many])
    const list = grid?.querySelector(".rows")
    if (list) list.getBoundingClientRect = () => ({ left: 0, top: -2000, bottom: 626, width: 300 })
    grid?.dispatch(new PageEvent("scroll"))
    expect(rows().at(-1)?.dataset["at"]).toBe("100")
    expect(rows().at(-1)?.querySelector("svg")?.innerHTML).toMatch(/^<rect class="bar k-turn/)
  })
})
