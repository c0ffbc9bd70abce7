/** The whole page of a report: its views, its keys, its theme and its address. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { mount } from "../../../packages/view/src/browser/mount.ts"
import { page, PageElement, press, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const address = { hash: "", href: "file:///run.html", pathname: "/run.html", search: "" }
const addresses: Array<string> = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] })
  Object.assign(address, { hash: "", href: "file:///run.html", search: "" })
  addresses.length = 0
  page.copied.length = 0
  vi.stubGlobal("location", address)
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, url: string) => void addresses.push(url) })
  page.body.replaceChildren()
  page.body.listeners.splice(0)
})
afterEach(() => vi.useRealTimers())

const shown = (
  all: ReadonlyArray<object> = events,
  { isLive = false, ...given }: { readonly isLive?: boolean; readonly test?: string; readonly title?: string } = {}
) => {
  const [head, main] = [new PageElement("header"), new PageElement("main")]
  page.body.append(head, main)
  const mounted = mount(
    {
      // cast: the elements of a test are those of the small document
      head: head as unknown as HTMLElement,
      main: main as unknown as HTMLElement,
      links: {},
      title: given.title,
      test: given.test
    },
    recordingOf(all),
    isLive
  )
  const hidden = () =>
    (main.querySelector(".left")?.children ?? []).map((one) => one.getAttribute("hidden") ?? undefined)
  return { head, hidden, main, mounted, store: mounted.store }
}

/** Another run, so that there is something to compare. */
const two = [...events, ...events.map((event) => ({ ...event, runId: "r2" }))]

describe("the page of a report [P1219]", () => {
  it("has its parts, and selects the failure that ended the run [P1219]", () => {
    const { head, hidden, main, store } = shown(events, { title: "Mine" })
    expect(store.by).toBe("start")
    expect(main.children.map((one) => one.getAttribute("class"))).toEqual(["sums", "toolbar", "body"])
    expect(main.querySelector(".left")?.children.map((one) => one.getAttribute("class"))).toEqual([
      "pane",
      "view conversation",
      "view",
      "view comparison"
    ])
    expect(head.querySelector("h1")?.textContent).toBe("Mine")
    expect(hidden()).toEqual([undefined, "until-found", "", ""])
    expect(store.selectedEvent).toBe(11)
    expect(main.dataset["view"]).toBe("timeline")
    expect(page.root.dataset["ready"]).toMatch(/^\d+$/)
  })

  it("shows one view at a time, and gives a key to those that have something to show [P1219]", () => {
    const one = shown()
    for (const key of ["2", "3", "4"]) press(key)
    expect([one.store.view, one.main.dataset["view"], one.hidden()]).toEqual([
      "events",
      "events",
      ["", "until-found", undefined, ""]
    ])
    page.body.listeners.splice(0)
    const both = shown(two)
    press("4")
    expect([both.store.view, both.hidden()]).toEqual(["comparison", ["", "until-found", "", undefined]])
    const tabs = () => ["conversation", "comparison"].map((name) => both.main.querySelector(`.${name}`))
    expect(tabs().map((tab) => Object(tab).tabIndex)).toEqual([-1, 0])
    expect(page.activeElement).toBe(tabs()[1])
    press("3")
    expect(page.activeElement?.closest(".events")).not.toBe(null)
    press("Enter", page.activeElement)
    expect(page.activeElement?.closest(".inspector")).not.toBe(null)
    press("4")
    press("2")
    expect(tabs().map((tab) => Object(tab).tabIndex)).toEqual([0, -1])
    press("1")
    expect(both.store.view).toBe("timeline")
    page.body.listeners.splice(0)
    const live = shown(events, { isLive: true })
    live.store.renew(recordingOf(two))
    press("4")
    expect(live.store.view).toBe("comparison")
  })

  it("has a key for each act [P1219]", () => {
    const { store } = shown()
    const selected = (key: string) => {
      press(key)
      return store.selectedEvent
    }
    expect(["p", "p", "n", "n", ".", "Escape"].map(selected)).toEqual([5, 5, 11, 11, 11, undefined])
    const window = (key: string) => {
      press(key)
      return [store.window.start, store.window.end].map(Math.round)
    }
    store.selectEvent(5)
    expect(["z", "f", "0", "+", "-", "="].map((key) => [key, ...window(key)])).toEqual([
      ["z", 3940, 5060],
      ["f", 636, 7440],
      ["0", -46, 9317],
      ["+", 1469, 7712],
      ["-", -46, 9317],
      ["=", 1469, 7712]
    ])
    press("Escape")
    press(".")
    expect([store.selectedEvent, page.activeElement?.closest(".outline") !== null]).toEqual([11, true])
    press("Enter", page.activeElement)
    expect(page.activeElement?.closest(".inspector")).not.toBe(null)
    press("/")
    expect(page.activeElement?.name).toBe("input")
  })

  it("copies the failure, a test and a link [P1219]", () => {
    shown()
    for (const key of ["l", "t", "c"]) press(key)
    expect(page.copied.slice(0, 2)).toEqual([
      "file:///run.html#e=11",
      "npx -p @kintsugi/view kintsugi test events.jsonl --run 'r' -o run.test.ts"
    ])
    expect(page.copied[2]).toContain("- Event: file:///run.html#e=11")
    page.body.listeners.splice(0)
    shown(events, { test: "the test" })
    press("t")
    expect(page.copied.at(-1)).toBe("the test")
  })

  it("lists its keys [P1219]", () => {
    const keysOf = (given: { readonly test?: string } = {}) => {
      page.body.listeners.splice(0)
      page.body.replaceChildren()
      shown(two, given)
      press("?")
      const list = page.body.querySelector("dialog .keys")
      const textsOf = (name: string) => (list?.querySelectorAll(name) ?? []).map((one) => one.textContent)
      const says = textsOf("dd")
      return textsOf("dt").map((name, at) => `${name}: ${says[at]}`)
    }
    expect(keysOf().slice(0, 19)).toEqual([
      ".: go to the failure that ended the run",
      "n: the next failure",
      "p: the failure before",
      "/: search the events; Enter goes to the next match",
      "z: fit the time to the selection",
      "f: fit the time to its turn",
      "0: show the whole time",
      "+: zoom in",
      "-: zoom out",
      "1: show the timeline",
      "2: show the conversation",
      "3: show the events",
      "4: show the comparison",
      "c: copy the failure for an issue",
      "t: copy the command that writes a test of the run",
      "l: copy a link to the selection",
      "Escape: select nothing",
      "?: show the keys and signs",
      "↑ ↓: go through the rows"
    ])
    expect(keysOf({ test: "the test" })).toContain("t: copy the run as a test")
  })

  it("has the theme of the reader's system until the reader chooses one [P1219]", () => {
    const { head } = shown()
    const theme = () => page.root.dataset["theme"]
    expect(theme()).toBe("light")
    page.darken(true)
    expect(theme()).toBe("dark")
    const choose = () => head.querySelector(".theme")?.click()
    choose()
    expect(theme()).toBe("light")
    page.darken(true)
    expect(theme()).toBe("light")
    choose()
    expect(theme()).toBe("dark")
    page.darken(false)
    expect(theme()).toBe("dark")
  })

  it("paints its minimap anew in another theme, and has the failures on paper [P1219]", () => {
    const { head, main } = shown()
    const context = vi.fn(() => null)
    Object.assign(main.querySelector("canvas") ?? {}, { getContext: context })
    head.querySelector(".theme")?.click()
    expect(context).toHaveBeenCalledTimes(1)
    page.body.dispatch(new PageEvent("beforeprint"))
    expect(main.querySelectorAll(".printed .entry").length).toBe(3)
  })

  it("draws its head anew for more events, with their sums [P1219]", () => {
    const { head, main, mounted, store } = shown(events.slice(0, 8), { isLive: true })
    expect(head.querySelector(".status")?.textContent).toBe("● Running")
    const before = String(main.querySelector(".sums"))
    mounted.isLive = false
    store.renew(recordingOf(events))
    expect(head.querySelector(".status")?.textContent).toBe("✕ Failed")
    expect(main.querySelectorAll(".sums").length).toBe(1)
    expect(String(main.querySelector(".sums"))).not.toBe(before)
    expect(main.children[0]?.getAttribute("class")).toBe("sums")
  })

  it("shows what its address names, and follows the address [P1219]", () => {
    address.hash = "#e=5&v=events&q=pay"
    const { main, store } = shown()
    expect([store.selectedEvent, store.view]).toEqual([5, "events"])
    expect(main.querySelector("input")?.value).toBe("pay")
    address.hash = "#e=7&z=2-4"
    page.body.dispatch(new PageEvent("hashchange"))
    expect([store.selectedEvent, Math.round(store.window.start), Math.round(store.window.end)]).toEqual([7, 2000, 4000])
    store.look("timeline")
    store.showAll()
    store.select(undefined)
    vi.advanceTimersByTime(149)
    expect(addresses).toEqual([])
    vi.advanceTimersByTime(1)
    expect(addresses).toEqual(["#q=pay"])
    address.search = "?a=1"
    const field = main.querySelector("input")
    if (field !== null) field.value = ""
    field?.dispatch(new PageEvent("input"))
    vi.advanceTimersByTime(150)
    expect(addresses).toEqual(["#q=pay", "/run.html?a=1"])
  })
})
