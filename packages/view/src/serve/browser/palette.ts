/** The palette of the page: Ctrl-K or ⌘K opens a list of all acts, which a few letters narrow. */
import { button, element } from "../../browser/Element.ts"

/** An act of the page, as it can be done now. */
export interface Act {
  readonly name: string
  readonly act: () => void
}

/** How many acts are listed. */
const most = 12

/** Whether each word of a query is in a name. */
const fits = (name: string, query: string): boolean =>
  query
    .toLowerCase()
    .split(/\s/)
    .every((word) => name.toLowerCase().includes(word))

export class Palette {
  readonly root: HTMLDialogElement
  readonly #acts: () => ReadonlyArray<Act>
  readonly #box = element("input", {
    type: "text",
    role: "combobox",
    "aria-label": "Acts",
    "aria-expanded": "true",
    "aria-controls": "acts",
    "aria-autocomplete": "list",
    placeholder: "run, stop, a fault, a run…"
  })
  readonly #list = element("ul", { id: "acts", role: "listbox", "aria-label": "Acts" })
  #found: ReadonlyArray<Act> = []
  #chosen = 0

  /** `acts` gives the acts of now, each time the palette opens. */
  constructor(acts: () => ReadonlyArray<Act>) {
    this.#acts = acts
    this.root = element("dialog", { class: "palette", "aria-label": "Acts" }, this.#box, this.#list)
    this.#box.addEventListener("input", () => this.#find())
    this.#box.addEventListener("keydown", (event) => this.#key(event))
    // a click beside the list closes it
    this.root.addEventListener("click", ({ target }) => {
      if (target === this.root) this.root.close()
    })
    addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      this.show()
    })
  }

  /** The button that opens it, for those who do not know the key. */
  readonly opener = (): HTMLElement =>
    button("Acts", () => this.show(), { title: "Ctrl-K or ⌘K", "aria-keyshortcuts": "Control+K Meta+K" })

  show(): void {
    if (this.root.open) return
    this.#box.value = ""
    this.#find()
    this.root.showModal()
    this.#box.focus()
  }

  #find(): void {
    this.#found = this.#acts()
      .filter(({ name }) => fits(name, this.#box.value))
      .slice(0, most)
    this.#choose(0)
  }

  #choose(index: number): void {
    const many = this.#found.length
    this.#chosen = many === 0 ? 0 : (index + many) % many
    this.#list.replaceChildren(
      ...this.#found.map(({ name }, at) => {
        const item = element(
          "li",
          { id: `act-${at}`, role: "option", "aria-selected": at === this.#chosen ? "true" : "false" },
          name
        )
        item.addEventListener("click", () => this.#do(at))
        return item
      })
    )
    if (many === 0) this.#box.removeAttribute("aria-activedescendant")
    else this.#box.setAttribute("aria-activedescendant", `act-${this.#chosen}`)
  }

  #do(index: number): void {
    this.root.close()
    this.#found[index]?.act()
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined && event.key !== "Enter") return
    event.preventDefault()
    // the page has an act of its own for some keys
    event.stopPropagation()
    if (step === undefined) this.#do(this.#chosen)
    else this.#choose(this.#chosen + step)
  }
}
