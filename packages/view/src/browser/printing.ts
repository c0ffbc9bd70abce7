/** What the page shows on paper: the parts of the conversation that failed, and the problems of the recording. */
import { visible } from "../text/Escape.ts"
import { count } from "../text/Words.ts"
import { element } from "./Element.ts"
import type { Store } from "./store.ts"

/** How many failed parts are printed. */
const most = 200

/** Prepares the page for paper, and undoes that afterwards. */
export const printing = (main: HTMLElement, store: Store): void => {
  let added: HTMLElement | undefined
  let folded: ReadonlyArray<HTMLDetailsElement> = []
  addEventListener("beforeprint", () => {
    added?.remove()
    added = failed(store)
    main.append(added)
    folded = [...document.querySelectorAll<HTMLDetailsElement>("details.problems:not([open])")]
    for (const one of folded) one.open = true
  })
  addEventListener("afterprint", () => {
    added?.remove()
    for (const one of folded) one.open = false
  })
}

/** The entries of the conversation in which something was lost. */
const failed = ({ scene: { transcript } }: Store): HTMLElement => {
  const lost = transcript.filter(({ tone }) => tone === "lost")
  const list = element("ol", { class: "chunk" })
  for (const { agent, heading, text } of lost.slice(0, most)) {
    const said = element("pre", { class: "said", dir: "auto" })
    said.textContent = visible(text)
    list.append(
      element("li", { class: "entry lost" }, element("strong", { dir: "auto" }, `${agent}: ${heading}`), said)
    )
  }
  const left = lost.length - most
  return element(
    "section",
    { class: "printed", "aria-label": "Failures" },
    ...(lost.length === 0 ? [] : [element("h2", {}, "Failures")]),
    list,
    ...(left > 0 ? [element("p", {}, `${count(left, "later failure")} not printed here: the page has all.`)] : [])
  )
}
