/** The outline of a report: its rows with their bars, and the keys and clicks that go through them. */
import { beforeEach, describe, expect, it, vi } from "vitest"
import { OutlineView } from "../../../packages/view/src/browser/outline.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { page, elementOf, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const scrolled = vi.fn()

beforeEach(() => {
  scrolled.mockClear()
  page.activeElement = undefined
  vi.stubGlobal("scrollBy", scrolled)
})

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
    expect(lasts(20, 30)).toEqual(["▸2 × lookwent well", "20–30 ms"])
  })

  it("is as long as a list without rows, and says how it is used [P1275]", () => {
    const { enter, key, section, store, view } = shown([])
    expect(String(section)).toBe(
      [
        '<section class="view timeline" aria-label="Timeline" data-drawn="0">',
        '<div class="outline" role="treegrid" aria-label="Outline" aria-describedby="outline-help" aria-rowcount="1">',
        '<div class="head" role="rowgroup"><div class="row" role="row" aria-rowindex="1"><div class="name" role="columnheader">Step</div><div class="lasts" role="columnheader">Duration</div>',
        '<div class="bars" role="columnheader"><span class="unseen">Time</span><svg class="k-figure axis" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 300 22">',
        '<text class="k-quiet" x="1.4778325123152711" y="15" text-anchor="start">0</text><text class="k-quiet" x="297.04433497536945" y="15" text-anchor="end">1 ms</text>',
        '</svg></div></div></div><div class="room" role="none"><div class="lines" aria-hidden="true"><i class="tick"></i><i class="tick"></i></div><div class="rows" role="rowgroup"></div></div></div>',
        '<p id="outline-help" class="unseen">Arrow up and down go through the rows, arrow right unfolds a row, arrow left folds it. Enter goes to the inspector. The question mark lists all keys.</p></section>'
      ].join("")
    )
    view.focus()
    for (const name of ["ArrowDown", "ArrowRight", "ArrowLeft", " ", "End", "Enter"]) key(name)
    expect([page.activeElement, store.selected, enter.mock.calls.length]).toEqual([undefined, undefined, 1])
  })
})

/** A run of a call that waits for a person, and of a second one with a run in it. */
const call = { turn: 1, callId: "c", tool: "pay" }
const child = { runId: "s", agent: "clerk", parent: { runId: "r", callId: "d" } }
const nested = [
  { turn: 0, type: "run-start", at: 0, input: "Go." },
  { turn: 1, type: "turn-start", at: 0 },
  { ...call, type: "tool-start", at: 1000, arguments: {} },
  { ...call, type: "approval-requested", at: 2000, request: { reason: "money" } },
  { ...call, type: "approval-decided", at: 9000, decision: { type: "approve" } },
  { ...call, type: "tool-end", at: 10_000, use: { settlement: { kind: "result", text: "ok" } } },
  { turn: 2, type: "turn-start", at: 12_000 },
  { turn: 2, callId: "d", tool: "ask", type: "tool-start", at: 12_000, arguments: {} },
  { ...child, turn: 0, type: "run-start", at: 12_500, input: "Ask." },
  { ...child, turn: 1, type: "run-completed", at: 14_000, output: "" },
  { turn: 2, callId: "d", tool: "ask", type: "tool-end", at: 16_000, use: { settlement: { kind: "result" } } },
  { turn: 2, type: "run-completed", at: 20_000, output: "" }
]

describe("the rows of an outline [P1275]", () => {
  it("of a run that is folded and that no other has started have no row to the left [P1275]", () => {
    const { key, store } = shown([...events, ...events.map((event) => ({ ...event, runId: "r2" }))])
    const second = store.outline.branches.filter(({ kind }) => kind === "run")[1]
    if (second !== undefined) store.fold(second, false)
    store.select(second?.id)
    key("ArrowLeft")
    expect([store.selected, second?.parent]).toEqual([second?.id, undefined])
  })

  it("have the time without that of a person, except where they are that time, and say that a run is an agent [P1275]", () => {
    const { rows, store } = shown(nested)
    for (const branch of store.outline.branches) store.fold(branch, true)
    const says = rows().map((row) => [
      row.querySelector(".title")?.textContent,
      row.querySelector(".lasts")?.textContent,
      row.querySelector(".name")?.style["paddingLeft"],
      row.querySelectorAll(".badge").map((one) => `${one.getAttribute("class")}: ${one.textContent}`)
    ])
    expect(says).toEqual([
      ["desk", "13 s", "8px", ["badge asked: △ 7 s"]],
      ["turn 1", "5 s", "24px", ["badge asked: △ 7 s"]],
      ["pay", "2 s", "40px", ["badge asked: △ 7 s"]],
      ["waits for a person", "7 s", "56px", []],
      ["attempt 1", "1 s", "56px", []],
      ["turn 2", "8 s", "24px", []],
      ["ask", "4 s", "40px", []],
      ["clerk", "1.5 s", "56px", ["badge note: agent"]]
    ])
  })

  it("are moved to the right up to a depth of eight [P1275]", () => {
    const depth = 4
    const { rows, store } = shown(
      Array.from({ length: depth }, (_, nth) => [
        {
          runId: `r${nth}`,
          ...(nth === 0 ? {} : { parent: { runId: `r${nth - 1}`, callId: "c" } }),
          turn: 0,
          type: "run-start"
        },
        { runId: `r${nth}`, turn: 1, type: "tool-start", callId: "c", tool: "ask", arguments: {} }
      ]).flat()
    )
    for (const branch of store.outline.branches) store.fold(branch, true)
    expect(rows().map((row) => row.querySelector(".name")?.style["paddingLeft"])).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8].map((at) => `${8 + at * 16}px`)
    )
  })

  it("are gone through by pages of the height of the list, with the focus, which scrolls nothing itself [P1275]", () => {
    const { grid, key, rows, store, view } = shown(nested)
    for (const branch of store.outline.branches) store.fold(branch, true)
    // three rows and a little, of which one stays in view
    Object.assign(grid ?? {}, { clientHeight: 80 })
    const focus = vi.spyOn(PageElement.prototype, "focus")
    const visited = ["PageDown", "PageDown", "PageUp", "End", "ArrowRight"].map((name) => {
      key(name)
      return store.rows.indexOf(store.selected ?? -1)
    })
    expect(visited).toEqual([2, 4, 2, 7, 7])
    view.focus()
    expect(focus.mock.calls).toEqual(Array.from({ length: 5 }, () => [{ preventScroll: true }]))
    focus.mockRestore()
    // a list that is lower than a row goes on by one
    Object.assign(grid ?? {}, { clientHeight: 20 })
    key("Home")
    key("PageDown")
    expect(store.rows.indexOf(store.selected ?? -1)).toBe(1)
    store.select(undefined)
    expect(grid?.querySelectorAll('[aria-selected="true"]')).toEqual([])
    const [desk] = store.outline.branches
    if (desk !== undefined) store.fold(desk, false)
    expect(rows().map((row) => row.getAttribute("tabindex"))).toEqual(["0"])
  })

  it("are scrolled to when they are selected, unless that is the start on a narrow screen [P1276]", () => {
    const many = Array.from({ length: 100 }, (_, turn) => ({ turn: turn + 1, type: "turn-start" }))
    const { grid, store } = shown([{ turn: 0, type: "run-start" }, ...many])
    // the page scrolls
    store.select(100, "start")
    store.select(undefined)
    expect(scrolled.mock.calls).toEqual([])
    store.select(100)
    expect(scrolled.mock.calls).toEqual([[0, 2600 - 520 / 3]])
    // the list scrolls
    Object.assign(grid ?? {}, { scrollHeight: 2626 })
    store.select(100, "start")
    expect([scrolled.mock.calls.length, grid?.scrollTop]).toEqual([1, 2600 - 260])
    store.select(0)
    expect([scrolled.mock.calls.length, grid?.scrollTop]).toEqual([1, -260])
  })
})
