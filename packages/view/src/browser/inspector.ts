/** The inspector beside the outline: the error, the arguments, the decisions, the context and the events of the selected branch. */
import * as Details from "../scene/Details.ts"
import { asText, at, fieldOf, numberAt, textAt } from "../recording/Fields.ts"
import { messageOf, tagOf } from "../recording/ErrorWords.ts"
import { editorUrl, type Links } from "../recording/Links.ts"
import type { Recorded } from "../recording/Recorded.ts"
import type { Branch } from "../scene/Outline.ts"
import { clip, duration, moment } from "../text/Words.ts"
import { dateOf, timeOf } from "./clock.ts"
import { button, element } from "./Element.ts"
import { longText } from "./dom.ts"
import { copying, link } from "./header.ts"
import type { Store } from "./store.ts"

const tabs = ["Error", "Result", "Arguments", "Decisions", "Context", "Raw"] as const
type Tab = (typeof tabs)[number]

/** The most decisions that are shown. */
const most = 200
/** The most events that are shown as they are written. */
const written = 50
/** How many entries of the conversation before the selection are its context. */
const near = 4

export class Inspector {
  readonly section = element("aside", { class: "inspector", "aria-label": "Inspector" })
  readonly #store: Store
  readonly #leave: () => void
  readonly #links: Links
  #tab: Tab | undefined
  /** Whether the panel may be scrolled: to ask the panel would lay out the page. */
  #isScrolled = false
  readonly #panel = element("div", { class: "panel", role: "tabpanel", tabindex: 0, "aria-labelledby": "tab-chosen" })
  readonly #list = element("div", { class: "tabs", role: "tablist", "aria-label": "About the selection" })

  constructor(store: Store, leave: () => void, links: Links) {
    this.#store = store
    this.#leave = leave
    this.#links = links
    this.section.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return
      event.preventDefault()
      event.stopPropagation()
      this.close()
    })
    this.#list.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
      if (by === 0) return
      event.preventDefault()
      this.#turn(by)
    })
    this.#panel.addEventListener("scroll", () => (this.#isScrolled = true))
    store.listen((change) => {
      if (change === "scene" || change === "selection") this.draw()
      if (change === "selection" && store.by !== "start")
        this.section.classList.toggle("is-shown", store.branch !== undefined)
    })
    this.draw()
  }

  focus(): void {
    this.section.classList.add("is-shown")
    const chosen = this.#list.querySelector<HTMLElement>('[aria-selected="true"]')
    ;(chosen ?? this.#panel).focus()
  }

  close(): void {
    this.section.classList.remove("is-shown")
    this.#leave()
  }

  draw(): void {
    const { branch } = this.#store
    if (branch === undefined) {
      this.section.replaceChildren(
        element("h2", {}, "Nothing is selected"),
        element("p", { class: "quiet" }, "Choose a row of the outline, or press n for the next failure.")
      )
      return
    }
    const panels = this.#panels(branch)
    const present = tabs.filter((tab) => panels.has(tab))
    const chosen = this.#tab !== undefined && present.includes(this.#tab) ? this.#tab : present[0]
    this.#list.replaceChildren(...present.map((tab) => this.#handle(tab, tab === chosen)))
    this.#panel.replaceChildren(...(panels.get(chosen ?? "Raw")?.() ?? []))
    if (this.#isScrolled) this.#panel.scrollTop = 0
    this.#isScrolled = false
    const badge = branch.badges.find(({ tone }) => tone !== "asked")
    this.section.replaceChildren(
      element(
        "div",
        { class: "title" },
        element("h2", { dir: "auto" }, this.#nameOf(branch)),
        ...(badge === undefined ? [] : [element("span", { class: `badge ${badge.tone}` }, badge.text)]),
        button("Close", () => this.close(), { class: "close" })
      ),
      element("p", { class: "quiet", dir: "auto" }, this.#pathOf(branch)),
      this.#list,
      this.#panel
    )
  }

  #handle(tab: Tab, isChosen: boolean): HTMLElement {
    const handle = button(
      tab,
      () => {
        this.#tab = tab
        this.draw()
        // Mutant `this.#list.querySelector<HTMLElement>('[aria-selected="true"]').focus` survives: one tab is always chosen
        this.#list.querySelector<HTMLElement>('[aria-selected="true"]')?.focus()
      },
      { role: "tab", "aria-selected": String(isChosen), tabindex: isChosen ? 0 : -1 }
    )
    if (isChosen) handle.id = "tab-chosen"
    return handle
  }

  #turn(by: number): void {
    const all = [...this.#list.children]
    const at = all.findIndex((one) => one.getAttribute("aria-selected") === "true")
    const next = all[(at + by + all.length) % all.length]
    // Mutant `true` survives: a key comes from a tab, so there is one
    if (next instanceof HTMLElement) next.click()
  }

  /** The name of a branch, with that of the call if it is a part of one. */
  #nameOf({ kind, name, parent }: Branch): string {
    const owner = kind === "part" ? this.#store.outline.branches[parent ?? -1] : undefined
    return owner === undefined ? name : `${owner.name}: ${name}`
  }

  #pathOf(branch: Branch): string {
    const path: Array<string> = []
    for (let next = branch.parent; next !== undefined; next = this.#store.outline.branches[next]?.parent) {
      const owner = this.#store.outline.branches[next]
      // Mutant `true` for `owner !== undefined` survives: each parent is a branch
      if (owner !== undefined && owner.kind !== "group") path.unshift(owner.name)
    }
    return path.length === 0 ? "run" : path.join(" › ")
  }

  /** The events of a branch, or those of its first call if it is a group. */
  #eventsOf(branch: Branch): ReadonlyArray<number> {
    const { outline, scene } = this.#store
    // Mutant `+1` survives: each group has a call
    const source = branch.kind === "group" ? (outline.branches[branch.children[0] ?? -1] ?? branch) : branch
    // a part has one span; the decision after it has the same call, and the next number
    const indexes = new Set<number>()
    for (const id of source.items) {
      const item = scene.items[id]
      if (item === undefined) continue
      for (const index of item.events) indexes.add(index)
      indexes.add(item.subject)
    }
    if (source.kind === "part") this.#decisionsAfter(source, indexes)
    return [...indexes].toSorted((one, other) => one - other)
  }

  /** Adds the marks of the call that stand at the end of a part. */
  #decisionsAfter(part: Branch, indexes: Set<number>): void {
    const { outline, scene } = this.#store
    for (const id of outline.branches[part.parent ?? -1]?.items ?? []) {
      const item = scene.items[id]
      // Mutant `item.shape` survives: the items of a branch are in its scene
      if (item?.shape === "mark" && item.at === part.to) indexes.add(item.subject)
    }
  }

  /** The tabs that have something to show, each with what makes its content. */
  #panels(branch: Branch): ReadonlyMap<Tab, () => ReadonlyArray<Node>> {
    const { events, scene } = this.#store
    const indexes = this.#eventsOf(branch)
    const own = indexes.flatMap((index) => events[index] ?? [])
    const owner = branch.kind === "part" ? this.#store.outline.branches[branch.parent ?? -1] : undefined
    const call = owner === undefined ? own : this.#eventsOf(owner).flatMap((index) => events[index] ?? [])
    const main = scene.items[branch.main ?? -1]
    const details = main === undefined ? undefined : Details.make(scene, events, main)
    const texts = details?.texts ?? []
    const spent = details?.facts.find(([name]) => name === "Spent")?.[1]
    const failed = own.findLast((event) => fieldOf(event, "error") !== undefined)
    const panels = new Map<Tab, () => ReadonlyArray<Node>>()
    const isArgument = ([name]: readonly [string, string]) =>
      // Mutant `/(Arguments|Before|After|Input|What the fixer was given)/` survives: no name has these words later
      /^(Arguments|Before|After|Input|What the fixer was given)/.test(name)
    const results = texts.filter(
      (text) => !isArgument(text) && !text[0].startsWith("Error") && !/^(Why|Reason)/.test(text[0])
    )
    const fatal = this.#store.outcome?.fatal
    const why =
      fatal !== undefined && indexes.includes(fatal.index)
        ? [element("p", {}, `It ended the run: ${fatal.reason}.`)]
        : []
    if (failed !== undefined)
      panels.set("Error", () => [
        ...this.#error(failed),
        ...why,
        this.#facts(branch, own, call, spent),
        ...results.map(titled)
      ])
    else panels.set("Result", () => [this.#facts(branch, own, call, spent), ...results.map(titled)])
    const given = [...argumentsOf(call), ...texts.filter(isArgument)]
    if (given.length > 0) panels.set("Arguments", () => unique(given).map(titled))
    const decisions = indexes.filter((index) => deciding.has(events[index]?.type ?? "")).slice(0, most)
    if (decisions.length > 0) panels.set("Decisions", () => decisions.flatMap((index) => this.#decision(index)))
    panels.set("Context", () => this.#context())
    panels.set("Raw", () => this.#raw(indexes))
    return panels
  }

  #error(event: Recorded): ReadonlyArray<Node> {
    const error = event["error"]
    const message = messageOf(error)
    return [heading(tagOf(error), `${tagOf(error)}: ${message}`), longText(message === "" ? "no message" : message)]
  }

  #facts(
    branch: Branch,
    own: ReadonlyArray<Recorded>,
    call: ReadonlyArray<Recorded>,
    spent: string | undefined
  ): HTMLElement {
    const { scene } = this.#store
    const [event] = own
    const [effects] = own.flatMap((one) => textAt(one, "sideEffects") ?? [])
    const [site] = call.flatMap((one) => textAt(one, "definedAt") ?? [])
    const url = editorUrl(this.#links, site)
    const attempt = own.map((one) => numberAt(one, "attempt")).findLast((nth) => nth !== undefined)
    const facts: ReadonlyArray<readonly [string, string | undefined]> = [
      [
        "Began",
        Number.isFinite(branch.from) ? `${timeOf(branch.from)} UTC (+${moment(branch.from - scene.from)})` : undefined
      ],
      ["Lasted", duration(branch.to - branch.from)],
      ["For a person", branch.waited > 0 ? duration(branch.waited) : undefined],
      ["Attempt", attempt === undefined ? undefined : String(attempt)],
      ["Side effects", effects],
      ["Model", textAt(event, "model")],
      ["Spent", spent],
      ["Run", event?.runId]
    ]
    const list = element("dl", { class: "facts" })
    for (const [name, text] of facts)
      if (text !== undefined && text !== "") list.append(element("dt", {}, name), element("dd", { dir: "auto" }, text))
    if (site !== undefined)
      list.append(element("dt", {}, "Defined"), element("dd", {}, url === undefined ? site : link(url, site)))
    if (event !== undefined) list.title = dateOf(event.at)
    return list
  }

  #decision(index: number): ReadonlyArray<Node> {
    const { events, scene } = this.#store
    const item = scene.items[scene.itemOf[index] ?? -1]
    const details = item === undefined ? undefined : Details.make(scene, events, item)
    const list = element("dl", { class: "facts" })
    for (const [name, text] of details?.facts ?? [])
      if (decisive.has(name)) list.append(element("dt", {}, name), element("dd", { dir: "auto" }, text))
    // Mutants `details.title`, `"Stryker was here!"` survive: an event of an item has an item
    return [heading(details?.title ?? ""), list]
  }

  /** What was said just before the selection. */
  #context(): ReadonlyArray<Node> {
    const { scene, selectedEvent = 0 } = this.#store
    const { transcript } = scene
    const next = transcript.findIndex(({ event }) => event >= selectedEvent)
    const end = next < 0 ? transcript.length : next
    const shown = transcript.slice(Math.max(0, end - near), end + 1)
    const show = button("Show in the conversation", () => this.#store.look("conversation"), { class: "copy" })
    return [
      ...shown.flatMap(({ heading: name, text }) => [
        element("h3", { dir: "auto" }, name),
        ...(text === "" ? [] : [longText(clip(text, 2000))])
      ]),
      show
    ]
  }

  #raw(indexes: ReadonlyArray<number>): ReadonlyArray<Node> {
    const { events } = this.#store
    const shown = indexes.slice(0, written)
    const lines = () => shown.map((index) => JSON.stringify(events[index])).join("\n")
    return [
      heading(
        `Events ${shown.length < indexes.length ? `(the first ${shown.length} of ${indexes.length})` : ""}`,
        lines
      ),
      ...shown.map((index) => longText(`${index}: ${JSON.stringify(events[index], undefined, 2)}`))
    ]
  }
}

const deciding: ReadonlySet<string> = new Set([
  "verdict",
  "arguments-coerced",
  "approval-requested",
  "approval-decided",
  "approval-expired",
  "fix-start",
  "fix-end",
  "fix-failed",
  "compacted",
  "output-coerced",
  "output-rejected",
  "guardrail",
  "budget-exceeded"
])

const decisive: ReadonlySet<string> = new Set([
  "Outcome",
  "Verdict",
  "Rung",
  "Attempt",
  "Waits",
  "Hint",
  "Left",
  "Begins"
])

const argumentsOf = (own: ReadonlyArray<Recorded>): ReadonlyArray<readonly [string, string]> => {
  const given = own
    .map((event) => event["arguments"] ?? at(event, "request", "arguments"))
    .find((one) => one !== undefined)
  return given === undefined ? [] : [["Arguments", asText(given)]]
}

const unique = (texts: ReadonlyArray<readonly [string, string]>): ReadonlyArray<readonly [string, string]> => [
  ...new Map(texts.map((text) => [text[0] === "Arguments" ? "Arguments" : text.join(), text])).values()
]

const titled = ([name, text]: readonly [string, string]): HTMLElement =>
  element("div", {}, heading(name, text), longText(text))

const heading = (name: string, text?: string | (() => string)): HTMLElement =>
  element(
    "h3",
    { dir: "auto" },
    name,
    ...(text === undefined ? [] : [copying("copy", typeof text === "string" ? () => text : text)])
  )
