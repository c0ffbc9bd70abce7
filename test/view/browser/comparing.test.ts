/** The comparison of two runs in a report: its elements, when it is drawn, and which runs and steps it follows. */
import { beforeEach, describe, expect, it } from "vitest"
import { ComparisonView } from "../../../packages/view/src/browser/comparing.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { buttonIn, elementOf, page, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

beforeEach(() => {
  page.scrolledTo = undefined
})

const run = (runId: string, all: ReadonlyArray<object> = events) => all.map((event) => ({ runId, ...event }))
const completed = [...events.slice(0, 9), { turn: 2, type: "run-completed", output: "ok" }]

const shown = (all: ReadonlyArray<object>) => {
  const store = new Store(recordingOf(all))
  const section = elementOf(new ComparisonView(store).section)
  const chosen = () =>
    section
      .querySelectorAll("option")
      .flatMap((one) => (one.attributes.has("selected") ? [one.getAttribute("value")] : []))
  const selected = () => section.querySelectorAll(".is-selected").map((one) => one.dataset["event"])
  const choose = (side: number, at: number) => {
    const select = section.querySelectorAll("select")[side]
    Object.assign(select ?? {}, { selectedIndex: at })
    select?.dispatch(new PageEvent("change"))
  }
  return { store, section, chosen, selected, choose }
}

describe("the comparison of a report [P1273]", () => {
  it("is a choice of two runs, their sums and their steps, each of which is a button [P1273]", () => {
    const { section, store } = shown([
      { runId: "r", turn: 0, type: "run-start", input: "Go." },
      { runId: "r", turn: 1, type: "tool-start", callId: "a", tool: "look" },
      { runId: "r", turn: 1, type: "run-failed", error: { name: "Busy", message: "" } },
      { runId: "s", turn: 0, type: "run-start" },
      { runId: "s", turn: 1, type: "run-completed" }
    ])
    store.look("comparison")
    const option = (runId: string, text: string, isSelected: boolean) =>
      `<option value="${runId}"${isSelected ? " selected" : ""}>${text} · ${runId}</option>`
    const select = (label: string, at: number) =>
      `<label><strong>${label}</strong><select>${option("r", "✕ Busy · desk · 00:00:00 · Go.", at === 0)}${option("s", "✓ Completed · desk · 00:00:03 · ", at === 1)}</select></label>`
    const heads = (...names: ReadonlyArray<string>) =>
      `<thead><tr><td></td>${names.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead>`
    const sum = (name: string, a: string, b: string, difference: string) =>
      `<tr><th scope="row">${name}</th><td data-name="A">${a}</td><td data-name="B">${b}</td><td data-name="Difference">${difference}</td></tr>`
    expect(String(section)).toBe(
      [
        '<section class="view comparison" aria-label="Compare runs" tabindex="-1">',
        `<div class="choice">${select("A", 0)}${select("B", 1)}</div><div>`,
        '<p class="lead" role="status">First difference: turn 1. A called look, B had ended. </p>',
        `<table><caption>Sums</caption>${heads("A", "B", "Difference")}<tbody>`,
        sum("Outcome", "✕ Busy · desk", "✓ Completed · desk", "≠"),
        sum("Duration", "2 s", "1 s", "−1 s"),
        sum("Steps", "1", "0", "−1"),
        sum("Failures", "0", "0", "same"),
        sum("Tokens", "0", "0", "same"),
        sum("Cost", "$0", "$0", "same"),
        `</tbody></table><table><caption>Steps</caption>${heads("Turn", "Step", "A", "B")}<tbody>`,
        '<tr class="first is-selected" data-event="1"><td class="sign">-<span class="unseen">only A</span></td><td class="turn" data-name="Turn">1</td>',
        '<th scope="row"><button type="button" class="heading" aria-pressed="true">look</button></th><td data-name="A">1 s, cut off</td><td data-name="B"></td></tr>',
        "</tbody></table></div></section>"
      ].join("")
    )
  })

  it("names a run whose beginning is missing by its end and its id [P1273]", () => {
    const { section, store } = shown([...run("r"), { runId: "s", turn: 1, at: 5000, type: "run-completed" }])
    store.look("comparison")
    expect(section.querySelectorAll("option").map((one) => one.textContent)).toContain(
      "✓ Completed · desk · 00:00:05 ·  · s"
    )
  })

  it("is drawn when it is shown, and for other events while it is shown [P1273]", () => {
    const { section, store } = shown([...run("r"), ...run("s", completed)])
    store.renew(recordingOf([...run("r"), ...run("s", events)]))
    store.look("events")
    expect([section.children, store.selectedEvent]).toEqual([[], undefined])
    store.look("comparison")
    const lead = () => section.querySelector(".lead")?.textContent
    expect(lead()).toBe("Both runs took the same steps, with the same results. ")
    const [first] = section.children
    store.look("comparison")
    expect(section.children[0]).toBe(first)
    store.renew(recordingOf([...run("r"), ...run("s", completed)]))
    expect(lead()).toBe('First difference: turn 2. A called pay {"cents":5}, B had ended. ')
    store.renew(recordingOf([]))
    expect(section.querySelectorAll("option")).toEqual([])
  })

  it("selects nothing where nothing differs [P1273]", () => {
    const { section, selected, store } = shown([...run("r"), ...run("s")])
    store.look("comparison")
    expect([store.selectedEvent, selected(), page.scrolledTo]).toEqual([undefined, [], undefined])
    expect(section.querySelectorAll("tr[data-event]")).toHaveLength(3)
  })

  it("follows the selection of another part of the page [P1276]", () => {
    const { section, selected, store } = shown([...run("r"), ...run("s", completed)])
    store.look("comparison")
    expect([selected(), page.scrolledTo?.dataset["event"], store.by]).toEqual([["10"], "10", "start"])
    buttonIn(section, "answers").click()
    expect(selected()).toEqual(["2"])
    store.selectEvent(10)
    store.selectEvent(2)
    expect(selected()).toEqual(["2"])
    store.selectEvent(10)
    expect(selected()).toEqual(["10"])
    store.select(undefined)
    expect(selected()).toEqual([])
  })

  it("has the chosen runs while the recording has them [P1273]", () => {
    const all = [...run("r"), ...run("s", completed), ...run("t", completed)]
    const { choose, chosen, section, store } = shown(all)
    store.look("comparison")
    expect(chosen()).toEqual(["r", "s"])
    choose(1, 2)
    choose(0, 1)
    expect(section.querySelector(".lead")?.textContent).toBe("Both runs took the same steps, with the same results. ")
    store.renew(recordingOf([...all, ...run("u")]))
    expect(chosen()).toEqual(["s", "t"])
    // one of the two is gone
    store.renew(recordingOf([...run("r"), ...run("s", completed), ...run("u")]))
    expect(chosen()).toEqual(["r", "s"])
    choose(0, 2)
    store.renew(recordingOf([...run("r"), ...run("s", completed)]))
    expect(chosen()).toEqual(["r", "s"])
    // a run alone is compared with itself
    store.renew(recordingOf(run("r")))
    expect(chosen()).toEqual(["r", "r"])
  })
})
