/** Copies texts. A browser that gives a page from a disk no clipboard shows the text to copy instead. */
import { button, element } from "./Element.ts"

/** Copies a text, and shows on the button that it was copied. */
export const copy = async (text: string, from?: EventTarget | null): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    if (from instanceof HTMLElement) confirm(from)
  } catch {
    show(text)
  }
}

/** How long the word "Copied" is shown, in milliseconds. */
const shown = 1500

const confirm = (from: HTMLElement): void => {
  from.dataset["copied"] = "Copied"
  setTimeout(() => delete from.dataset["copied"], shown)
}

const show = (text: string): void => {
  const area = element("textarea", { readonly: true, rows: 12, "aria-label": "The text to copy" })
  area.value = text
  const dialog = element(
    "dialog",
    { class: "copying", "aria-label": "Copy" },
    element("p", {}, "This browser lets the page copy nothing. The text is selected: copy it with Ctrl+C or ⌘C."),
    area,
    button("Close", () => dialog.close())
  )
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  area.select()
}
