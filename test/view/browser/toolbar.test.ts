/** The bar above a report, and its search, which takes several steps in a long recording. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Searching } from "../../../packages/view/src/browser/searching.ts"
import { Steps } from "../../../packages/view/src/browser/steps.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { Toolbar } from "../../../packages/view/src/browser/toolbar.ts"
import { elementOf, page, withPage } from "../_support/dom.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

beforeEach(() => {
  page.activeElement = undefined
  vi.useFakeTimers({ toFake: ["setTimeout"] })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const deltas = (many: number) => Array.from({ length: many }, () => ({ turn: 1, type: "text-delta", text: "x" }))

/** Lets the next step of a search end after 64 events, of which it looks at the clock. */
const slow = () => void vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValueOnce(8.1)

describe("a search [P1278]", () => {
  it("takes steps of 8 milliseconds, and says how much it has found by then [P1278]", () => {
    const store = new Store(recordingOf(deltas(200)))
    const changed = vi.fn()
    const searching = new Searching(store, changed)
    const clock = vi.spyOn(performance, "now")
    clock.mockReturnValueOnce(0).mockReturnValueOnce(8).mockReturnValueOnce(8.1)
    searching.start("delta")
    const calls = changed.mock.calls.length
    expect([searching.says, store.matches, vi.getTimerCount()]).toEqual(["128…", undefined, 1])
    clock.mockRestore()
    vi.runAllTimers()
    expect([searching.says, store.matches?.size, changed.mock.calls.length]).toEqual(["200 found", 200, calls + 1])
    searching.step(1)
    expect([searching.says, changed.mock.calls.length]).toEqual(["1 of 200", calls + 2])
    searching.start("")
    expect([searching.says, changed.mock.calls.length]).toEqual(["", calls + 3])
  })

  it("ends where another one begins [P1278]", () => {
    const store = new Store(recordingOf([...events, ...deltas(100)]))
    const searching = new Searching(store, () => undefined)
    slow()
    searching.start("delta")
    searching.start("declined")
    vi.runAllTimers()
    expect([searching.says, store.matches]).toEqual(["2 found", new Set([11, 12])])
  })
})

describe("the toolbar [P1219]", () => {
  const bar = (all: ReadonlyArray<object> = events) => {
    const store = new Store(recordingOf(all))
    const toolbar = new Toolbar(store, new Steps(store))
    const section = elementOf(toolbar.section)
    const found = () => section.querySelector(".found")?.textContent
    const chip = (name: string) => section.querySelector(`.chips button[data-filter="${name}"]`)
    return { store, toolbar, section, found, chip }
  }

  it("is made of the search, the filters, the steps and the views [P1219]", () => {
    const chip = (name: string, text: string, many: number) =>
      `<button type="button" data-filter="${name}" aria-pressed="${name === "all"}">${text} <em>${many}</em></button>`
    const view = (text: string, at: number) =>
      `<button type="button" aria-pressed="${at === 1}"${at === 4 ? " hidden" : ""}>${text} <kbd>${at}</kbd></button>`
    expect(String(bar().section)).toBe(
      [
        '<div class="toolbar" role="toolbar" aria-label="Tools"><div class="search"><input type="search" placeholder="Search text, tool, error…  /" aria-label="Search the events" aria-keyshortcuts="/"></input><span class="found" role="status"></span></div>',
        '<div class="chips" role="group" aria-label="Show only">',
        chip("all", "All", 3),
        chip("lost", "✕ Lost", 1),
        chip("healed", "◆ Healed", 1),
        chip("model", "Models", 1),
        chip("call", "Tools", 2),
        '</div><div class="steps" role="group" aria-label="Failures"><span class="nth">2 failures</span><button type="button" aria-label="↑ p: the failure before">↑ <kbd>p</kbd></button><button type="button" aria-label="↓ n: the next failure">↓ <kbd>n</kbd></button></div>',
        '<div class="views" role="group" aria-label="View">',
        view("Timeline", 1),
        view("Conversation", 2),
        view("Events", 3),
        view("Compare", 4),
        "</div></div>"
      ].join("")
    )
  })

  it("says what a search has found while it searches, and searches other events too [P1278]", () => {
    const { found, store, toolbar } = bar(deltas(100))
    slow()
    toolbar.find("delta")
    expect(found()).toBe("64…")
    vi.runAllTimers()
    expect(found()).toBe("100 found")
    store.renew(recordingOf(deltas(120)))
    expect(found()).toBe("120 found")
  })

  it("keeps the focus on a filter when others come [P1219]", () => {
    const { chip, store } = bar(events.slice(0, 8))
    store.renew(recordingOf(events))
    expect(page.activeElement).toBeUndefined()
    chip("healed")?.focus()
    const before = page.activeElement
    store.renew(recordingOf([...events]))
    expect(page.activeElement).toBe(chip("healed"))
    expect(page.activeElement).not.toBe(before)
    chip("healed")?.click()
    expect([chip("healed"), chip("all")].map((one) => one?.getAttribute("aria-pressed"))).toEqual(["true", "false"])
  })

  it("has the filters of what the model reads, of what a person decides and of what is long [P1219]", () => {
    const call = (callId: string, ...all: ReadonlyArray<object>) =>
      all.map((event) => ({ turn: 1, callId, tool: callId, ...event }))
    const error = { name: "No", message: "no" }
    const { chip, store } = bar([
      { turn: 0, type: "run-start", at: 0 },
      ...call(
        "read",
        { type: "tool-start", at: 0 },
        { type: "tool-failed", attempt: 1, error, at: 100 },
        { type: "verdict", layer: "tool", tag: "No", verdict: "tell", attempt: 1, at: 100 },
        { type: "tool-end", use: { settlement: { kind: "failed", text: "no" } }, at: 100 }
      ),
      ...call(
        "asked",
        { type: "tool-start", at: 200 },
        { type: "approval-requested", request: {}, at: 200 },
        { type: "approval-decided", decision: { type: "approve" }, at: 9000 },
        { type: "tool-end", use: { settlement: { kind: "result" } }, at: 9100 }
      ),
      ...call(
        "long",
        { type: "tool-start", at: 9200 },
        { type: "tool-end", use: { settlement: { kind: "result" } }, at: 14_201 }
      ),
      ...call(
        "short",
        { type: "tool-start", at: 14_300 },
        { type: "tool-end", use: { settlement: { kind: "result" } }, at: 19_300 }
      ),
      { turn: 1, type: "run-completed", at: 20_000 }
    ])
    const names = (name: string) => {
      chip(name)?.click()
      return store.rows.flatMap((id) => {
        const branch = store.outline.branches[id]
        return branch?.kind === "call" ? [branch.name] : []
      })
    }
    expect(["tell", "person", "long"].map((name) => [chip(name)?.textContent, ...names(name)])).toEqual([
      ["○ Read by the model 1", "read"],
      ["△ Person 1", "asked"],
      ["> 5 s 1", "long"]
    ])
  })
})
