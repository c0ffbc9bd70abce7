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
export const button = (text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement => {
  const made = element("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

const folded = 700

/** Shows a text with its lines. A long text is folded, and a button that says its length unfolds it. */
export const longText = (text: string, isWhole = false): HTMLElement => {
  const lines = text.split("\n")
  const isLong = !isWhole && (text.length > folded * 1.3 || lines.length > 16)
  const paragraph = element("pre", { class: "said", dir: "auto" })
  const short = `${lines.slice(0, 12).join("\n").slice(0, folded)}…`
  paragraph.textContent = visible(isLong ? short : text)
  if (!isLong) return paragraph
  const all = button(`Show all ${text.length.toLocaleString("en-US")} characters`, () => {
    const isShown = all.getAttribute("aria-expanded") === "true"
    paragraph.textContent = visible(isShown ? short : text)
    all.setAttribute("aria-expanded", String(!isShown))
    all.textContent = isShown ? `Show all ${text.length.toLocaleString("en-US")} characters` : "Show less"
  })
  all.className = "fold"
  all.setAttribute("aria-expanded", "false")
  return element("div", {}, paragraph, all)
}
