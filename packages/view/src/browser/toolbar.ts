/** The bar above the outline: search, filters, steps from failure to failure, and the views. */
import { button, element } from "./Element.ts"
import { type Filter, filters } from "./filters.ts"
import { Searching } from "./searching.ts"
import { type Store, type View, views } from "./store.ts"
import type { Steps } from "./steps.ts"

const names: Readonly<Record<View, string>> = {
  timeline: "Timeline",
  conversation: "Conversation",
  events: "Events",
  comparison: "Compare"
}

const key = (name: string): HTMLElement => element("kbd", {}, name)

export class Toolbar {
  readonly section: HTMLElement
  readonly #store: Store
  readonly #steps: Steps
  readonly #searching: Searching
  readonly #input = element("input", {
    type: "search",
    placeholder: "Search text, tool, error…  /",
    "aria-label": "Search the events",
    "aria-keyshortcuts": "/"
  })
  readonly #found = element("span", { class: "found", role: "status" })
  readonly #chips = element("div", { class: "chips", role: "group", "aria-label": "Show only" })
  readonly #nth = element("span", { class: "nth" })
  readonly #views = element("div", { class: "views", role: "group", "aria-label": "View" })

  constructor(store: Store, steps: Steps) {
    this.#store = store
    this.#steps = steps
    this.#searching = new Searching(store, () => this.#say())
    this.#input.addEventListener("input", () => this.#searching.start(this.#input.value))
    this.#input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.#searching.step(event.shiftKey ? -1 : 1)
      else if (event.key === "Escape") this.find("")
      else return
      event.preventDefault()
      event.stopPropagation()
      if (event.key === "Escape") this.#input.blur()
    })
    this.section = element(
      "div",
      { class: "toolbar", role: "toolbar", "aria-label": "Tools" },
      element("div", { class: "search" }, this.#input, this.#found),
      this.#chips,
      element(
        "div",
        { class: "steps", role: "group", "aria-label": "Failures" },
        this.#nth,
        button("↑ ", () => steps.failure(-1), { "aria-label": "↑ p: the failure before" }),
        button("↓ ", () => steps.failure(1), { "aria-label": "↓ n: the next failure" })
      ),
      this.#views
    )
    const keys = ["p", "n"]
    // Mutant `"Stryker was here!"` survives: there are as many keys as buttons
    this.section.querySelectorAll(".steps button").forEach((one, at) => one.append(key(keys[at] ?? "")))
    views.forEach((view, at) => {
      const chosen = button(`${names[view]} `, () => store.look(view), { "aria-pressed": "false" })
      chosen.append(key(String(at + 1)))
      this.#views.append(chosen)
    })
    store.listen((change) => {
      if (change === "scene") this.draw()
      else if (change === "rows") this.#press()
      // Mutant `true` survives: the bar says the same after any other change, or says anew what the search calls for
      else if (change === "selection" || change === "view") this.#say()
      if (change === "scene") this.#searching.renew()
    })
    this.draw()
  }

  /** Puts the cursor into the search. */
  focus(): void {
    this.#input.focus()
    this.#input.select()
  }

  find(query: string): void {
    this.#input.value = query
    this.#searching.start(query)
  }

  get query(): string {
    return this.#input.value
  }

  /** Makes the filters that have something to show. */
  draw(): void {
    const { branches } = this.#store.outline
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["filter"] : undefined
    const chips: Array<HTMLElement> = []
    for (const [name, { has, name: text, sign }] of entries) {
      let many = 0
      for (const branch of branches) if (has(branch)) many++
      if (many === 0 && name !== "all") continue
      const chip = button(sign === "" ? text : `${sign} ${text}`, () => this.#store.choose(name), {
        "data-filter": name
      })
      chip.append(" ", element("em", {}, many.toLocaleString("en-US")))
      chips.push(chip)
    }
    this.#chips.replaceChildren(...chips)
    chips.find((chip) => chip.dataset["filter"] === focused)?.focus()
    this.#press()
    this.#say()
  }

  /** Shows which filter is chosen. */
  #press(): void {
    for (const chip of this.#chips.querySelectorAll("button"))
      chip.setAttribute("aria-pressed", String(chip.dataset["filter"] === this.#store.filter))
  }

  #say(): void {
    const all = this.#store.failures.length
    const nth = this.#steps.nth
    const many = all.toLocaleString("en-US")
    this.#nth.textContent =
      all === 0
        ? "no failures"
        : nth === undefined
          ? `${many} ${all === 1 ? "failure" : "failures"}`
          : `failure ${nth} of ${many}`
    this.#found.textContent = this.#searching.says
    for (const [at, view] of views.entries()) {
      const chosen = this.#views.children[at]
      // Mutant `chosen.setAttribute` survives: each view has a button
      chosen?.setAttribute("aria-pressed", String(this.#store.view === view))
      // Mutant `chosen.toggleAttribute` survives: each view has a button
      chosen?.toggleAttribute("hidden", !this.#store.has(view))
    }
  }
}

// cast: the keys of an object literal
const entries = Object.entries(filters) as ReadonlyArray<[Filter, (typeof filters)[Filter]]>
