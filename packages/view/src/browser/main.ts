/** The script of the page. It reads the recording in the page, or the URL of a run at work, and shows it. */
import { visible } from "../text/Escape.ts"
import { fieldOf, textAt } from "../recording/Fields.ts"
import * as Recording from "../recording/Recording.ts"
import { DetailsPane } from "./detailsPane.ts"
import { button, element } from "./dom.ts"
import { legend } from "./legend.ts"
import { follow, Listening } from "./live.ts"
import { Store } from "./store.ts"
import { summary } from "./summary.ts"
import { Table } from "./table.ts"
import { Timeline } from "./timeline.ts"
import { TranscriptPane } from "./transcriptPane.ts"

const root = document.documentElement

/** Makes the button for the theme. The theme is that of the reader's system until the reader chooses one. */
const theme = (redraw: () => void): HTMLElement => {
  const system = matchMedia("(prefers-color-scheme: dark)")
  let chosen: string | undefined
  const set = () => {
    root.dataset["theme"] = chosen ?? (system.matches ? "dark" : "light")
    redraw()
  }
  system.addEventListener("change", set)
  set()
  return button(
    "Light or dark",
    () => {
      chosen = root.dataset["theme"] === "dark" ? "light" : "dark"
      set()
    },
    { class: "theme" }
  )
}

const mount = (main: HTMLElement, recording: Recording.Recording): Store => {
  const store = new Store(recording)
  const timeline: Timeline = new Timeline(store, () => details.focus())
  const details: DetailsPane = new DetailsPane(store, () => timeline.focus())
  const table = new Table(store, () => details.focus())
  let sums = summary(store.scene)
  store.listen((change) => {
    if (change !== "scene") return
    const next = summary(store.scene)
    sums.replaceWith(next)
    sums = next
  })
  document.querySelector("h1")?.after(theme(() => timeline.redraw()))
  main.replaceChildren(
    sums,
    element(
      "div",
      { class: "columns" },
      element("div", { class: "column" }, timeline.section, legend(), details.section),
      new TranscriptPane(store, () => table.focus()).section
    ),
    table.section
  )
  table.renew()
  timeline.draw()
  unfold()
  return store
}

/**
 * Makes a function that takes the events of a run at work and draws them. The pauses between drawings are at least four times as long as
 * drawing takes.
 */
const watch = (store: Store, listening: Listening, status: HTMLElement) => {
  let isDue = false
  let pause = 100
  const draw = () => {
    isDue = false
    const begun = performance.now()
    store.renew(listening.recording())
    pause = Math.max(100, 4 * (performance.now() - begun))
  }
  return (name: string, data: string) => {
    listening.take(name, data)
    if (listening.said !== undefined) status.textContent = visible(listening.said)
    if (isDue) return
    isDue = true
    setTimeout(draw, pause)
  }
}

/** Unfolds the problems of the recording while the page is printed. */
const unfold = () => {
  let folded: ReadonlyArray<HTMLDetailsElement> = []
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll<HTMLDetailsElement>("details.problems:not([open])")]
    for (const one of folded) one.open = true
  })
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false
  })
}

const start = (): void => {
  const main = document.querySelector("main")
  const written = document.querySelector("#data")?.textContent
  if (main === null || written === undefined || written === null) return
  const data: unknown = JSON.parse(written)
  if (textAt(data, "url") !== undefined) return void live(main, data)
  // cast: `Page.make` has written a recording
  const { events, problems } = data as Recording.Recording
  mount(main, { events, problems })
}

const live = async (main: HTMLElement, data: unknown): Promise<void> => {
  const url = textAt(data, "url") ?? ""
  const listening = new Listening(Recording.start())
  const status = element("p", { class: "status", role: "status" }, "The run is at work.")
  const store = mount(main, listening.recording())
  main.before(status)
  const body = fieldOf(data, "body")
  const end = (text: string) => {
    listening.isConnected = false
    status.textContent = visible(listening.said === undefined ? text : `${listening.said} ${text}`)
    store.renew(listening.recording())
  }
  try {
    await follow(body === undefined ? { url } : { url, body }, watch(store, listening, status))
    end("The stream has ended.")
  } catch (error) {
    end(`The stream broke off: ${error instanceof Error ? error.message : String(error)}`)
  }
}

// the browser first paints the static part of the page, and then this script builds the rest
requestAnimationFrame(() => setTimeout(start))
