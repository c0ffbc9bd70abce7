/** The list of the events of a report: its elements, and which row has the focus, is selected and is scrolled to. */
import { beforeEach, describe, expect, it, vi } from "vitest"
import { EventList } from "../../../packages/view/src/browser/eventList.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { elementOf, page, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

beforeEach(() => {
  page.activeElement = undefined
})

const shown = (all: ReadonlyArray<object> = events) => {
  const store = new Store(recordingOf(all))
  const enter = vi.fn()
  const list = new EventList(store, enter)
  const section = elementOf(list.section)
  const grid = section.querySelector(".events")
  const rows = () => section.querySelectorAll(".row").slice(1)
  const key = (key: string) => grid?.dispatch(new PageEvent("keydown", { key }))
  const current = () => rows().flatMap((row) => (row.getAttribute("tabindex") === "0" ? [row.dataset["at"]] : []))
  return { store, enter, list, section, grid, rows, key, current }
}

describe("the list of events [P1219]", () => {
  it("is a grid with a head, also without events, where its keys do nothing [P1219]", () => {
    const { enter, key, list, section, store } = shown([])
    store.look("events")
    const head = ["Nr.", "Time (UTC)", "Event", "Agent", "What"].map((name) => `<div role="columnheader">${name}</div>`)
    expect(String(section)).toBe(
      `<section class="view" aria-label="Events"><div class="events" role="grid" aria-label="Events"><div class="head" role="rowgroup"><div class="row" role="row" aria-rowindex="1">${head.join("")}</div></div><div class="rows" role="rowgroup"></div></div></section>`
    )
    list.focus()
    for (const name of ["ArrowDown", "ArrowUp", "End", "Enter"]) key(name)
    expect([page.activeElement, store.selectedEvent, enter.mock.calls.length]).toEqual([undefined, undefined, 1])
    store.renew(recordingOf(events))
    store.look("events")
    key("End")
    expect(store.selectedEvent).toBe(12)
  })

  it("makes rows while it is shown [P1219]", () => {
    const { grid, rows, store } = shown()
    store.selectEvent(3)
    store.match(new Set())
    store.renew(recordingOf(events.slice(0, 4)))
    expect([rows(), grid?.getAttribute("aria-rowcount")]).toEqual([[], "5"])
    store.look("events")
    expect(rows()).toHaveLength(4)
  })

  it("has its last row in the order of the keys where there are fewer rows [P1219]", () => {
    const { current, store } = shown()
    store.look("events")
    store.selectEvent(12)
    expect(current()).toEqual(["12"])
    store.renew(recordingOf(events.slice(0, 6)))
    expect(current()).toEqual(["5"])
    store.renew(recordingOf(events))
    expect(current()).toEqual(["5"])
  })

  it("scrolls a row into its middle for another part of the page, and as far as it must for its own keys and clicks [P1276]", () => {
    const many = Array.from({ length: 200 }, (_, turn) => ({ turn: turn + 1, type: "turn-start" }))
    const { grid, list, rows, store } = shown(many)
    store.look("events")
    Object.assign(grid ?? {}, { scrollHeight: 5200 })
    store.selectEvent(25)
    expect(grid?.scrollTop).toBe(650 - 260)
    if (grid) grid.scrollTop = 0
    const focus = vi.spyOn(PageElement.prototype, "focus")
    store.look("timeline")
    store.look("events")
    expect(grid?.scrollTop).toBe(650 - 260)
    if (grid) grid.scrollTop = 0
    rows()[23]?.click()
    expect([grid?.scrollTop, store.by]).toEqual([24 * 26 - 520, list])
    list.focus()
    expect(focus.mock.calls).toEqual([[{ preventScroll: true }], [{ preventScroll: true }]])
    focus.mockRestore()
  })
})
