/** A list whose rows are made near the screen: which rows there are, where they stand, and how far the list scrolls to show one. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Rows } from "../../../packages/view/src/browser/rows.ts"
import { page, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"

withPage()

/** What waits for the next frame, and what has been asked of the window. */
const frames: Array<() => void> = []
const scrolled = vi.fn()
let isNarrow = false
let resized: () => void = () => undefined

beforeEach(() => {
  frames.length = 0
  scrolled.mockClear()
  isNarrow = false
  page.activeElement = undefined
  page.body.listeners.splice(0)
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => frames.push(act))
  vi.stubGlobal("scrollBy", scrolled)
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query === "(max-width:700px)" && isNarrow }))
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(act: () => void) {
        resized = act
      }
      observe() {}
    }
  )
})
afterEach(() => frames.splice(0))

/** The next frame. */
const frame = () => {
  for (const act of frames.splice(0)) act()
}

interface Layout {
  /** The top and the bottom of the list in the window. */
  readonly top?: number
  readonly bottom?: number
  /** The height of what stands above the rows in the list. */
  readonly head?: number
  /** Whether the page scrolls, and not the list. */
  readonly isInPage?: boolean
}

/** A list of 1000 rows in a layout. A list of 260 pixels shows nine rows below its head of 26. */
const made = (count = 1000, { top = 100, bottom = top + 260, head = 26, isInPage = false }: Layout = {}) => {
  const [scroller, body] = [new PageElement("div"), new PageElement("div")]
  Object.assign(scroller, {
    clientHeight: 260,
    scrollHeight: isInPage ? 260 : 26_000,
    getBoundingClientRect: () => ({ top, bottom })
  })
  body.getBoundingClientRect = () => ({ left: 0, top: top + head - scroller.scrollTop, bottom, width: 100 })
  const heights: Array<unknown> = []
  let high: unknown
  Object.defineProperty(body.style, "height", {
    get: () => high,
    set: (next: unknown) => {
      high = next
      heights.push(next)
    }
  })
  const makes: Array<number> = []
  // cast: the elements of a test are those of the small document
  const html = (one: PageElement) => one as unknown as HTMLElement
  const rows = new Rows(html(scroller), html(body), (index) => {
    makes.push(index)
    const row = new PageElement("p")
    row.dataset["at"] = String(index)
    return html(row)
  })
  rows.renew(count)
  const at = () => body.children.map((row) => Number(row.dataset["at"]))
  const ends = () => [at()[0], at().at(-1)]
  const tops = () => body.children.map((row) => row.style["top"])
  const scroll = (to: number) => {
    scroller.scrollTop = to
    scroller.dispatch(new PageEvent("scroll"))
    frame()
  }
  const row = (index: number) => body.children[at().indexOf(index)]
  return { rows, scroller, body, heights, makes: () => makes.splice(0), at, ends, tops, scroll, row }
}

const from = (first: number, end: number) => Array.from({ length: end - first }, (_, index) => first + index)

describe("the rows of a list [P1275]", () => {
  it("are those on the screen with four more on each side, in their order and at their tops [P1275]", () => {
    const { at, heights, makes, rows, scroll, tops } = made()
    expect(at()).toEqual(from(0, 13))
    expect(tops()).toEqual(from(0, 13).map((index) => `${index * 26}px`))
    expect([...rows.made.keys()]).toEqual(from(0, 13))
    scroll(2600)
    expect(at()).toEqual(from(95, 113))
    expect(tops()[0]).toBe("2470px")
    makes()
    scroll(2626)
    expect([at(), makes()]).toEqual([from(96, 114), [113]])
    scroll(2600)
    expect([at(), makes()]).toEqual([from(95, 113), [95]])
    for (const [to, first] of [
      [2470, 90],
      [2340, 85]
    ] as const) {
      scroll(to)
      expect(at()).toEqual(from(first, first + 18))
    }
    scroll(0)
    expect(at()).toEqual(from(0, 13))
    // a style that is set again would be laid out again
    expect(heights).toEqual(["26000px"])
  })

  it("are those in the window where the list is larger than it [P1275]", () => {
    expect(made(1000, { top: -2626, bottom: 23_400, isInPage: true }).ends()).toEqual([96, 123])
    expect(made(1000, { top: 260, bottom: 23_400, isInPage: true }).ends()).toEqual([0, 12])
  })

  it("are at most as many as there are, and the last one where the list has become short [P1275]", () => {
    expect(made(0).at()).toEqual([])
    expect(made(3).at()).toEqual([0, 1, 2])
    const { at, rows, scroll } = made()
    scroll(2600)
    rows.renew(10)
    expect(at()).toEqual([9])
    rows.renew(0)
    expect(at()).toEqual([])
  })

  it("are made once for each frame, after the list, the page or its size has changed [P1275]", () => {
    const { ends, scroller } = made()
    scroller.scrollTop = 2600
    scroller.dispatch(new PageEvent("scroll"))
    page.body.dispatch(new PageEvent("scroll"))
    resized()
    expect([frames.length, ends()]).toEqual([1, [0, 12]])
    frame()
    expect(ends()).toEqual([95, 112])
    for (const change of [resized, () => page.body.dispatch(new PageEvent("scroll"))]) {
      change()
      expect(frames.length).toBe(1)
      frame()
    }
  })

  it("are not moved while they stay, so that the focus stays on its row, also far from the screen [P1275]", () => {
    const { at, body, row, scroll } = made()
    const inserted = vi.spyOn(body, "insertBefore")
    row(10)?.focus()
    scroll(26)
    expect(inserted.mock.calls.map(([one]) => Object(one).dataset["at"])).toEqual(["13"])
    scroll(2600)
    expect(at()).toEqual([10, ...from(95, 113)])
    scroll(130)
    expect(at()).toEqual(from(0, 18))
  })

  it("have the focus where they had it, or on the last one [P1275]", () => {
    const { row, rows } = made()
    rows.renew(1000)
    expect(page.activeElement).toBeUndefined()
    row(10)?.focus()
    rows.renew(1000)
    expect(page.activeElement).toBe(row(10))
    const focus = vi.spyOn(PageElement.prototype, "focus")
    rows.renew(5)
    expect(page.activeElement).toBe(row(4))
    expect(focus.mock.calls).toEqual([[{ preventScroll: true }]])
    focus.mockRestore()
  })

  it("are higher on a narrow screen, and lower on paper, where there are 1500 of them [P1275]", () => {
    const { at, body, rows, scroll, tops } = made(2000)
    isNarrow = true
    scroll(0)
    expect([at(), body.style["height"]]).toEqual([from(0, 11), "72000px"])
    expect(tops()).toEqual(from(0, 11).map((index) => `${index * 36}px`))
    rows.isPrinted = true
    rows.renew(2000)
    expect([at().length, at().at(-1), tops().at(-1), body.style["height"]]).toEqual([1500, 1499, "29980px", "30000px"])
    rows.renew(7)
    expect([at().length, body.style["height"]]).toEqual([7, "140px"])
  })
})

describe("a row that is shown [P1276]", () => {
  it.each([
    { index: 5, says: "stays where it is seen" },
    { index: 8, says: "stays at the lower end" },
    { index: 9, to: 26, says: "is the last one if it was below" },
    { index: 20, to: 312, says: "is the last one at two heights of the list" },
    { index: 21, to: 416, says: "is in the middle if it was farther than that" },
    { index: 9, isCentred: true, to: 104, says: "is in the middle if it is asked for" },
    { index: 8, isCentred: true, says: "stays where it is seen if it is asked for in the middle" },
    { start: 260, index: 10, says: "stays at the upper end" },
    { start: 260, index: 9, to: 234, says: "is the first one if it was above" },
    { start: 2600, index: 80, to: 2080, says: "is the first one at two heights of the list" },
    { start: 2600, index: 79, to: 1924, says: "is in the middle if it was higher than that" }
  ])("$says: row $index [P1276]", ({ start = 0, index, isCentred, to = start }) => {
    const { row, rows, scroll, scroller } = made()
    scroll(start)
    const revealed = rows.reveal(index, isCentred)
    expect([scroller.scrollTop, scrolled.mock.calls]).toEqual([to, []])
    expect([revealed, row(index)?.dataset["at"]]).toEqual([row(index), String(index)])
  })

  it.each([
    { index: 0, top: 74, by: [] },
    { index: 0, top: -26, by: [] },
    { index: 0, top: -27, by: [[0, -174]] },
    { index: 10, top: 207, by: [] },
    { index: 10, top: 208, by: [[0, 321]] }
  ])("is a third below the upper end of the page if it was not seen: row $index, list at $top [P1276]", (one) => {
    vi.stubGlobal("innerHeight", 519)
    const { row, rows, scroller } = made(1000, { top: one.top, bottom: 30_000, isInPage: true })
    expect(rows.isInPage).toBe(true)
    expect(rows.reveal(one.index)).toBe(row(one.index))
    expect(scrolled.mock.calls).toEqual(one.by)
    expect(scroller.scrollTop).toBe(0)
  })

  it("is none if there is no such row [P1276]", () => {
    expect(made(0).rows.reveal(0)).toBeUndefined()
    expect(made().rows.isInPage).toBe(false)
  })
})
