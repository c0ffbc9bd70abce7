/** Makes HTML elements. Texts are set as text, so they never become markup. */
import { visible } from "../text/Escape.ts"

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Makes an element with attributes and children. Invisible characters in texts are replaced by visible signs. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : visible(String(value)))
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)))
  return made
}

/** Makes a button that calls a function. */
export const button = (
  text: string,
  act: (event: MouseEvent) => void,
  attributes: Attributes = {}
): HTMLButtonElement => {
  const made = element("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

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
