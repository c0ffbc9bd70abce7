/** The conversation of a report: when it is filled, which of its chunks are elements, and which entry it shows. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Conversation } from "../../../packages/view/src/browser/conversation.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { elementOf, page, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

/** What is watched for being on the screen, and what the browser calls when that changes. */
const watched = new Set<unknown>()
let seen: (changes: ReadonlyArray<object>) => void = () => undefined
const sizes: Array<ReadonlyArray<unknown>> = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] })
  watched.clear()
  sizes.length = 0
  page.scrolledTo = undefined
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(act: typeof seen) {
        seen = act
      }
      observe(of: unknown) {
        watched.add(of)
      }
      unobserve(of: unknown) {
        watched.delete(of)
      }
      disconnect() {
        watched.clear()
      }
    }
  )
  const make = document.createElement.bind(document)
  vi.spyOn(document, "createElement").mockImplementation((name: string) => {
    const made = make(name)
    Object.assign(made.style, { setProperty: (...given: ReadonlyArray<unknown>) => sizes.push(given) })
    return made
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const warnings = (many: number) =>
  Array.from({ length: many }, () => ({ turn: 1, type: "budget-warning", reason: "maxTurns" }))

const shown = (all: ReadonlyArray<object> = events) => {
  const store = new Store(recordingOf(all))
  const section = elementOf(new Conversation(store).section)
  const chunks = () => section.querySelectorAll(".chunk")
  const many = () => chunks().map((chunk) => chunk.querySelectorAll(".entry").length)
  const selected = () => section.querySelectorAll(".is-selected").map((one) => one.dataset["event"])
  const entry = (event: number) => section.querySelector(`.entry[data-event="${event}"]`)
  return { store, section, chunks, many, selected, entry }
}

describe("the chunks of a conversation [P1389]", () => {
  it("are made after the page, and once for several changes [P1389]", () => {
    const { chunks, section, store } = shown()
    store.renew(recordingOf(events.slice(0, 4)))
    store.selectEvent(2)
    store.show({ start: 0, end: 1000 })
    expect([vi.getTimerCount(), chunks()]).toEqual([1, []])
    vi.runAllTimers()
    expect(section.getAttribute("aria-label")).toBe("Conversation")
    expect([chunks().length, section.dataset["filled"]]).toEqual([1, "1"])
    expect(sizes).toEqual([["contain-intrinsic-size", "auto 1600px"]])
    store.selectEvent(3)
    store.show({ start: 0, end: 2000 })
    store.match(new Set())
    expect(vi.getTimerCount()).toBe(0)
  })

  it("are filled in steps of 8 milliseconds [P1389]", () => {
    const { many } = shown(warnings(75))
    const clock = vi.spyOn(performance, "now")
    // the first two are filled within the budget
    clock.mockReturnValueOnce(0).mockReturnValueOnce(0).mockReturnValueOnce(8).mockReturnValueOnce(8.1)
    clock.mockReturnValueOnce(10).mockReturnValueOnce(10).mockReturnValueOnce(19)
    vi.advanceTimersToNextTimer()
    expect([many(), vi.getTimerCount()]).toEqual([[25, 25, 25], 1])
    vi.advanceTimersToNextTimer()
    expect(vi.getTimerCount()).toBe(1)
    clock.mockRestore()
    vi.runAllTimers()
    expect(many()).toEqual([25, 25, 25])
  })

  it("keep their entries when others come, and go when there are fewer [P1389]", () => {
    const { chunks, entry, many, store } = shown(warnings(30))
    store.look("conversation")
    vi.runAllTimers()
    expect([many(), watched.size]).toEqual([[25, 5], 2])
    const [first, last] = [entry(0), entry(29)]
    store.renew(recordingOf(warnings(60)))
    vi.runAllTimers()
    expect([many(), watched.size]).toEqual([[25, 25, 10], 3])
    expect([entry(0) === first, entry(29) === last]).toEqual([true, false])
    const [one] = chunks()
    store.renew(recordingOf(warnings(25)))
    vi.runAllTimers()
    expect([chunks(), watched]).toEqual([[one], new Set([one])])
  })

  it("are watched while the conversation is shown [P1389]", () => {
    const { chunks, store } = shown(warnings(30))
    vi.runAllTimers()
    expect(watched.size).toBe(0)
    store.look("conversation")
    expect([...watched]).toEqual(chunks())
    watched.clear()
    store.look("conversation")
    expect(watched.size).toBe(0)
    store.look("events")
    store.look("conversation")
    expect(watched.size).toBe(2)
    store.look("events")
    expect(watched.size).toBe(0)
  })

  it("after 2000 entries are one text, and entries where the reader sees them [P1389]", () => {
    const { chunks, many, section, store } = shown(warnings(2030))
    vi.runAllTimers()
    store.look("conversation")
    expect(many().slice(79)).toEqual([25, 0, 0])
    expect(String(chunks()[81])).toBe(
      `<ol class="chunk"><li class="said">${Array.from({ length: 5 }, () => "Budget: maxTurns is near\n\n").join("\n")}</li></ol>`
    )
    const look = (at: number, isIntersecting: boolean) => seen([{ isIntersecting, target: chunks()[at] }])
    look(81, true)
    expect(many().slice(79)).toEqual([25, 0, 5])
    look(81, false)
    // a match of the browser's own search would be lost
    section.dispatch(new PageEvent("beforematch"))
    look(80, true)
    expect(many().slice(79)).toEqual([25, 0, 5])
    for (const type of ["wheel", "pointerdown", "keydown"]) {
      section.dispatch(new PageEvent(type))
      expect(many().slice(79)).toEqual([25, 25, 5])
    }
  })

  it("show the match of the browser's own search [P1389]", () => {
    const { section, store } = shown()
    section.dispatch(new PageEvent("beforematch"))
    expect(store.view).toBe("conversation")
  })
})

describe("the selection of a conversation [P1276]", () => {
  it("is marked, and scrolled to while the conversation is shown, unless it was made there [P1276]", () => {
    const scroll = vi.spyOn(PageElement.prototype, "scrollIntoView")
    const { entry, selected, store } = shown()
    vi.runAllTimers()
    expect(selected()).toEqual([])
    store.look("conversation")
    expect(selected()).toEqual([])
    store.look("timeline")
    store.selectEvent(5)
    expect([selected(), scroll.mock.calls]).toEqual([["5"], []])
    store.look("conversation")
    expect(scroll.mock.calls).toEqual([[{ block: "center" }]])
    store.show({ start: 0, end: 1000 })
    store.renew(recordingOf(events))
    vi.runAllTimers()
    entry(11)?.querySelector(".heading")?.click()
    expect([selected(), scroll.mock.calls.length]).toEqual([["11"], 1])
    expect(["5", "11"].map((at) => entry(Number(at))?.querySelector(".heading")?.getAttribute("aria-pressed"))).toEqual(
      ["false", "true"]
    )
    store.selectEvent(5)
    expect(scroll.mock.calls.length).toBe(2)
  })

  it("makes entries of its chunk where it is shown, and not before [P1389]", () => {
    const { many, selected, store } = shown(warnings(2030))
    store.selectEvent(2010)
    vi.runAllTimers()
    expect([many()[80], selected()]).toEqual([0, []])
    store.look("conversation")
    expect([many()[80], selected()]).toEqual([25, ["2010"]])
    const early = shown(warnings(30))
    early.store.selectEvent(3)
    early.store.look("conversation")
    expect([early.many(), early.selected()]).toEqual([[25, 0], ["3"]])
    const none = shown([])
    none.store.look("conversation")
    vi.runAllTimers()
    expect(none.chunks()).toEqual([])
  })

  it("is the first of the entries of its event, also in a run of another agent [P1276]", () => {
    const { entry, section, store } = shown([
      {
        turn: 0,
        type: "run-start",
        transcript: [
          { role: "system", text: "Be kind." },
          { role: "system", text: "Be short." }
        ]
      },
      ...events.slice(1, 5),
      { runId: "s", agent: "clerk", parent: { runId: "r", callId: "a" }, turn: 0, type: "run-start", input: "Ask." },
      { runId: "s", agent: "clerk", turn: 1, type: "run-failed", error: { name: "No", message: "no" } }
    ])
    store.selectEvent(6)
    vi.runAllTimers()
    expect(String(entry(6))).toBe(
      '<li class="entry run lost depth-1 is-selected" data-event="6"><span class="agent" dir="auto">clerk</span><button type="button" class="heading" aria-pressed="true">clerk fails</button><pre class="said" dir="auto">No: no</pre></li>'
    )
    store.selectEvent(0)
    const first = section.querySelectorAll('.entry[data-event="0"]')
    expect(first.map((one) => one.textContent)).toEqual(["SystemBe kind.", "SystemBe short."])
    expect(section.querySelectorAll(".is-selected")).toEqual(first.slice(0, 1))
    expect(entry(6)?.querySelector(".heading")?.getAttribute("aria-pressed")).toBe("false")
  })

  it("is beside what a search does not find [P1278]", () => {
    const { entry, section, store } = shown()
    store.match(new Set([5]))
    vi.runAllTimers()
    const dim = () => section.querySelectorAll(".is-dim").length
    const all = section.querySelectorAll(".entry").length
    expect([dim(), entry(5)?.classList.contains("is-dim")]).toEqual([all - 1, false])
    store.match(undefined)
    expect(dim()).toBe(0)
    store.match(new Set())
    expect(dim()).toBe(all)
  })
})
