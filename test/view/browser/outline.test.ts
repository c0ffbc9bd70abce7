/** The outline of a report: its rows with their bars, and the keys and clicks that go through them. */
import { describe, expect, it, vi } from "vitest"
import { OutlineView } from "../../../packages/view/src/browser/outline.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { page, elementOf, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const shown = (all: ReadonlyArray<object> = events) => {
  const store = new Store(recordingOf(all))
  const enter = vi.fn()
  const view = new OutlineView(store, enter)
  view.renew()
  const section = elementOf(view.section)
  const grid = section.querySelector(".outline")
  const rows = () => section.querySelectorAll(".row").slice(1)
  const key = (key: string) => grid?.dispatch(new PageEvent("keydown", { key }))
  const names = () => rows().map((row) => row.querySelector(".title")?.textContent)
  return { store, view, enter, section, grid, rows, key, names }
}

/** A row but its bars. */
const html = (row: unknown) => String(row).replace(/<div class="bars".*/, "")

describe("the outline of a report [P1275]", () => {
  it("has a row for each branch that is shown, with its badges, its time and its bars [P1275]", () => {
    const { grid, rows, section } = shown()
    expect(rows().map((row) => row.children.slice(0, 2).map((cell) => cell.textContent))).toEqual([
      ["▾desk✕ Declined◆ 1 healedGo.", "12 s"],
      ["▸turn 1◆ retriedlook", "7 s"],
      ["▾turn 2✕ Declinedpay", "3 s"],
      ["pay✕ Declined{cents: 5}", "1 s"]
    ])
    expect(html(rows()[1])).toBe(
      '<div class="row is-turn is-healed" role="row" aria-level="2" aria-rowindex="3" aria-setsize="2" aria-posinset="1" aria-selected="false" aria-expanded="false" tabindex="-1" data-at="1"><div class="name" role="gridcell"><span class="fold" aria-hidden="true">▸</span><span class="title" dir="auto">turn 1</span><span class="badge healed">◆ retried</span><span class="note" dir="auto">look</span></div><div class="lasts" role="gridcell">7 s</div>'
    )
    expect(rows()[3]?.attributes.has("aria-expanded")).toBe(false)
    expect(rows()[0]?.getAttribute("tabindex")).toBe("0")
    expect(grid?.getAttribute("aria-rowcount")).toBe("5")
    expect(section.dataset["drawn"]).toBe("4")
    for (const row of rows()) {
      const picture = row.querySelector("svg")
      expect(picture?.getAttribute("viewBox")).toBe("0 0 300 26")
      expect(picture?.innerHTML).toMatch(/<(?:rect|path) /)
    }
  })

  it("has labels for its time, and lines and gaps behind its rows [P1279]", () => {
    const { section } = shown()
    expect(section.querySelector(".axis")?.getAttribute("viewBox")).toBe("0 0 300 22")
    expect(section.querySelector(".axis")?.innerHTML).toContain('<text class="k-quiet" x="')
    expect(section.querySelectorAll(".gap")).toHaveLength(1)
    expect(section.querySelectorAll(".tick").length).toBeGreaterThan(1)
    expect(section.querySelector(".axis")?.innerHTML).toContain(' text-anchor="middle">3 s</text>')
  })

  it("is gone through, unfolded and folded with keys [P1275]", () => {
    const { enter, grid, key, names, store } = shown()
    const at = () => store.branch?.name
    const keys = [
      "ArrowDown",
      "ArrowRight",
      "ArrowRight",
      "ArrowDown",
      "ArrowUp",
      "ArrowLeft",
      "ArrowLeft",
      "End",
      "ArrowDown",
      "Home",
      "ArrowUp"
    ]
    const visited = keys.map((name) => {
      expect(key(name)?.defaultPrevented).toBe(true)
      return `${name}: ${at()}, ${names().length} rows`
    })
    expect(visited).toEqual([
      "ArrowDown: turn 1, 4 rows",
      "ArrowRight: turn 1, 6 rows",
      "ArrowRight: m, 6 rows",
      "ArrowDown: look, 6 rows",
      "ArrowUp: m, 6 rows",
      "ArrowLeft: turn 1, 6 rows",
      "ArrowLeft: turn 1, 4 rows",
      "End: pay, 4 rows",
      "ArrowDown: pay, 4 rows",
      "Home: desk, 4 rows",
      "ArrowUp: desk, 4 rows"
    ])
    key("PageDown")
    expect(at()).toBe("pay")
    key("ArrowRight")
    key("PageUp")
    expect([at(), page.activeElement?.dataset["at"]]).toEqual(["desk", "0"])
    key(" ")
    expect(names()).toEqual(["desk"])
    key(" ")
    expect(names()).toHaveLength(4)
    key("Enter")
    expect(enter).toHaveBeenCalledTimes(1)
    expect(key("x")?.defaultPrevented).toBe(false)
    expect(grid?.dispatch(new PageEvent("keydown", { key: "End", ctrlKey: true })).defaultPrevented).toBe(false)
    expect(at()).toBe("desk")
  })

  it("selects the row of a click, unfolds it at its sign, and shows its time after two clicks [P1275]", () => {
    const { grid, names, rows, store } = shown()
    rows()[2]?.querySelector(".title")?.click()
    expect([store.branch?.name, names().length]).toEqual(["turn 2", 4])
    expect(rows().map((row) => [row.getAttribute("aria-selected"), row.getAttribute("tabindex")])).toEqual([
      ["false", "-1"],
      ["false", "-1"],
      ["true", "0"],
      ["false", "-1"]
    ])
    rows()[1]?.querySelector(".fold")?.click()
    expect([store.branch?.name, names().length]).toEqual(["turn 1", 6])
    grid?.click()
    expect(store.branch?.name).toBe("turn 1")
    rows()[3]?.dispatch(new PageEvent("dblclick"))
    expect(store.window).toEqual({ start: 3820, end: 7180 })
    expect(rows()[3]?.querySelector("svg")?.innerHTML).toMatch(/<(?:rect|path) /)
  })

  it("dims what a search does not find, and keeps its row when it is drawn anew [P1278]", () => {
    const { rows, store, view } = shown()
    store.match(new Set([11]))
    expect(rows().map((row) => row.classList.contains("is-dim"))).toEqual([false, true, false, false])
    store.selectEvent(11)
    view.focus()
    expect(page.activeElement?.dataset["at"]).toBe("3")
    store.choose("lost")
    expect(rows().map((row) => row.getAttribute("tabindex"))).toEqual(["-1", "-1", "0"])
  })

  it("sums up calls that went well, from the shortest to the longest [P1275]", () => {
    const call = (id: string, at: number, lasts: number) => [
      { turn: 1, callId: id, tool: "look", type: "tool-start", at },
      { turn: 1, callId: id, tool: "look", type: "tool-end", at: at + lasts, use: { settlement: { kind: "result" } } }
    ]
    const lasts = (...all: ReadonlyArray<number>) => {
      const { rows, store } = shown([
        { turn: 0, type: "run-start", at: 0 },
        { turn: 1, type: "turn-start", at: 0 },
        ...all.flatMap((one, index) => call(`c${index}`, index * 10_000, one)),
        { turn: 1, type: "run-completed", at: 90_000 }
      ])
      const turn = store.outline.branches.find(({ kind }) => kind === "turn")
      if (turn !== undefined) store.fold(turn, true)
      return rows()[2]
        ?.children.slice(0, 2)
        .map((cell) => cell.textContent)
    }
    expect(lasts(200, 200)).toEqual(["▸2 × lookwent well", "200 ms"])
    expect(lasts(200, 300, 250)).toEqual(["▸3 × lookwent well", "200–300 ms"])
    expect(lasts(200, 3000)).toEqual(["▸2 × lookwent well", "200 ms – 3 s"])
  })
})
