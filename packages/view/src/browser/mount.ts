/** Puts the parts of the page together. */
import type { Links as LinkTemplates } from "../recording/Links.ts"
import type { Recording } from "../recording/Recording.ts"
import { ComparisonView } from "./comparing.ts"
import { Conversation } from "./conversation.ts"
import { copy } from "./copying.ts"
import { element } from "./Element.ts"
import { EventList } from "./eventList.ts"
import { header } from "./header.ts"
import { Inspector } from "./inspector.ts"
import { issueOf, testCommand } from "./issue.ts"
import { help, type Key, listen } from "./keys.ts"
import * as Links from "./links.ts"
import { Minimap } from "./minimap.ts"
import { OutlineView } from "./outline.ts"
import { printing } from "./printing.ts"
import { Steps } from "./steps.ts"
import { Store, type View, views } from "./store.ts"
import { sums } from "./sums.ts"
import { Toolbar } from "./toolbar.ts"

/** The page that is shown. */
export interface Mounted {
  readonly store: Store
  /** Whether more events may come. */
  isLive: boolean
}

/** Makes a function that changes between light and dark. The theme is that of the reader's system until the reader chooses one. */
const themed = (redraw: () => void): (() => void) => {
  const root = document.documentElement
  const system = matchMedia("(prefers-color-scheme: dark)")
  let chosen: string | undefined
  const set = () => {
    root.dataset["theme"] = chosen ?? (system.matches ? "dark" : "light")
    redraw()
  }
  system.addEventListener("change", set)
  set()
  return () => {
    chosen = root.dataset["theme"] === "dark" ? "light" : "dark"
    set()
  }
}

/** Where the page is shown, and the title that its maker has chosen. */
interface Target {
  readonly head: HTMLElement
  readonly main: HTMLElement
  readonly title: string | undefined
  /** Where the links of the page lead. */
  readonly links: LinkTemplates
  /** The written test of the run. */
  readonly test: string | undefined
}

/** Shows a recording in the header and in the main part of the page. */
export const mount = (
  { head, links, main, test: written, title }: Target,
  recording: Recording,
  isLive: boolean
): Mounted => {
  const store = new Store(recording)
  const mounted = { store, isLive }
  const steps = new Steps(store)
  const toolbar = new Toolbar(store, steps)
  const minimap = new Minimap(store, steps)
  const outline: OutlineView = new OutlineView(store, () => inspector.focus())
  const events: EventList = new EventList(store, () => inspector.focus())
  const conversation = new Conversation(store)
  const comparison = new ComparisonView(store)
  const shown: Readonly<Record<View, HTMLElement>> = {
    timeline: element("div", { class: "pane" }, minimap.section, outline.section),
    conversation: conversation.section,
    events: events.section,
    comparison: comparison.section
  }
  const focus = () => {
    if (store.view === "timeline") outline.focus()
    else if (store.view === "events") events.focus()
    else shown[store.view].focus()
  }
  const inspector: Inspector = new Inspector(store, focus, links)
  const link = () => Links.linkOf(store, toolbar.query)
  const issue = () => issueOf(store, link())
  const test = { isWritten: written !== undefined, text: () => written ?? testCommand(store.outcome) }
  const goToFailure = () => {
    steps.fatal()
    focus()
  }
  const keys: ReadonlyArray<Key> = [
    { keys: ["."], says: "go to the failure that ended the run", act: goToFailure },
    { keys: ["n"], says: "the next failure", act: () => steps.failure(1) },
    { keys: ["p"], says: "the failure before", act: () => steps.failure(-1) },
    { keys: ["/"], says: "search the events; Enter goes to the next match", act: () => toolbar.focus() },
    { keys: ["z"], says: "fit the time to the selection", act: () => steps.fit() },
    { keys: ["f"], says: "fit the time to its turn", act: () => steps.fitTurn() },
    { keys: ["0"], says: "show the whole time", act: () => store.showAll() },
    { keys: ["+", "="], says: "zoom in", act: () => store.zoom(1.5) },
    { keys: ["-"], says: "zoom out", act: () => store.zoom(1 / 1.5) },
    ...views
      .filter((view) => isLive || store.has(view))
      .map((view, at) => ({
        keys: [String(at + 1)],
        says: `show the ${view}`,
        act: () => {
          store.look(view)
          focus()
        }
      })),
    { keys: ["c"], says: "copy the failure for an issue", act: () => void copy(issue()) },
    {
      keys: ["t"],
      says: test.isWritten ? "copy the run as a test" : "copy the command that writes a test of the run",
      act: () => void copy(test.text())
    },
    { keys: ["l"], says: "copy a link to the selection", act: () => void copy(link()) },
    { keys: ["Escape"], says: "select nothing", act: () => store.select(undefined) },
    { keys: ["?"], says: "show the keys and signs", act: () => help(keys, store) }
  ]
  const setTheme = themed(() => minimap.draw())
  const acts = { links, goToFailure, issue, test, link, keys: () => help(keys, store), theme: setTheme }
  let sum = sums(store.scene)
  const drawHead = () => {
    head.replaceChildren(...header(store, acts, { isLive: mounted.isLive, title }))
    const next = sums(store.scene)
    sum.replaceWith(next)
    sum = next
  }
  main.replaceChildren(
    sum,
    toolbar.section,
    element("div", { class: "body" }, element("div", { class: "left" }, ...Object.values(shown)), inspector.section)
  )
  const look = () => {
    main.dataset["view"] = store.view
    // what scrolls can have the focus, so that keys scroll it
    for (const view of ["conversation", "comparison"] as const) shown[view].tabIndex = store.view === view ? 0 : -1
    for (const view of views) {
      // what is hidden until it is found is not laid out, and the browser's own search finds it
      if (view === store.view) shown[view].removeAttribute("hidden")
      else shown[view].setAttribute("hidden", view === "conversation" ? "until-found" : "")
    }
  }
  store.listen((change) => {
    if (change === "scene") drawHead()
  })
  // listens before the views do, so that a view is visible when it draws itself
  store.listenFirst((change) => {
    if (change === "view") look()
  })
  look()
  drawHead()
  outline.renew()
  minimap.draw()
  listen(keys)
  printing(main, store)
  Links.follow(location.hash, store, toolbar)
  if (store.selected === undefined && store.fatal !== undefined) store.selectEvent(store.fatal, "start")
  Links.keep(store, toolbar)
  document.documentElement.dataset["ready"] = performance.now().toFixed(0)
  return mounted
}
