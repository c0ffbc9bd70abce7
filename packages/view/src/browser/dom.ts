/** Makes drawings and long texts of the page. */
import { visible } from "../text/Escape.ts"
import { button, element } from "./Element.ts"

/** Makes an SVG that is stretched over its box. Readers of the page get its content from elsewhere. */
export const svg = (name: string): SVGSVGElement => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  made.setAttribute("class", `k-figure ${name}`)
  made.setAttribute("aria-hidden", "true")
  made.setAttribute("preserveAspectRatio", "none")
  return made
}

const most = 700

/**
 * Shows a text with its lines. A long text is cut off by its box, and a button that says its length unfolds it: the whole text is in the
 * page, so that the browser's own search finds it.
 */
export const longText = (text: string): HTMLElement => {
  const paragraph = element("pre", { class: "said", dir: "auto" })
  paragraph.textContent = visible(text)
  if (text.length <= most * 1.3 && text.split("\n").length <= 16) return paragraph
  const length = `Show all ${text.length.toLocaleString("en-US")} characters`
  const all = button(
    length,
    () => {
      const isCut = paragraph.classList.toggle("is-cut")
      all.setAttribute("aria-expanded", String(!isCut))
      all.textContent = isCut ? length : "Show less"
    },
    { class: "unfold", "aria-expanded": "false" }
  )
  paragraph.classList.add("is-cut")
  return element("div", {}, paragraph, all)
}
