/** The state of a report: its rows, its selection, its window, its failures and its search. */
import { describe, expect, it, vi } from "vitest"
import { type Change, Store } from "../../../packages/view/src/browser/store.ts"
import { Searching } from "../../../packages/view/src/browser/searching.ts"
import { Steps } from "../../../packages/view/src/browser/steps.ts"
import { Toolbar } from "../../../packages/view/src/browser/toolbar.ts"
import { follow, linkOf } from "../../../packages/view/src/browser/links.ts"
import { elementOf, page, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const made = (all?: ReadonlyArray<object>) => {
  const store = new Store(recordingOf(all))
  const changes: Array<Change> = []
  store.listen((change) => changes.push(change))
  const rows = () =>
    store.rows.map((id) => `${"  ".repeat(store.outline.branches[id]?.depth ?? 0)}${store.outline.branches[id]?.name}`)
  const branch = (name: string) => {
    const found = store.outline.branches.find((one) => one.name === name)
    if (found === undefined) throw new Error(`there is no branch '${name}'`)
    return found
  }
  return { store, changes, rows, branch, taken: () => changes.splice(0) }
}

const folded = ["desk", "  turn 1", "  turn 2", "    pay"]

describe("the rows of a report [P1275]", () => {
  it("are those of unfolded branches: the outermost run, and all that was lost [P1275]", () => {
    const { branch, rows, store, taken } = made()
    expect(rows()).toEqual(folded)
    store.fold(branch("turn 1"), true)
    expect(rows()).toEqual(["desk", "  turn 1", "    m", "    look", "  turn 2", "    pay"])
    store.fold(branch("desk"), false)
    expect(rows()).toEqual(["desk"])
    store.fold(branch("desk"), true)
    store.fold(branch("turn 1"), false)
    expect(rows()).toEqual(folded)
    expect(taken()).toEqual(["rows", "rows", "rows", "rows"])
    store.fold(branch("pay"), true)
    expect(taken()).toEqual([])
  })

  it("are those that a filter has, with what is around them, unless the reader folds them [P1275]", () => {
    const { branch, rows, store, taken } = made()
    store.choose("healed")
    expect(rows()).toEqual(["desk", "  turn 1", "    look"])
    store.fold(branch("turn 1"), false)
    expect(rows()).toEqual(["desk", "  turn 1"])
    store.choose("lost")
    expect(rows()).toEqual(["desk", "  turn 2", "    pay"])
    store.choose("person")
    expect(rows()).toEqual([])
    expect(taken()).toEqual(["rows", "rows", "rows", "rows"])
  })

  it("unfold to a selection, which leaves a filter that hides it [P1275]", () => {
    const { branch, rows, store, taken } = made()
    store.select(branch("m").id, "me", 3)
    expect(rows()).toEqual(["desk", "  turn 1", "    m", "    look", "  turn 2", "    pay"])
    expect([store.branch?.name, store.by, store.selectedEvent]).toEqual(["m", "me", 3])
    expect(taken()).toEqual(["rows", "selection"])
    store.choose("lost")
    store.selectEvent(4)
    expect([store.filter, store.branch?.name, store.by]).toEqual(["all", "attempt 1", undefined])
    expect(taken()).toEqual(["rows", "rows", "selection"])
    store.choose("healed")
    store.select(branch("look").id)
    expect([store.filter, ...taken()]).toEqual(["healed", "rows", "selection"])
    store.select(undefined)
    expect([store.branch, store.selectedEvent, ...taken()]).toEqual([undefined, undefined, "selection"])
  })
})

describe("the selection of a report [P1276]", () => {
  it("has the event that was selected, or the one that says most [P1276]", () => {
    const { branch, store } = made()
    store.select(branch("pay").id)
    expect(store.selectedEvent).toBe(11)
    store.select(branch("pay").id, undefined, 10)
    expect(store.selectedEvent).toBe(10)
    expect([0, 11, 99].map((event) => store.branchOf(event))).toEqual([0, branch("pay").id, undefined])
    expect([store.around("turn")?.name, store.around("run")?.name, store.around("group")]).toEqual([
      "turn 2",
      "desk",
      undefined
    ])
    expect([store.fatal, store.outcome?.kind]).toEqual([11, "failed"])
  })

  it("stays when further events come, and so does a window that is not whole [P1219]", () => {
    const { branch, store, taken } = made(events.slice(0, 8))
    store.select(branch("m").id)
    store.listenFirst((change) => change === "scene" && taken().push("scene"))
    taken()
    store.renew(recordingOf())
    expect([store.branch?.name, store.events.length, store.isWhole]).toEqual(["m", 13, true])
    expect(taken().at(-1)).toBe("scene")
    store.show({ start: 1000, end: 3000 })
    store.renew(recordingOf([...events, { turn: 2, type: "tool-compensated" }]))
    expect(store.window).toEqual({ start: 1000, end: 3000 })
    store.renew(recordingOf(events.slice(0, 1)))
    expect(store.branch).toBeUndefined()
  })
})

describe("the window of a report [P1208]", () => {
  it("is within the whole, with a little room on both sides [P1208]", () => {
    const { store, taken } = made()
    expect(store.window).toEqual({ start: -46.125, end: 9317.25 })
    expect([store.isWhole, store.axis.length]).toEqual([true, 9225])
    store.show({ start: 5000, end: 7000 })
    expect([store.window, store.isWhole]).toEqual([{ start: 5000, end: 7000 }, false])
    store.show({ start: 5000, end: 5000 })
    expect(store.window).toEqual({ start: 4999.75, end: 5000.25 })
    store.show({ start: -5000, end: -3000 })
    expect(store.window).toEqual({ start: -46.125, end: 1953.875 })
    store.show({ start: 20_000, end: 22_000 })
    expect(store.window).toEqual({ start: 7317.25, end: 9317.25 })
    store.show({ start: -1e9, end: 1e9 })
    expect(store.window).toEqual(store.whole)
    expect(taken()).toEqual(["window", "window", "window", "window", "window"])
  })

  it("is magnified around a position, the selection or its middle, and moved up to its ends [P1208]", () => {
    const { branch, store } = made()
    store.show({ start: 2000, end: 6000 })
    store.zoom(2, 3000)
    expect(store.window).toEqual({ start: 2500, end: 4500 })
    store.zoom(0.5)
    expect(store.window).toEqual({ start: 1500, end: 5500 })
    store.select(branch("m").id)
    store.zoom(2)
    expect(store.window).toEqual({ start: 2000, end: 4000 })
    store.pan(500)
    expect(store.window).toEqual({ start: 2500, end: 4500 })
    store.pan(1e6)
    expect(store.window).toEqual({ start: 7317.25, end: 9317.25 })
    store.zoom(1)
    expect(store.window).toEqual({ start: 7317.25, end: 9317.25 })
    store.pan(-1e6)
    expect(store.window).toEqual({ start: -46.125, end: 1953.875 })
    // the selection is not in the window
    store.show({ start: 4000, end: 6000 })
    store.zoom(2)
    expect(store.window).toEqual({ start: 4500, end: 5500 })
    store.show({ start: 0, end: 2000 })
    store.zoom(2)
    expect(store.window).toEqual({ start: 500, end: 1500 })
    store.showAll()
    expect(store.isWhole).toBe(true)
  })

  it("fits a branch with a little room, and nothing if there is no branch [P1208]", () => {
    const { branch, store, taken } = made()
    store.fit(undefined)
    expect(taken()).toEqual([])
    store.fit(branch("look"))
    expect(store.window).toEqual({ start: 3820, end: 7180 })
  })
})

describe("the views and the search of a report [P1278]", () => {
  it("has a comparison for two runs alone [P1278]", () => {
    const { store, taken } = made()
    store.look("comparison")
    expect([store.view, ...taken()]).toEqual(["timeline"])
    store.look("events")
    expect([store.view, ...taken()]).toEqual(["events", "view"])
    const two = made([...events, { runId: "s", turn: 0, type: "run-start" }])
    two.store.look("comparison")
    expect(two.store.view).toBe("comparison")
  })

  it("matches each branch that has a matching event, or one within it [P1278]", () => {
    const { branch, store, taken } = made()
    expect(store.isMatch(branch("m").id)).toBe(true)
    store.match(new Set([3, 99]))
    const matching = store.outline.branches.filter(({ id }) => store.isMatch(id)).map(({ name }) => name)
    expect(matching).toEqual(["desk", "turn 1", "m"])
    store.match(new Set())
    expect(store.outline.branches.some(({ id }) => store.isMatch(id))).toBe(false)
    store.match(undefined)
    expect(store.isMatch(0)).toBe(true)
    expect(taken()).toEqual(["search", "search", "search"])
  })

  it("goes from match to match, round the end [P1278]", () => {
    const { store } = made()
    const changed = vi.fn()
    const searching = new Searching(store, changed)
    expect(searching.says).toBe("")
    searching.step(1)
    searching.start("declined")
    expect([searching.says, [...(store.matches ?? [])], store.selectedEvent]).toEqual(["2 found", [11, 12], undefined])
    const step = (by: number) => {
      searching.step(by)
      return [searching.says, store.selectedEvent]
    }
    expect([step(1), step(1), step(1), step(-1)]).toEqual([
      ["1 of 2", 11],
      ["2 of 2", 12],
      ["1 of 2", 11],
      ["2 of 2", 12]
    ])
    searching.start("declined ")
    expect(step(-1)).toEqual(["2 of 2", 12])
    searching.start("nowhere")
    expect([searching.says, store.matches?.size]).toEqual(["nothing found", 0])
    searching.start(" ")
    expect([searching.says, store.matches]).toEqual(["", undefined])
    searching.start("go.")
    store.renew(recordingOf([...events, { turn: 2, type: "text-delta", text: "Go." }]))
    searching.renew()
    expect(searching.says).toBe("2 found")
    store.renew(recordingOf(events.slice(1)))
    searching.renew()
    expect(searching.says).toBe("nothing found")
  })
})

describe("the steps through failures [P1219]", () => {
  it("go to the next one and the one before, and stay at the ends [P1219]", () => {
    const { branch, store } = made()
    const steps = new Steps(store)
    const at = () => [steps.nth, store.selectedEvent]
    expect(at()).toEqual([undefined, undefined])
    steps.failure(1)
    expect(at()).toEqual([1, 5])
    steps.failure(1)
    expect(at()).toEqual([2, 11])
    steps.failure(1)
    expect(at()).toEqual([2, 11])
    steps.failure(-1)
    steps.failure(-1)
    expect(at()).toEqual([1, 5])
    store.select(undefined)
    steps.failure(-1)
    expect(at()).toEqual([2, 11])
    store.select(branch("turn 2").id)
    expect(steps.nth).toBeUndefined()
    steps.failure(1)
    expect(at()).toEqual([2, 11])
    store.select(branch("turn 2").id)
    steps.failure(-1)
    expect(at()).toEqual([1, 5])
    store.select(undefined)
    steps.fatal()
    expect(at()).toEqual([2, 11])
    steps.fitTurn()
    expect(store.window).toEqual({ start: 6993.25, end: 9317.25 })
    store.select(branch("look").id)
    steps.fit()
    expect(store.window).toEqual({ start: 3820, end: 7180 })
  })

  it("go nowhere without failures [P1219]", () => {
    const { store, taken } = made(events.slice(0, 4))
    const steps = new Steps(store)
    steps.failure(1)
    steps.fatal()
    expect(taken()).toEqual([])
  })
})

describe("the toolbar [P1219]", () => {
  const bar = (all?: ReadonlyArray<object>) => {
    const { store } = made(all)
    const toolbar = new Toolbar(store, new Steps(store))
    const section = elementOf(toolbar.section)
    const chips = () =>
      section.querySelectorAll(".chips button").map((one) => `${one.textContent} ${one.getAttribute("aria-pressed")}`)
    const views = () =>
      section
        .querySelectorAll(".views button")
        .map(
          (one) =>
            `${one.textContent} ${one.getAttribute("aria-pressed")}${one.attributes.has("hidden") ? " hidden" : ""}`
        )
    const said = () => [section.querySelector(".nth")?.textContent, section.querySelector(".found")?.textContent]
    return { store, toolbar, section, chips, views, said }
  }

  it("has the filters that have something to show, with their numbers [P1219]", () => {
    const { chips, section, store } = bar()
    expect(chips()).toEqual(["All 3 true", "✕ Lost 1 false", "◆ Healed 1 false", "Models 1 false", "Tools 2 false"])
    section.querySelectorAll(".chips button")[2]?.click()
    expect(store.filter).toBe("healed")
    expect(chips()[2]).toBe("◆ Healed 1 true")
    expect(bar([]).chips()).toEqual(["All 0 true"])
  })

  it("has the views, and says which failure is selected [P1219]", () => {
    const { said, section, store, views } = bar()
    expect(views()).toEqual(["Timeline 1 true", "Conversation 2 false", "Events 3 false", "Compare 4 false hidden"])
    expect(said()).toEqual(["2 failures", ""])
    section.querySelectorAll(".views button")[2]?.click()
    expect([store.view, views()[2]]).toEqual(["events", "Events 3 true"])
    const [up, down] = section.querySelectorAll(".steps button")
    expect([up, down].map((one) => one?.textContent)).toEqual(["↑ p", "↓ n"])
    down?.click()
    expect(said()).toEqual(["failure 1 of 2", ""])
    down?.click()
    up?.click()
    expect(said()).toEqual(["failure 1 of 2", ""])
    expect(bar(events.slice(0, 2)).said()).toEqual(["no failures", ""])
    expect(bar(events.slice(0, 6)).said()).toEqual(["1 failure", ""])
  })

  it("searches while the reader types, and goes through what was found [P1278]", () => {
    const { said, section, store, toolbar } = bar()
    const field = section.querySelector("input")
    if (field === null) throw new Error("there is no field")
    toolbar.focus()
    expect(page.activeElement).toBe(field)
    field.value = "declined"
    field.dispatch(new PageEvent("input"))
    expect([toolbar.query, said()[1]]).toEqual(["declined", "2 found"])
    const key = (key: string, shiftKey = false) => field.dispatch(new PageEvent("keydown", { key, shiftKey }))
    expect(key("Enter").defaultPrevented).toBe(true)
    expect([said()[1], store.selectedEvent]).toEqual(["1 of 2", 11])
    key("Enter", true)
    expect(said()[1]).toBe("2 of 2")
    expect(key("x").defaultPrevented).toBe(false)
    expect(key("Escape").isStopped).toBe(true)
    expect([toolbar.query, said()[1], page.activeElement]).toEqual(["", "", undefined])
  })
})

describe("the address of a report [P1219]", () => {
  it("has the selection, the window, the view and the search, and leads back to them [P1219]", () => {
    vi.stubGlobal("location", { href: "https://x.example/report?a=1#old" })
    const { store } = made()
    expect(linkOf(store, " ")).toBe("https://x.example/report?a=1")
    store.selectEvent(5)
    store.show({ start: 1500, end: 3000 })
    store.look("events")
    const link = linkOf(store, " pay &\ud800 ")
    expect(link).toBe("https://x.example/report?a=1#e=5&z=1.5-3&v=events&q=pay%20%26%EF%BF%BD")
    const other = made()
    const toolbar = new Toolbar(other.store, new Steps(other.store))
    follow(link.slice(link.indexOf("#")), other.store, toolbar)
    expect([other.store.selectedEvent, other.store.by, other.store.view, other.store.window, toolbar.query]).toEqual([
      5,
      "start",
      "events",
      { start: 1500, end: 3000 },
      "pay &\ufffd"
    ])
    // a window that reaches beyond the whole ends with it
    store.show({ start: -46.125, end: 5000 })
    expect(linkOf(store, "")).toContain("&z=0-5&")
  })

  it("is followed as far as it can be read [P1219]", () => {
    const { store, taken } = made()
    const toolbar = new Toolbar(store, new Steps(store))
    for (const fragment of [
      "",
      "#e=13&v=none",
      "#e=-1",
      "#e=1.5",
      "#e=x",
      "#z=3-1",
      "#z=2-2",
      "#z=1",
      "#z=a-b",
      "#z=a1-2",
      "#z=1-2b",
      "#v=comparison"
    ])
      follow(fragment, store, toolbar)
    expect([store.selectedEvent, store.view, store.isWhole, ...taken()]).toEqual([undefined, "timeline", true])
    follow("e=0&z=0-1", store, toolbar)
    expect([store.selectedEvent, store.window]).toEqual([0, { start: 0, end: 1000 }])
    follow("#z=0.25-10.125", store, toolbar)
    expect(store.window).toEqual({ start: 250, end: 7350 })
  })
})
