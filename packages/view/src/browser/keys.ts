/** The keys of the page, and the dialog that lists them with the signs of the drawing. */
import { button, element } from "./Element.ts"
import { legend } from "./legend.ts"
import type { Store } from "./store.ts"

/** A key with what it does. */
export interface Key {
  readonly keys: ReadonlyArray<string>
  readonly says: string
  readonly act: () => void
}

/** Calls what the pressed key does, unless a field takes the key. */
export const listen = (all: ReadonlyArray<Key>): void => {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const { target } = event
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return
    if (document.querySelector("dialog[open]") !== null) return
    const found = all.find(({ keys }) => keys.includes(event.key))
    if (found === undefined) return
    event.preventDefault()
    found.act()
  })
}

/** The keys that a grid or the inspector takes. */
const within: ReadonlyArray<readonly [string, string]> = [
  ["↑ ↓", "go through the rows"],
  ["→ ←", "unfold and fold a row"],
  ["Space", "fold or unfold a row"],
  ["Enter", "go to the inspector"],
  ["Esc", "come back"]
]

/** Shows the keys, and the signs that occur in the drawing. */
export const help = (all: ReadonlyArray<Key>, store: Store): void => {
  const list = element("dl", { class: "keys" })
  for (const [name, says] of [...all.map(({ keys, says }) => [keys[0] ?? "", says] as const), ...within])
    list.append(element("dt", {}, element("kbd", {}, name)), element("dd", {}, says))
  const dialog = element(
    "dialog",
    { class: "about", "aria-labelledby": "about-title" },
    element("h2", { id: "about-title" }, "Keys and signs"),
    list,
    legend(store.scene),
    button("Close", () => dialog.close())
  )
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
