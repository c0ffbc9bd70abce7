/** The view that compares two runs of the recording. It selects the first step that differs. */
import * as Comparison from "../comparison/Comparison.ts"
import { cellOf, changed, divergenceOf, exactness, stepOf, sums, turnsOf } from "../comparison/ComparisonWords.ts"
import { eventsOf, type Outcome, outcomesOf, titleOf } from "../recording/Outcome.ts"
import type { Recorded } from "../recording/Recorded.ts"
import { clip } from "../text/Words.ts"
import { timeOf } from "./clock.ts"
import { button, element } from "./Element.ts"
import type { Store } from "./store.ts"

type Pair = Comparison.Comparison["pairs"][number]

/** The most steps that are shown. A browser lays out so many rows at once. */
const most = 1000

const labels = { first: "A", second: "B" }

const signs: Readonly<Record<Pair["sign"], readonly [name: string, words: string]>> = {
  "=": ["same", "same"],
  "≠": ["changed", "different"],
  "-": ["first", "only A"],
  "+": ["second", "only B"]
}

export class ComparisonView {
  readonly section = element("section", { class: "view comparison", "aria-label": "Compare runs", tabindex: -1 })
  readonly #store: Store
  readonly #result = element("div")
  /** The outcomes of the runs that can be compared, and the events for which they were made. */
  // Mutant `["Stryker was here"]` survives: they are set before they are read
  #outcomes: ReadonlyArray<Outcome> = []
  #events: ReadonlyArray<Recorded> | undefined
  #indexOf: ReadonlyMap<Recorded, number> = new Map()
  #compared: Readonly<Record<"first" | "second", ReadonlyArray<Recorded>>> = { first: [], second: [] }
  // Mutants `{}`, `"Stryker was here!"` survive: no run has such an id
  #chosen: Readonly<Record<"first" | "second", string>> = { first: "", second: "" }

  constructor(store: Store) {
    this.#store = store
    store.listen((change) => {
      if (change === "view" || change === "scene") this.draw()
      // Mutant `true` survives: marking what is marked changes nothing
      else if (change === "selection") this.#mark()
    })
  }

  /** Draws the view if it is shown and its runs have changed. */
  draw(): void {
    const { events, outcome, view } = this.#store
    if (view !== "comparison" || events === this.#events) return
    this.#events = events
    this.#indexOf = new Map(events.map((event, index) => [event, index]))
    this.#outcomes = outcomesOf({ events })
    const has = (runId: string) => this.#outcomes.some((one) => one.runId === runId)
    if (!has(this.#chosen.first) || !has(this.#chosen.second)) {
      const first = outcome?.runId ?? ""
      this.#chosen = { first, second: this.#like(outcome)?.runId ?? first }
    }
    this.section.replaceChildren(
      element("div", { class: "choice" }, this.#choice("first"), this.#choice("second")),
      this.#result
    )
    this.#compare()
  }

  /** The run to compare with: one of the same agent that completed, else another one of that agent, else any other. */
  #like(outcome: Outcome | undefined): Outcome | undefined {
    // Mutant `outcome.runId` survives: where there are runs, there is an outcome
    const others = this.#outcomes.filter(({ runId }) => runId !== outcome?.runId)
    // Mutant `outcome.agent` survives: where there are runs, there is an outcome
    const own = others.filter(({ agent }) => agent === outcome?.agent)
    return own.find(({ kind }) => kind === "completed") ?? own[0] ?? others[0]
  }

  #choice(side: "first" | "second"): HTMLElement {
    const select = element(
      "select",
      {},
      ...this.#outcomes.map((outcome) =>
        element(
          "option",
          { value: outcome.runId, selected: outcome.runId === this.#chosen[side] },
          `${titleOf(outcome)} · ${timeOf(outcome.from).slice(0, 8)} · ${clip(outcome.input ?? "", 40)} · ${outcome.runId}`
        )
      )
    )
    select.addEventListener("change", () => {
      this.#chosen = { ...this.#chosen, [side]: this.#outcomes[select.selectedIndex]?.runId ?? "" }
      this.#compare()
    })
    return element("label", {}, element("strong", {}, labels[side]), select)
  }

  #compare(): void {
    const { events } = this.#store
    const [first, second] = [eventsOf({ events }, this.#chosen.first), eventsOf({ events }, this.#chosen.second)]
    this.#compared = { first, second }
    const made = Comparison.make({ events: first }, { events: second })
    const { divergence, pairs } = made
    this.#result.replaceChildren(
      element("p", { class: "lead", role: "status" }, divergenceOf(made, labels), " ", exactness(made)),
      this.#table(
        "Sums",
        ["", "A", "B", "Difference"],
        sums(made).map((row) => this.#row(row))
      ),
      this.#table(
        "Steps",
        ["", "Turn", "Step", "A", "B"],
        pairs.slice(0, most).map((pair) => this.#step(pair))
      ),
      ...(pairs.length > most ? [element("p", {}, `${pairs.length - most} more steps are not shown.`)] : []),
      ...changed(made).flatMap(([title, lines]) => [
        element("h3", {}, title),
        element(
          "pre",
          {},
          ...lines.map(({ sign, text }) =>
            element("span", { class: sign === "-" ? "first" : sign === "+" ? "second" : "same" }, `${sign} ${text}\n`)
          )
        )
      ])
    )
    const event = this.#eventOf(divergence === undefined ? undefined : pairs[divergence])
    // as at the start: on a narrow screen, the inspector does not cover the comparison
    if (event !== undefined) this.#store.selectEvent(event, "start")
    this.#mark()
    this.#result.querySelector(".is-selected")?.scrollIntoView({ block: "nearest" })
  }

  #table(title: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<HTMLElement>): HTMLElement {
    const head = element(
      "tr",
      {},
      ...heads.map((name) => (name === "" ? element("td") : element("th", { scope: "col" }, name)))
    )
    return element(
      "table",
      {},
      element("caption", {}, title),
      element("thead", {}, head),
      element("tbody", {}, ...rows)
    )
  }

  #row([name = "", ...values]: ReadonlyArray<string>): HTMLElement {
    const cells = values.map((text, at) => element("td", { "data-name": ["A", "B", "Difference"][at] }, text))
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells)
  }

  #step(pair: Pair): HTMLElement {
    const [name, words] = signs[pair.sign]
    const event = this.#eventOf(pair)
    const act = () => event !== undefined && this.#store.selectEvent(event, this)
    return element(
      "tr",
      { class: name, "data-event": event },
      element("td", { class: "sign" }, pair.sign === "=" ? "" : pair.sign, element("span", { class: "unseen" }, words)),
      element("td", { class: "turn", "data-name": "Turn" }, turnsOf(pair)),
      element("th", { scope: "row" }, button(stepOf(pair), act, { class: "heading", "aria-pressed": "false" })),
      element("td", { "data-name": "A" }, cellOf(pair.first)),
      element("td", { "data-name": "B" }, cellOf(pair.second))
    )
  }

  /** The first event of a step in the recording of the page. */
  #eventOf(pair: Pair | undefined): number | undefined {
    const side = pair?.first === undefined ? "second" : "first"
    const event = this.#compared[side][pair?.[side]?.index ?? -1]
    return event === undefined ? undefined : this.#indexOf.get(event)
  }

  /** Marks the step of the selection. */
  #mark(): void {
    const selected = String(this.#store.selectedEvent)
    for (const row of this.#result.querySelectorAll<HTMLElement>("tr[data-event]")) {
      const isSelected = row.dataset["event"] === selected
      row.classList.toggle("is-selected", isSelected)
      row.querySelector("button")?.setAttribute("aria-pressed", String(isSelected))
    }
  }
}
