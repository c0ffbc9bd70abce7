/** Elements, with texts that are never markup. */
import { visible } from "../text/Escape.ts"

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** An element with its attributes and children; texts of a run are made visible. */
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

/** A button that does something. */
export const button = (text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement => {
  const made = element("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

const folded = 700

/** A text of several lines as it is; a long one is folded, and says how long it is. */
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
