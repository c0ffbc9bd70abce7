/** The views of a report: its events, the comparison of its runs, its conversation, and the inspector. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it, vi } from "vitest"
import { ComparisonView } from "../../../packages/view/src/browser/comparing.ts"
import { Conversation } from "../../../packages/view/src/browser/conversation.ts"
import { EventList } from "../../../packages/view/src/browser/eventList.ts"
import { Inspector } from "../../../packages/view/src/browser/inspector.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { buttonIn, elementOf, page, type PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const textsOf = (all: ReadonlyArray<PageElement>) => all.map((one) => one.textContent)

describe("the list of events [P1219]", () => {
  const shown = (all: ReadonlyArray<object> = events) => {
    const store = new Store(recordingOf(all))
    const enter = vi.fn()
    const list = new EventList(store, enter)
    store.look("events")
    const section = elementOf(list.section)
    const rows = () => section.querySelectorAll(".row").slice(1)
    const key = (key: string) => section.querySelector(".events")?.dispatch(new PageEvent("keydown", { key }))
    return { store, enter, list, section, rows, key }
  }

  it("has a row for each event, with what it is about [P1219]", () => {
    const { rows, section } = shown()
    expect(textsOf(section.querySelectorAll(".head div").slice(1))).toEqual([
      "Nr.",
      "Time (UTC)",
      "Event",
      "Agent",
      "What"
    ])
    expect(rows().map((row) => row.children.map((cell) => cell.textContent).join("|"))).toEqual([
      "0|00:00:00.000|run-start|desk · 0|Go.",
      "1|00:00:01.000|turn-start|desk · 1|",
      "2|00:00:02.000|model-start|desk · 1|m",
      "3|00:00:03.000|model-end|desk · 1|m",
      '4|00:00:04.000|tool-start|desk · 1|look · {"id":1}',
      "5|00:00:05.000|tool-failed|desk · 1|look · Busy: later",
      "6|00:00:06.000|verdict|desk · 1|look · retry",
      "7|00:00:07.000|tool-end|desk · 1|look · seen",
      "8|00:00:08.000|turn-end|desk · 1|",
      "9|00:00:09.000|turn-start|desk · 2|",
      '10|00:00:10.000|tool-start|desk · 2|pay · {"cents":5}',
      "11|00:00:11.000|tool-failed|desk · 2|pay · Declined: no",
      "12|00:00:12.000|run-failed|desk · 2|Declined: no"
    ])
    expect(rows().flatMap((row, index) => (row.classList.contains("is-lost") ? [index] : []))).toEqual([5, 11, 12])
    expect(
      shown([{ type: "budget-exceeded", turn: 0 }])
        .rows()[0]
        ?.getAttribute("class")
    ).toBe("row is-lost")
    expect(String(rows()[0])).toMatch(
      /^<div class="row" role="row" aria-rowindex="2" aria-selected="false" tabindex="0" data-at="0"><div role="gridcell" dir="auto">0</
    )
    expect(rows()[1]?.getAttribute("tabindex")).toBe("-1")
  })

  it("is gone through with keys, up to its ends [P1219]", () => {
    const { enter, key, rows, section, store } = shown()
    const keys = ["ArrowDown", "ArrowDown", "ArrowUp", "PageDown", "PageUp", "ArrowUp", "End", "Home"]
    const selected = keys.map((name) => {
      expect(key(name)?.defaultPrevented).toBe(true)
      return store.selectedEvent
    })
    expect(selected).toEqual([1, 2, 1, 12, 0, 0, 12, 0])
    expect(rows()[0]?.getAttribute("aria-selected")).toBe("true")
    key("Enter")
    expect(enter).toHaveBeenCalledTimes(1)
    expect(key("x")?.defaultPrevented).toBe(false)
    section.querySelector(".events")?.dispatch(new PageEvent("keydown", { key: "End", ctrlKey: true }))
    expect(store.selectedEvent).toBe(0)
    rows()[3]?.children[1]?.click()
    expect([store.selectedEvent, rows()[3]?.getAttribute("tabindex")]).toEqual([3, "0"])
  })

  it("dims what a search does not find, and follows the selection [P1278]", () => {
    const { list, rows, section, store } = shown()
    store.match(new Set([3]))
    expect(rows().flatMap((row, index) => (row.classList.contains("is-dim") ? [] : [index]))).toEqual([3])
    store.selectEvent(4)
    expect(rows()[4]?.getAttribute("tabindex")).toBe("0")
    list.focus()
    expect(page.activeElement?.getAttribute("data-at")).toBe("4")
    store.renew(recordingOf(events.slice(0, 2)))
    expect([section.querySelector(".events")?.getAttribute("aria-rowcount"), rows().length]).toEqual(["3", 2])
  })
})

describe("the comparison of two runs [P1273]", () => {
  const repeated = events.slice(0, 9).map((event) => ({ runId: "s", ...event }))
  const two = [...events, ...repeated, { runId: "s", turn: 2, type: "run-completed", output: "ok" }]

  const shown = (all: ReadonlyArray<object> = two) => {
    const store = new Store(recordingOf(all))
    const section = elementOf(new ComparisonView(store).section)
    store.look("comparison")
    const steps = () => (section.querySelectorAll("table")[1]?.querySelectorAll("tr") ?? []).slice(1)
    return { store, section, steps }
  }

  it("compares the run that failed with one of its agent that completed, and selects the first difference [P1273]", () => {
    const { section, steps, store } = shown()
    expect(section.querySelector(".lead")?.textContent).toBe(
      'First difference: turn 2. A called pay {"cents":5}, B had ended. '
    )
    expect(steps().map((row) => [row.getAttribute("class"), ...row.children.map((cell) => cell.textContent)])).toEqual([
      ["same", "same", "1", "answers", "1 s", "1 s"],
      ["same", "same", "1", 'look {"id":1}', "3 s, 1 failure", "3 s, 1 failure"],
      ["first is-selected", "-only A", "2", 'pay {"cents":5}', "2 s, 1 failure, failed", ""]
    ])
    expect([store.selectedEvent, store.by]).toEqual([10, "start"])
    const sums = section.querySelector("table")
    expect(sums?.querySelectorAll("tr").map((row) => row.children.map((cell) => cell.textContent))).toEqual([
      ["", "A", "B", "Difference"],
      ["Outcome", "✕ Declined · desk", "✓ Completed · desk", "≠"],
      ["Duration", "12 s", "9 s", "−3 s"],
      ["Steps", "3", "2", "−1"],
      ["Failures", "2", "1", "−1"],
      ["Tokens", "unknown", "unknown", "?"],
      ["Cost", "unknown", "unknown", "?"]
    ])
    expect(page.scrolledTo?.getAttribute("data-event")).toBe("10")
    buttonIn(section, "answers").click()
    expect(store.selectedEvent).toBe(2)
    expect(steps().map((row) => row.classList.contains("is-selected"))).toEqual([true, false, false])
    expect(steps().map((row) => row.querySelector("button")?.getAttribute("aria-pressed"))).toEqual([
      "true",
      "false",
      "false"
    ])
  })

  it("has each run to choose, and compares what is chosen [P1273]", () => {
    const { section, steps } = shown()
    const [first, second] = section.querySelectorAll("select")
    const options = (select: PageElement | undefined) =>
      select?.children.map((one) => [one.textContent, one.attributes.has("selected")])
    expect(options(first)).toEqual([
      ["✕ Declined · desk · 00:00:00 · Go. · r", true],
      ["✓ Completed · desk · 00:00:13 · Go. · s", false]
    ])
    expect(options(second)?.map(([, isSelected]) => isSelected)).toEqual([false, true])
    Object.assign(first ?? {}, { selectedIndex: 1 })
    first?.dispatch(new PageEvent("change"))
    expect(section.querySelector(".lead")?.textContent).toBe("Both runs took the same steps, with the same results. ")
    expect(steps()).toHaveLength(2)
  })

  it("compares with a run of the same agent, if there is one, with one that completed if there is one [P1273]", () => {
    const run = (runId: string, agent: string, type: string) => [
      { runId, agent, turn: 0, type: "run-start" },
      { runId, agent, turn: 1, type }
    ]
    const chosen = (...all: ReadonlyArray<object>) =>
      shown([...run("first", "desk", "run-failed"), ...all])
        .section.querySelectorAll("option")
        .flatMap((one) => (one.attributes.has("selected") ? [one.getAttribute("value")] : []))
    const [other, own, completed] = [
      run("other", "clerk", "run-completed"),
      run("own", "desk", "run-interrupted"),
      run("completed", "desk", "run-completed")
    ]
    expect(chosen(...other, ...own, ...completed)).toEqual(["first", "completed"])
    expect(chosen(...other, ...own)).toEqual(["first", "own"])
    expect(chosen(...other)).toEqual(["first", "other"])
  })

  it("shows a thousand steps at most, and the settings that differ [P1274]", () => {
    const many = Array.from({ length: 1001 }, (_, id) => ({
      runId: "s",
      turn: 1,
      type: "tool-start",
      callId: `c${id}`,
      tool: "look",
      arguments: { id }
    }))
    const { section, steps } = shown([
      { runId: "r", turn: 0, type: "run-start", transcript: [{ role: "system", text: "A" }] },
      { runId: "s", turn: 0, type: "run-start", transcript: [{ role: "system", text: "B" }] },
      ...many
    ])
    expect(steps()).toHaveLength(1000)
    expect(section.querySelectorAll("p").at(-1)?.textContent).toBe("1 more steps are not shown.")
    expect(String(section.querySelector("pre"))).toBe(
      '<pre><span class="same">  desk:\n</span><span class="first">- A\n</span><span class="second">+ B\n</span></pre>'
    )
  })
})

describe("the conversation of a report [P1207]", () => {
  it("is filled between other tasks, and marks and follows the selection [P1207]", () => {
    vi.useFakeTimers()
    const store = new Store(recordingOf())
    const section = elementOf(new Conversation(store).section)
    expect(section.querySelectorAll(".entry")).toEqual([])
    vi.runAllTimers()
    expect(section.dataset["filled"]).toBe(String(store.scene.transcript.length))
    expect(textsOf(section.querySelectorAll(".heading"))).toEqual(store.scene.transcript.map(({ heading }) => heading))
    expect(String(section.querySelector(".entry"))).toBe(
      '<li class="entry user depth-0" data-event="0"><button type="button" class="heading" aria-pressed="false">Input</button><pre class="said" dir="auto">Go.</pre></li>'
    )
    store.selectEvent(5)
    const selected = () => section.querySelectorAll(".is-selected").map((one) => one.dataset["event"])
    expect(selected()).toEqual(["5"])
    store.look("conversation")
    expect(page.scrolledTo?.dataset["event"]).toBe("5")
    store.selectEvent(4)
    expect(selected()).toEqual(["0"])
    store.match(new Set([5]))
    expect(section.querySelectorAll(".is-dim")).toHaveLength(store.scene.transcript.length - 1)
    section.querySelectorAll(".heading").at(-1)?.click()
    expect(store.selectedEvent).toBe(12)
    store.renew(Recording.fromEvents([]))
    vi.runAllTimers()
    expect(section.querySelectorAll(".entry")).toEqual([])
    vi.useRealTimers()
  })

  it("has chunks of 25 entries, of which those after 2000 are texts until they are seen [P1389]", () => {
    vi.useFakeTimers()
    const many = Array.from({ length: 2030 }, () => ({ turn: 1, type: "budget-warning", reason: "maxTurns" }))
    const section = elementOf(new Conversation(new Store(recordingOf(many))).section)
    vi.runAllTimers()
    const chunks = section.querySelectorAll(".chunk")
    expect([
      chunks.length,
      chunks[0]?.children.length,
      chunks[79]?.children.length,
      chunks[80]?.children.length
    ]).toEqual([82, 25, 25, 1])
    expect(chunks[81]?.textContent).toBe("Budget: maxTurns is near\n\n\n".repeat(5).slice(0, -1))
    vi.useRealTimers()
  })
})

describe("the inspector [P1218]", () => {
  const shown = (event?: number, links: object = {}) => {
    const store = new Store(recordingOf())
    const leave = vi.fn()
    const inspector = new Inspector(store, leave, links)
    const section = elementOf(inspector.section)
    if (event !== undefined) store.selectEvent(event)
    const tabs = () =>
      section
        .querySelectorAll(".tabs button")
        .map((one) => `${one.textContent}${one.getAttribute("aria-selected") === "true" ? " *" : ""}`)
    const facts = () => {
      const list = section.querySelector(".facts")
      const texts = list?.children.map((one) => one.textContent) ?? []
      return texts.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${texts[index + 1]}`] : []))
    }
    return { store, inspector, section, tabs, facts, leave }
  }

  it("says what to do while nothing is selected [P1218]", () => {
    const { section } = shown()
    expect(String(section)).toBe(
      '<aside class="inspector" aria-label="Inspector"><h2>Nothing is selected</h2><p class="quiet">Choose a row of the outline, or press n for the next failure.</p></aside>'
    )
  })

  it("has the error of a failed call first, with why it ended the run [P1218]", () => {
    const { facts, section, tabs } = shown(11)
    expect(section.classList.contains("is-shown")).toBe(true)
    expect([
      section.querySelector("h2")?.textContent,
      section.querySelector(".badge")?.textContent,
      section.querySelector(".quiet")?.textContent
    ]).toEqual(["pay", "Declined", "desk › turn 2"])
    expect(tabs()).toEqual(["Error *", "Arguments", "Context", "Raw"])
    const panel = section.querySelector(".panel")
    expect(textsOf(panel?.children.slice(0, 3) ?? [])).toEqual([
      "Declinedcopy",
      "no",
      "It ended the run: pay has no row for Declined."
    ])
    expect(facts()).toEqual(["Began: 00:00:10.000 UTC (+10 s)", "Lasted: 1 s", "Attempt: 1", "Run: r"])
  })

  it("keeps the chosen tab, and turns with the arrow keys [P1218]", () => {
    const { section, store, tabs } = shown()
    store.select(store.outline.branches.find(({ name }) => name === "look")?.id)
    expect(tabs()).toEqual(["Error *", "Arguments", "Decisions", "Context", "Raw"])
    expect(section.querySelector(".panel")?.textContent).not.toContain("It ended the run")
    buttonIn(section, "Decisions").click()
    expect(tabs()[2]).toBe("Decisions *")
    expect(page.activeElement?.textContent).toBe("Decisions")
    const list = section.querySelector(".tabs")
    list?.dispatch(new PageEvent("keydown", { key: "ArrowRight" }))
    expect(tabs()[3]).toBe("Context *")
    store.selectEvent(11)
    expect(tabs()[2]).toBe("Context *")
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft"]) list?.dispatch(new PageEvent("keydown", { key }))
    expect(tabs()[3]).toBe("Raw *")
    expect(list?.dispatch(new PageEvent("keydown", { key: "x" })).defaultPrevented).toBe(false)
  })

  it("has what was said before, and the events as they are written [P1218]", () => {
    const { section, store } = shown(3)
    buttonIn(section, "Raw").click()
    expect(textsOf(section.querySelectorAll(".panel pre")).map((text) => text.split(":")[0])).toEqual(["2", "3"])
    expect(section.querySelector(".panel h3")?.textContent).toBe("Events copy")
    buttonIn(section, "copy").click()
    expect(page.copied.splice(0)).toEqual([[2, 3].map((index) => JSON.stringify(store.events[index])).join("\n")])
    buttonIn(section, "Context").click()
    buttonIn(section, "Show in the conversation").click()
    expect(store.view).toBe("conversation")
  })

  it("has the events in the order of the log [P1218]", () => {
    const call = { turn: 1, callId: "c", tool: "pay" }
    const types = ["tool-start", "approval-requested", "approval-decided", "tool-end"]
    const store = new Store(recordingOf(types.map((type) => ({ ...call, type }))))
    const section = elementOf(new Inspector(store, () => undefined, {}).section)
    store.select(store.outline.branches.find(({ kind }) => kind === "call")?.id)
    buttonIn(section, "Raw").click()
    expect(textsOf(section.querySelectorAll(".panel pre")).map((text) => text.split(":")[0])).toEqual([
      "0",
      "1",
      "2",
      "3"
    ])
  })

  it("is left by its button, or with Escape [P1218]", () => {
    const { inspector, leave, section } = shown(3)
    inspector.focus()
    expect(page.activeElement?.getAttribute("aria-selected")).toBe("true")
    expect(section.dispatch(new PageEvent("keydown", { key: "x" })).defaultPrevented).toBe(false)
    section.dispatch(new PageEvent("keydown", { key: "Escape" }))
    expect([section.classList.contains("is-shown"), leave.mock.calls.length]).toEqual([false, 1])
    inspector.focus()
    buttonIn(section, "Close").click()
    expect([section.classList.contains("is-shown"), leave.mock.calls.length]).toEqual([false, 2])
  })
})
