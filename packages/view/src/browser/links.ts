/** The state of the page in its address: the selected event, the visible time, the view and the search. */
import { type Store, type View, views } from "./store.ts"
import type { Toolbar } from "./toolbar.ts"

/** Writes the state as the fragment of an address: `#e=132&z=58.9-60.4&v=events&q=refund`. Times are seconds since the start. */
const fragmentOf = (store: Store, query: string): string => {
  const { axis, isWhole, scene, selectedEvent, view, window } = store
  const seconds = (drawn: number) => String(Number(((axis.toTime(drawn) - scene.from) / 1000).toFixed(3)))
  const zoom = isWhole
    ? undefined
    : [Math.max(0, window.start), Math.min(axis.length, window.end)].map(seconds).join("-")
  const parts = [
    selectedEvent === undefined ? undefined : `e=${selectedEvent}`,
    zoom === undefined ? undefined : `z=${zoom}`,
    view === "timeline" ? undefined : `v=${view}`,
    query.trim() === "" ? undefined : `q=${encodeURIComponent(query.trim().toWellFormed())}`
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? "" : `#${parts.join("&")}`
}

/** Sets the state that a fragment names. A part that cannot be read is left out. */
export const follow = (fragment: string, store: Store, toolbar: Toolbar): void => {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""))
  const event = Number(parts.get("e") ?? NaN)
  const view = views.find((one: View) => one === parts.get("v"))
  if (view !== undefined) store.look(view)
  const query = parts.get("q")
  if (query !== null) toolbar.find(query)
  if (Number.isInteger(event) && event >= 0 && event < store.events.length) store.selectEvent(event, "start")
  // Mutant `"Stryker was here!"` survives: it is no stretch of time either
  const [, from, to] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(parts.get("z") ?? "") ?? []
  // Mutant `true` for `from !== undefined && to !== undefined` survives: no number is greater than one that is absent
  if (from !== undefined && to !== undefined && Number(to) > Number(from)) {
    const drawn = (seconds: string) => store.axis.toDrawn(store.scene.from + 1000 * Number(seconds))
    store.show({ start: drawn(from), end: drawn(to) })
  }
}

/** How long the page waits before it writes its state into the address, in milliseconds: browsers limit how often a page may. */
const pause = 150

/** Keeps the address of the page in step with its state. */
export const keep = (store: Store, toolbar: Toolbar): void => {
  let isDue = false
  let written = location.hash
  const write = () => {
    isDue = false
    const fragment = fragmentOf(store, toolbar.query)
    if (fragment === written) return
    written = fragment
    // Mutant `"Stryker was here!"` #1 survives: no browser reads this text
    history.replaceState(null, "", fragment === "" ? `${location.pathname}${location.search}` : fragment)
  }
  store.listen(() => {
    if (isDue) return
    isDue = true
    setTimeout(write, pause)
  })
  addEventListener("hashchange", () => {
    if (location.hash === written) return
    written = location.hash
    follow(location.hash, store, toolbar)
  })
}

/** The address of the page with its state now. */
export const linkOf = (store: Store, query: string): string =>
  `${location.href.split("#", 1)[0] ?? ""}${fragmentOf(store, query)}`
